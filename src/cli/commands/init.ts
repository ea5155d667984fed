// `orcrawl init`: a new project with a crawler, its test and what TypeScript needs, that works offline at once.
// Promise: asks one question at most, and none without a terminal or with --yes.
import { Option, type Command } from 'commander';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { countOf } from '../../observe/figures.js';
import { EXIT } from '../exit-codes.js';
import { createProject, TEMPLATES, type Template } from '../init/project.js';
import { quoted, say, shown } from '../terminal.js';

const NAMES = Object.keys(TEMPLATES) as Template[];
const [USUAL] = NAMES as [Template];

const EXAMPLES = `
Examples:
  $ orcrawl init my-crawler                      asks which template
  $ orcrawl init my-crawler --template batch     a list of URLs, one record each
  $ orcrawl init --yes                           in this folder, with the usual template
`;

interface InitFlags {
  readonly template?: Template;
  readonly yes?: boolean;
}

export function addInitCommand(program: Command, onExit: (code: number) => void): void {
  const about = NAMES.map((name) => `${name}: ${TEMPLATES[name]}`).join('; ');
  program
    .command('init')
    .summary('create a project')
    .description(
      'Writes a project with a crawler and a test of it. npm test and npm start work there without a network.',
    )
    .argument('[DIR]', 'folder of the project', '.')
    .addOption(new Option('-t, --template <NAME>', `what to start from; ${about}`).choices(NAMES))
    .option('-y, --yes', `ask no questions: use --template ${USUAL} unless another is given`)
    .addHelpText('after', EXAMPLES)
    .action(async (folder: string, flags: InitFlags) => onExit(await init(folder, flags)));
}

async function init(folder: string, { template, yes }: InitFlags): Promise<number> {
  const mayAsk = yes !== true && process.stdin.isTTY && process.stdout.isTTY;
  const chosen = template ?? (mayAsk ? await ask() : USUAL);
  const { written, keptScripts } = await createProject(folder, chosen);
  say(`${countOf(written.length, 'file')} in ${shown(path.resolve(folder))}, from the template ${chosen}:`);
  say(`  ${[...written].sort().join('  ')}`);
  if (keptScripts.length > 0)
    say(`Your package.json keeps its own ${keptScripts.join(', ')}; compare it with README.md.`);
  say('\nNext:');
  if (path.resolve(folder) !== process.cwd()) say(`  cd ${quoted(folder)}`);
  say('  npm install');
  say('  npm test         the crawler against a synthetic web, offline');
  say('  npm start        a crawl of that web');
  return EXIT.done;
}

async function ask(): Promise<Template> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    NAMES.forEach((name, at) => say(`  ${at + 1}  ${name.padEnd(11)} ${TEMPLATES[name]}`));
    const answer = (await terminal.question(`Which template? [1] `)).trim();
    const byNumber = NAMES[Number(answer || 1) - 1];
    const found = byNumber ?? NAMES.find((name) => name === answer);
    if (found !== undefined) return found;
    say(`${shown(answer)} is not one of them: using ${USUAL}.`);
    return USUAL;
  } finally {
    terminal.close();
  }
}
