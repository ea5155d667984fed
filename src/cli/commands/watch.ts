// `orcrawl watch`: visits sites again and again within a budget, and prints a JSON line per change.
// Promise: everything is checked before the first request; a watch that was killed goes on where it was.
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { PRIVATE_FOLDER } from '../../base/private-files.js';
import type { WatchOptions } from '../../crawl/watch/watch.js';
import { requestsPerHour } from '../../crawl/watch/budget.js';
import { EnqueueStrategy } from '../../request/scope.js';
import { parsePattern } from '../../request/pattern.js';
import { patterns, positiveNumber, seconds, seedUrl, wholeNumber } from '../arguments.js';
import { configurationFor, defaultFolder } from '../crawl/folder.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { complain, quoted } from '../terminal.js';

interface WatchFlags {
  readonly budget: number;
  readonly out?: string;
  readonly webhook?: string;
  readonly maxPages?: number;
  readonly depth?: number;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly strategy?: EnqueueStrategy;
  readonly importance?: string;
  readonly diff?: boolean;
  readonly feed?: readonly string[];
  readonly hints: boolean;
  readonly delay?: number;
  readonly ignoreRobots?: boolean;
  readonly userAgent?: string;
  readonly for?: number;
  readonly quiet?: boolean;
}

const EXAMPLES = `
Examples:
  $ orcrawl watch example.com --budget 500/h
  $ orcrawl watch https://shop.example/lamps --depth 1 --budget 2/min --diff | jq .change
  $ orcrawl watch docs.example.com --budget 10000/day --webhook https://me.example/changed

Each change is one JSON line: url, change (new, changed or removed), at, lastSeen. The lines are also stored, each exactly
once, in DIR/datasets/changes. Run the same command again to go on after Ctrl-C or a crash.
`;

/** \`500/h\`, \`2/min\`, \`10000/day\`: requests per hour. */
export function budget(text: string): number {
  const perHour = requestsPerHour(text);
  if (perHour !== undefined) return perHour;
  throw new InvalidArgumentError('Expected requests per time, such as 500/h, 2/min or 10000/day.');
}

function collected(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

export function addWatchCommand(program: Command, onExit: (code: number) => void): void {
  program
    .command('watch')
    .summary('visit sites again and again, and tell what changed')
    .description('Finds the pages of the given sites, then visits each as often as it pays within the budget.')
    .argument('<URL...>', 'where to start; a bare domain gets https://')
    .requiredOption('-b, --budget <N/UNIT>', 'requests to spend, such as 500/h, 2/min or 10000/day', budget)
    .option('--for <SECS>', 'stop after this long', positiveNumber)
    .optionsGroup('Output:')
    .option('-o, --out <DIR>', "the watch's folder (default: ./orcrawl-out/watch-<host>)")
    .option('--webhook <URL>', 'also POST each change to this URL, and retry until it is accepted')
    .option('--diff', 'also show what changed, line by line')
    .option('-q, --quiet', 'print no JSON lines, only errors')
    .optionsGroup('Which pages:')
    .option('-n, --max-pages <N>', 'watch at most this many pages (default: 100,000)', wholeNumber(1))
    .option('-d, --depth <N>', 'follow links this many steps from the start; 0 follows none', wholeNumber(0))
    .option('-i, --include <PATTERN>', 'follow only links that match (may be repeated)', patterns)
    .option('-x, --exclude <PATTERN>', 'never follow links that match (may be repeated)', patterns)
    .addOption(
      new Option('-s, --strategy <S>', 'which links to follow (default: same-hostname; all with --include)').choices(
        Object.values(EnqueueStrategy),
      ),
    )
    .option(
      '--importance <HOW>',
      'which pages matter most: none, depth, inlinks, or a module whose export importance({ url, depth, inlinks }) says it (default: none, all pages alike)',
    )
    .optionsGroup('Hints of what changed:')
    .option('--feed <URL>', 'also read this feed or sitemap for what changed (may be repeated)', collected)
    .option('--no-hints', 'read no sitemaps and feeds for what changed')
    .optionsGroup('Pace and politeness:')
    .option('--delay <SECS>', 'delay between requests to a host (default: 0.5)', seconds)
    .option('--ignore-robots', 'do not read robots.txt')
    .option('--user-agent <UA>', 'the User-Agent header')
    .optionsGroup('Options:')
    .addHelpText('after', EXAMPLES)
    .action(async (args: string[], flags: WatchFlags) => onExit(await watch(args, flags)));
}

async function importanceOf(how: string | undefined): Promise<WatchOptions['importance']> {
  if (how === undefined || how === 'none' || how === 'depth' || how === 'inlinks') return how;
  const file = path.resolve(how);
  if (!existsSync(file)) {
    throw new UsageError(`--importance ${quoted(how)} must be none, depth, inlinks or a file: there is no such file`);
  }
  return (await import('../../crawl/watch/importance-module.js')).loadImportance(file);
}

async function watch(args: readonly string[], flags: WatchFlags): Promise<number> {
  const seeds = args.map(seedUrl);
  const { dir, base } = path.parse(defaultFolder(seeds));
  const folder = flags.out ?? path.join(dir, `watch-${base}`);
  if (flags.webhook !== undefined && !/^https?:\/\//.test(flags.webhook)) {
    throw new UsageError(`--webhook ${quoted(flags.webhook)} must be an http or https URL`);
  }
  const importance = await importanceOf(flags.importance);
  await mkdir(folder, PRIVATE_FOLDER);
  const { runWatch } = await import('../watch/run.js');
  const included = (flags.include ?? []).map(parsePattern);
  await runWatch({
    seeds,
    folder,
    config: configurationFor(path.resolve(folder), 'resume'),
    visitsPerHour: flags.budget,
    webhook: flags.webhook,
    forSecs: flags.for,
    quiet: flags.quiet,
    diffs: flags.diff,
    maxPages: flags.maxPages,
    maxDepth: flags.depth,
    importance,
    hints: flags.hints && (flags.feed?.map(seedUrl) ?? true),
    links: {
      ...(flags.strategy === undefined ? {} : { strategy: flags.strategy }),
      globs: included.filter((pattern) => typeof pattern === 'string'),
      regexps: included.filter((pattern) => typeof pattern !== 'string'),
      exclude: (flags.exclude ?? []).map(parsePattern),
    },
    crawler: {
      sameDomainDelaySecs: flags.delay ?? 0.5,
      respectRobotsTxtFile: !flags.ignoreRobots,
      paceBy: 'host',
      ...(flags.userAgent === undefined ? {} : { userAgent: flags.userAgent }),
    },
  });
  if (!flags.quiet) complain(`Stopped. Run the same command to go on watching; the changes are in ${quoted(folder)}.`);
  return EXIT.done;
}
