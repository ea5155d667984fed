// The flags of commands that work on a pods configuration, the same for all of them; they override the file.
// Promise: values are typed here; readPodsConfig validates them together with the file, all at once.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { PodsConfigError, type PodsFlags } from '../pods/config/config.js';
import { positiveNumber, wholeNumber } from './arguments.js';
import { EXIT } from './exit-codes.js';
import { complain, shown } from './terminal.js';

export interface ConfigFlags extends PodsFlags {
  /** `--config`, if the command has it. */
  readonly config?: string;
}

/** Adds every flag of a pods configuration except `--config`. */
export function addPodsFlags(command: Command): Command {
  return addStoreFlags(command.optionsGroup('Stores:'))
    .optionsGroup('What to crawl:')
    .option('--seed-file <FILE>', 'URLs or domains, one per line, # for comments')
    .option('--exclude-file <FILE>', 'domains to skip')
    .option('--email <ADDRESS>', 'contact address, sent in the User-Agent')
    .option('--seeded-urls-only', 'do not follow links')
    .option('--allow-private', 'allow private network addresses')
    .optionsGroup('How far:')
    .option('--max-pages <N>', 'stop after this many pages', wholeNumber(1))
    .option('--max-duration <SECONDS>', 'stop after this time', positiveNumber)
    .option('--resume', 'continue the crawl in the stores')
    .option('--fresh', 'empty the stores; old items are moved aside, pages stay')
    .optionsGroup('Folders and logs:')
    .option('--data-dir <DIRS>', 'folders for pages; repeat, or separate by commas', folders)
    .option('--log-dir <DIR>', 'folder for logs and the report')
    .option('--log-level <LEVEL>', 'DEBUG, INFO, WARNING or ERROR')
    .optionsGroup('Processes:')
    .option('--override-fetchers-per-pod <N>', 'fetcher processes per pod', wholeNumber(1))
    .option('--override-parsers-per-pod <N>', 'parser processes per pod', wholeNumber(0))
    .option('--fetcher-workers <N>', 'concurrent fetches per fetcher', wholeNumber(1))
    .option('--parser-workers <N>', 'concurrent pages per parser', wholeNumber(1))
    .optionsGroup('One Redis, without a file:')
    .option('--redis-host <HOST>', 'its host')
    .option('--redis-port <PORT>', 'its port', wholeNumber(1, 65_535))
    .option('--redis-db <N>', 'database of the stores', wholeNumber(0))
    .option('--num-fetcher-processes <N>', 'fetchers, with --redis-host', wholeNumber(1))
    .option('--num-parser-processes <N>', 'parsers, with --redis-host', wholeNumber(0))
    .optionsGroup('Options:');
}

/** The flags that choose stores, for commands that crawl nothing. */
export function addStoreFlags(command: Command): Command {
  return command
    .option('--override-num-pods <N>', 'use the first N pods of the list', wholeNumber(1))
    .option('--pods <LIST>', 'the pods of this machine, such as 0-3,5')
    .addOption(new Option('--redis-password <TEXT>', 'password of the stores').env('ORCRAWL_REDIS_PASSWORD'));
}

/** Collects folders: repeated, or separated by commas. */
export function folders(value: string, before: readonly string[] = []): string[] {
  const given = value.split(',').map((folder) => folder.trim());
  if (given.includes('')) throw new InvalidArgumentError('Expected folders separated by commas.');
  return [...before, ...given];
}

/** Prints each problem on its own line; rethrows other errors. */
export function reportConfigProblems(error: unknown): number {
  if (!(error instanceof PodsConfigError)) throw error;
  const { problems } = error;
  complain(
    `error: invalid configuration, ${problems.length === 1 ? '1 problem' : `${problems.length} problems`} (OPTION_INVALID)`,
  );
  for (const problem of problems) complain(`  ${shown(problem, 500)}`);
  return EXIT.misuse;
}
