// The samples: TypeScript as a user of Crawlee writes it, which imports from 'crawlee'. Here `npm run typecheck` checks them
// against orcrawl/crawlee (the path of that name in tsconfig.json); this file checks the same text against Crawlee's own
// types, and compiles it so that it runs under both.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const FOLDER = join(HERE, 'samples');

const sampleFiles = (): string[] =>
  readdirSync(FOLDER)
    .sort()
    .map((name) => join(FOLDER, name));

let compiled: string[] | undefined;

/** The samples as CommonJS, in a folder that is removed when this process ends. */
export function compiledSamples(): readonly string[] {
  if (compiled) return compiled;
  const folder = mkdtempSync(join(tmpdir(), 'parity-samples-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const compilerOptions = { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022, esModuleInterop: true };
  mkdirSync(join(folder, 'samples'));
  compile(join(HERE, 'site.ts'), join(folder, 'site.js'));
  compiled = sampleFiles().map((file) => compile(file, join(folder, 'samples', basename(file).replace(/ts$/, 'cjs'))));
  return compiled;

  function compile(from: string, to: string): string {
    writeFileSync(to, ts.transpileModule(readFileSync(from, 'utf8'), { compilerOptions }).outputText);
    return to;
  }
}

/** What Crawlee's own types say against the samples: an empty list if nothing. */
export function typeErrors(crawlee: string, parts: readonly string[]): string[] {
  const folder = dirname(crawlee);
  const entry = join(folder, 'crawlee.d.ts');
  writeFileSync(entry, parts.map((part) => `export * from '@crawlee/${part}';`).join('\n'));
  const root = join(HERE, '..', '..');
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) => readFileSync(path, 'utf8')) as {
    config: { compilerOptions: Record<string, unknown> };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const program = ts.createProgram(sampleFiles(), {
    ...options,
    // Its enums are constant ones, which a module compiled by itself must not use.
    verbatimModuleSyntax: false,
    isolatedModules: false,
    typeRoots: [join(folder, 'node_modules', '@types')],
    paths: { crawlee: [entry] },
  });
  return ts.getPreEmitDiagnostics(program).map(({ file, start = 0, messageText }) => {
    const line = file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
    return `${basename(file?.fileName ?? '')}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
}
