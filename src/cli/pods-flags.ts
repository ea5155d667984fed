// The flags of commands that work on a pods configuration, the same for all of them; they win over the file.
// Promise: what arrives here is typed; what it means is checked with the file by readPodsConfig, all at once.
import { type Command, Option } from 'commander';
import { PodsConfigError, type PodsFlags } from '../pods/config/config.js';
import { positiveNumber, wholeNumber } from './arguments.js';
import { EXIT } from './exit-codes.js';
import { complain, shown } from './terminal.js';

export interface ConfigFlags extends PodsFlags {
  /** `--config`, where the command has it. */
  readonly config?: string;
}

/** Adds every flag of a pods configuration but `--config`. */
export function addPodsFlags(command: Command): Command {
  const collect = (value: string, before: readonly string[] = []): string[] => [...before, value];
  return command
    .option('--seed-file <FILE>', 'URLs or domains, one a line, # comments')
    .option('--email <ADDRESS>', 'where sites can reach you: it is in the User-Agent')
    .option('--data-dir <DIR>', 'folder for pages; repeat for several', collect)
    .option('--exclude-file <FILE>', 'domains never to visit')
    .option('--fetcher-workers <N>', 'concurrent fetches of a fetcher', wholeNumber(1))
    .option('--parser-workers <N>', 'pages a parser works on at once', wholeNumber(1))
    .option('--max-pages <N>', 'stop after so many pages', wholeNumber(1))
    .option('--max-duration <SECONDS>', 'stop after so long', positiveNumber)
    .option('--log-level <LEVEL>', 'DEBUG, INFO, WARNING or ERROR')
    .option('--resume', 'continue from what the stores hold')
    .option('--seeded-urls-only', 'follow no links')
    .option('--override-num-pods <N>', 'use the first N pods of the list', wholeNumber(1))
    .option('--override-fetchers-per-pod <N>', 'fetcher processes per pod', wholeNumber(1))
    .option('--override-parsers-per-pod <N>', 'parser processes per pod', wholeNumber(0))
    .option('--pods <LIST>', 'the pods that this machine runs, such as 0-3,5')
    .option('--fresh', 'wipe what the stores hold; items of the earlier crawl are set aside, pages stay')
    .option('--allow-private', 'allow addresses of private networks')
    .option('--redis-host <HOST>', 'one Redis, without a file')
    .option('--redis-port <PORT>', 'its port', wholeNumber(1, 65_535))
    .option('--redis-db <N>', 'database of the stores', wholeNumber(0))
    .addOption(new Option('--redis-password <TEXT>', 'password of the stores').env('ORCRAWL_REDIS_PASSWORD'))
    .option('--num-fetcher-processes <N>', 'fetchers, with --redis-host', wholeNumber(1))
    .option('--num-parser-processes <N>', 'parsers, with --redis-host', wholeNumber(0));
}

/** Prints each finding on a line of its own; rethrows what is no configuration error. */
export function reportConfigProblems(error: unknown): number {
  if (!(error instanceof PodsConfigError)) throw error;
  const { problems } = error;
  complain(
    `error: ${problems.length === 1 ? 'one thing is' : `${problems.length} things are`} wrong in the configuration (OPTION_INVALID)`,
  );
  for (const problem of problems) complain(`  ${shown(problem, 500)}`);
  return EXIT.misuse;
}
