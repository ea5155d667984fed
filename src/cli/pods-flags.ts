// The flags of commands that work on a pods configuration, the same for all of them; they override the file.
// Promise: values are typed here; readPodsConfig validates them together with the file, all at once.
import { type Command, Option } from 'commander';
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
  const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];
  return command
    .option('--seed-file <FILE>', 'URLs or domains, one per line, # for comments')
    .option('--email <ADDRESS>', 'contact address, sent in the User-Agent')
    .option('--data-dir <DIR>', 'folder for pages; repeat for several', collect)
    .option('--exclude-file <FILE>', 'domains to skip')
    .option('--fetcher-workers <N>', 'concurrent fetches per fetcher', wholeNumber(1))
    .option('--parser-workers <N>', 'concurrent pages per parser', wholeNumber(1))
    .option('--max-pages <N>', 'stop after this many pages', wholeNumber(1))
    .option('--max-duration <SECONDS>', 'stop after this time', positiveNumber)
    .option('--log-level <LEVEL>', 'DEBUG, INFO, WARNING or ERROR')
    .option('--resume', 'continue the crawl in the stores')
    .option('--seeded-urls-only', 'do not follow links')
    .option('--override-num-pods <N>', 'use the first N pods of the list', wholeNumber(1))
    .option('--override-fetchers-per-pod <N>', 'fetcher processes per pod', wholeNumber(1))
    .option('--override-parsers-per-pod <N>', 'parser processes per pod', wholeNumber(0))
    .option('--pods <LIST>', 'the pods to run on this machine, such as 0-3,5')
    .option('--fresh', 'empty the stores; old items are moved aside, pages stay')
    .option('--allow-private', 'allow private network addresses')
    .option('--redis-host <HOST>', 'use one Redis, without a file')
    .option('--redis-port <PORT>', 'its port', wholeNumber(1, 65_535))
    .option('--redis-db <N>', 'database of the stores', wholeNumber(0))
    .addOption(new Option('--redis-password <TEXT>', 'password of the stores').env('ORCRAWL_REDIS_PASSWORD'))
    .option('--num-fetcher-processes <N>', 'fetchers, with --redis-host', wholeNumber(1))
    .option('--num-parser-processes <N>', 'parsers, with --redis-host', wholeNumber(0));
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
