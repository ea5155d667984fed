// `orcrawl migrate`: moves a project from Crawlee by changing its imports, and says what differs, with file and line.
// Promise: writes nothing without --write.
import type { Command } from 'commander';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { countOf } from '../../observe/figures.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { type Migration, planMigration, writeMigration } from '../migrate/project.js';
import { TARGET } from '../migrate/source.js';
import { programName, quoted, say, shown } from '../terminal.js';
import { version } from '../version.js';

const EXAMPLES = `
Examples:
  $ orcrawl migrate                   what would change in this folder
  $ orcrawl migrate my-crawler        in another one
  $ orcrawl migrate --write           change it
`;

export function addMigrateCommand(program: Command, onExit: (code: number) => void): void {
  program
    .command('migrate')
    .summary('move a project from Crawlee')
    .description(
      `Changes imports of crawlee and @crawlee/* to ${TARGET} in JavaScript and TypeScript files and in package.json, and reports with file and line what is not supported or works differently. Without --write it only reports.`,
    )
    .argument('[DIR]', 'folder of the project', '.')
    .option('-w, --write', 'change the files')
    .addHelpText('after', EXAMPLES)
    .action(async (folder: string, flags: { write?: boolean }) => onExit(await migrate(folder, flags.write === true)));
}

async function migrate(folder: string, isWriting: boolean): Promise<number> {
  const found = await stat(folder).catch(() => undefined);
  if (!found?.isDirectory()) throw new UsageError(`${shown(folder)} is not a folder: name the folder of a project`);
  const migration = await planMigration(folder, `^${version()}`);
  const { files, skipped, read } = migration;
  for (const { file, why } of skipped) say(`${shown(file)}: not read (${why})`);
  const changing = files.filter(({ imports }) => imports.length > 0);
  if (files.length === 0) {
    say(`No import of crawlee in ${countOf(read, 'file')} of ${shown(path.resolve(folder))}: nothing to do.`);
    return EXIT.done;
  }
  for (const { file, imports } of changing) {
    for (const { line, from } of imports)
      say(`${shown(file)}:${line}  ${from} → ${file.endsWith('.json') ? 'orcrawl' : TARGET}`);
  }
  report(migration, 'unsupported', '\nNot supported:');
  report(migration, 'changed', '\nWorks differently:');
  if (isWriting) await writeMigration(folder, changing);
  say(
    `\n${countOf(changing.length, 'file')} ${isWriting ? 'changed' : 'to change'}. What differs: docs/from-crawlee.md`,
  );
  if (isWriting) say('Next: npm install');
  else say(`To change them: ${programName()} migrate ${folder === '.' ? '' : `${quoted(folder)} `}--write`);
  return EXIT.done;
}

function report({ files }: Migration, kind: 'unsupported' | 'changed', heading: string): void {
  const lines = files.flatMap(({ file, findings }) =>
    findings
      .filter((one) => one.kind === kind)
      .map(({ line, name, message }) => `  ${shown(file)}:${line}  ${name}: ${message}`),
  );
  if (lines.length > 0) say([heading, ...lines].join('\n'));
}
