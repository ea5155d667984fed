// `orcrawl archive export` and `orcrawl compact`: what is made of, and dropped from, the stored pages of a crawl.
// Promise: a figure of what was done on standard output; nothing is dropped that was not asked for.
import path from 'node:path';
import type { Command } from 'commander';
import { countOf } from '../../observe/figures.js';
import { duration, wholeNumber } from '../arguments.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { folders } from '../pods-flags.js';
import { complain, quoted, say, shown } from '../terminal.js';
import { version } from '../version.js';

interface ExportFlags {
  readonly dataDir: readonly string[];
  readonly wacz: string;
  readonly title?: string;
  readonly json?: boolean;
}

interface CompactFlags {
  readonly dataDir: readonly string[];
  readonly keep?: number;
  readonly olderThan?: number;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const DIRECTORIES = 'data directories of the crawl; repeat, or separate by commas';

const EXPORT_EXAMPLE = '\nExample:\n  $ orcrawl archive export --data-dir ./data --wacz crawl.wacz\n';

const COMPACT_HELP = `
Examples:
  $ orcrawl compact --data-dir ./data --keep 5
  $ orcrawl compact --data-dir ./data --older-than 90d --dry-run

The newest capture of a page always stays, and so does the stored response that a kept capture refers to. A crawl may run
meanwhile: segments that it still writes are left alone. Name all data directories of the crawl in one call.
`;

export function addArchiveCommand(program: Command, onExit: (code: number) => void): void {
  const archive = program
    .command('archive')
    .summary('export stored pages for other tools')
    .description('Exports the pages stored by a crawl on pods for other tools.')
    .addHelpText('after', EXPORT_EXAMPLE);
  archive
    .command('export')
    .description('Writes the stored responses of a crawl as one WACZ file, which replay tools open (store_raw_html).')
    .requiredOption('-d, --data-dir <DIRS>', DIRECTORIES, folders)
    .requiredOption('--wacz <FILE>', 'the file to write')
    .option('--title <TEXT>', 'the title of the collection')
    .option('--json', 'print the figures as JSON')
    .addHelpText('after', EXPORT_EXAMPLE)
    .action(async (flags: ExportFlags) => onExit(await exportArchive(flags)));
}

export function addCompactCommand(program: Command, onExit: (code: number) => void): void {
  program
    .command('compact')
    .summary('drop old captures of stored pages')
    .description('Drops captures of pages stored by a crawl on pods, by their number or age, and frees their space.')
    .requiredOption('-d, --data-dir <DIRS>', DIRECTORIES, folders)
    .option('--keep <N>', 'keep this many captures of each page', wholeNumber(1))
    .option('--older-than <AGE>', 'drop captures older than this, such as 90d, 36h or 2y', duration)
    .option('--dry-run', 'only report what would be dropped')
    .option('--json', 'print the figures as JSON')
    .addHelpText('after', COMPACT_HELP)
    .action(async (flags: CompactFlags) => onExit(await compact(flags)));
}

async function exportArchive(flags: ExportFlags): Promise<number> {
  const { exportWacz } = await import('../../store/content/export/wacz.js');
  const to = path.resolve(flags.wacz);
  const report = await exportWacz(flags.dataDir, to, {
    title: flags.title,
    software: `orcrawl/${version()}`,
    warn: (message) => complain(`warning: ${shown(message, 2_000)}`),
  });
  if (flags.json) say(JSON.stringify(report));
  else {
    say(
      `${quoted(flags.wacz)}: ${countOf(report.pages, 'page')}, ${countOf(report.captures, 'capture')}, ` +
        `${countOf(report.segments, 'segment')}, ${megabytes(report.bytes)}`,
    );
  }
  return EXIT.done;
}

async function compact(flags: CompactFlags): Promise<number> {
  if (flags.keep === undefined && flags.olderThan === undefined) {
    throw new UsageError('say what to drop: --keep N or --older-than AGE');
  }
  const { compactContent } = await import('../../store/content/compact/compact.js');
  const report = await compactContent(flags.dataDir, {
    keep: flags.keep,
    beforeMs: flags.olderThan === undefined ? undefined : Date.now() - flags.olderThan,
    dryRun: flags.dryRun,
    warn: (message) => complain(`warning: ${shown(message, 2_000)}`),
  });
  if (flags.json) say(JSON.stringify(report));
  else {
    const { dropped, captures, pages, rewritten, segments, bytesBefore, bytesAfter } = report;
    say(
      `${flags.dryRun ? 'Would drop' : 'Dropped'} ${countOf(dropped, 'capture')} of ${countOf(captures, 'capture')} ` +
        `of ${countOf(pages, 'page')}.`,
    );
    if (!flags.dryRun) {
      say(
        `Rewrote ${countOf(rewritten, 'segment')} of ${countOf(segments, 'segment')}: ` +
          `${megabytes(bytesBefore)} before, ${megabytes(bytesAfter)} now.`,
      );
    }
  }
  return EXIT.done;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e8 ? 2 : 0)} MB`;
}
