// Writes docs/api-report/: every public export with its signature, so that a change of the surface shows in a diff.
// `npm run api-report` updates it; `--check` (a test does) fails when it differs from dist/.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readSurface } from './api-surface.mjs';

const FOLDER = 'docs/api-report';

function page(title, intro, declarations) {
  const blocks = declarations.map(({ signature }) => `\`\`\`ts\n${signature}\n\`\`\`\n`);
  return [`# ${title}\n`, `${intro} Made by \`npm run api-report\`: do not edit.\n`, ...blocks].join('\n');
}

export function report(surface = readSurface()) {
  const pages = surface.entries.map(({ entry, exports }) => [
    `${entry.replace('/', '-')}.md`,
    page(`API of \`${entry}\``, `${exports.length} exports.`, exports),
  ]);
  const others = surface.referred.filter(({ isValue }) => !isValue);
  const intro = 'Types that exports refer to and that cannot be imported by name.';
  return Object.fromEntries([...pages, ['referred.md', page('Types behind the API', intro, others)]]);
}

/** The pages that differ from what dist/ says. */
export function outdated(pages = report()) {
  const stored = (name) => {
    try {
      return readFileSync(`${FOLDER}/${name}`, 'utf8');
    } catch {
      return undefined;
    }
  };
  return Object.keys(pages).filter((name) => stored(name) !== pages[name]);
}

if (process.argv[1]?.endsWith('api-report.mjs')) {
  const pages = report();
  const names = outdated(pages);
  if (process.argv.includes('--check')) {
    if (names.length > 0) {
      console.error(`The public API changed: run npm run build && npm run api-report, and commit ${names.join(', ')}.`);
      process.exitCode = 1;
    }
  } else {
    mkdirSync(FOLDER, { recursive: true });
    for (const [name, text] of Object.entries(pages)) writeFileSync(`${FOLDER}/${name}`, text);
    console.log(names.length === 0 ? 'The report is up to date.' : `Updated ${names.join(', ')}.`);
  }
}
