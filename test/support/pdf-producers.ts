// Programs that make PDF files of known documents, for the test and for `npm run measure -- documents`.
// Promise: a program that is not installed is told before it is asked to make anything.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asFlatOdt, asGroff, asHtml, asLatex, HTML_STYLES, type SourceDocument, sourceDocument } from './pdf-corpus.js';

/** A PDF file and what it was made from. */
export interface Made {
  readonly producer: string;
  readonly name: string;
  readonly source: SourceDocument;
  readonly file: string;
}

export interface Producer {
  readonly name: string;
  /** How many files a measurement makes. */
  readonly count: number;
  /** What is missing here, or null. */
  missing(): string | null;
  make(folder: string, count: number): Made[];
}

function lacks(command: string, ...options: string[]): boolean {
  return spawnSync(command, options, { stdio: 'ignore', timeout: 60_000 }).status !== 0;
}

/** The program may be there without its writer, and then converts nothing and says so in no way. */
function lacksWriter(): boolean {
  const { stdout, status } = spawnSync('sh', ['-c', 'command -v soffice'], { encoding: 'utf8' });
  return status !== 0 || !existsSync(join(dirname(realpathSync(stdout.trim())), 'libswlo.so'));
}

const QUIET = { stdio: 'pipe' as const, maxBuffer: 1 << 28 };

function convertAll(folder: string, count: number): Made[] {
  const made = Array.from({ length: count }, (_, at): Made => {
    const seed = 100 + at;
    const source = sourceDocument(seed);
    const name = `libreoffice-${seed}`;
    writeFileSync(join(folder, `${name}.fodt`), asFlatOdt(source, seed % 3 === 2));
    return { producer: 'LibreOffice', name, source, file: join(folder, `${name}.pdf`) };
  });
  const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`;
  const files = made.map(({ name }) => `${name}.fodt`);
  execFileSync('soffice', [profile, '--headless', '--convert-to', 'pdf', '--outdir', folder, ...files], {
    ...QUIET,
    cwd: folder,
    timeout: 600_000,
  });
  return made;
}

const LATEX_FORMS: readonly (readonly [options: string, isBooktabs: boolean])[] = [
  ['11pt', false],
  ['10pt,twocolumn', false],
  ['12pt', true],
  ['10pt', true],
];

function typesetAll(folder: string, count: number): Made[] {
  return Array.from({ length: count }, (_, at) => {
    const seed = 200 + at;
    const source = sourceDocument(seed);
    const name = `latex-${seed}`;
    const [options, isBooktabs] = LATEX_FORMS[seed % LATEX_FORMS.length]!;
    writeFileSync(join(folder, `${name}.tex`), asLatex(source, options, isBooktabs));
    execFileSync('pdflatex', ['-interaction=batchmode', `${name}.tex`], { ...QUIET, cwd: folder, timeout: 120_000 });
    const title = `${name} (${options}${isBooktabs ? ', booktabs' : ''})`;
    return { producer: 'LaTeX', name: title, source, file: join(folder, `${name}.pdf`) };
  });
}

function formatAll(folder: string, count: number): Made[] {
  return Array.from({ length: count }, (_, at) => {
    const seed = 300 + at;
    const source = sourceDocument(seed);
    const name = `groff-${seed}`;
    const file = join(folder, `${name}.pdf`);
    const input = asGroff(source, seed % 3 === 2);
    writeFileSync(file, execFileSync('groff', ['-t', '-ms', '-k', '-Tpdf'], { ...QUIET, input, timeout: 120_000 }));
    return { producer: 'groff', name, source, file };
  });
}

function renderAll(folder: string, count: number): Made[] {
  const styles = Object.entries(HTML_STYLES);
  return Array.from({ length: count }, (_, at) => {
    const seed = 400 + at;
    const source = sourceDocument(seed);
    const [style, css] = styles[at % styles.length]!;
    const name = `weasyprint-${style}-${seed}`;
    const file = join(folder, `${name}.pdf`);
    writeFileSync(join(folder, `${name}.html`), asHtml(source, css));
    execFileSync('weasyprint', [join(folder, `${name}.html`), file], { ...QUIET, timeout: 120_000 });
    return { producer: 'WeasyPrint', name, source, file };
  });
}

/** All but the browser, which needs no files of its own. */
export const PRODUCERS: readonly Producer[] = [
  {
    name: 'LibreOffice',
    count: 10,
    missing: () => (lacksWriter() ? 'soffice with its writer (libreoffice-writer-nogui)' : null),
    make: convertAll,
  },
  {
    name: 'LaTeX',
    count: 8,
    missing: () =>
      lacks('kpsewhich', 'lmodern.sty') || lacks('kpsewhich', 'booktabs.sty') || lacks('pdflatex', '--version')
        ? 'pdflatex with lmodern and booktabs (texlive-latex-recommended, lmodern)'
        : null,
    make: typesetAll,
  },
  {
    name: 'groff',
    count: 6,
    missing: () => (lacks('gropdf', '--version') ? 'groff with its PDF device (groff)' : null),
    make: formatAll,
  },
  {
    name: 'WeasyPrint',
    count: 5,
    missing: () => (lacks('weasyprint', '--version') ? 'weasyprint' : null),
    make: renderAll,
  },
];
