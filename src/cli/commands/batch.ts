// `orcrawl batch`: a list of URLs in, one result each out. A Unix filter: results on standard output, the rest on standard error.
// Promise: everything is checked before the first request.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CACHE_MODES, type CacheMode } from '../../store/cache/cache.js';
import { wholeNumber } from '../arguments.js';
import { addBrowserFlags, type BrowserFlags, crawlerOptionsOf, pageConfigOf } from '../browser-flags.js';
import { formatHelp, formatsOf, isPageFormat } from '../../store/formats.js';
import { DEFAULT_FIELDS, parseFields } from '../batch/items.js';
import type { BatchFormat } from '../batch/output.js';
import { inputOf } from '../batch/urls.js';
import { EXIT, exitCodeOf, UsageError } from '../exit-codes.js';
import { complain, errorLine, programName, quoted } from '../terminal.js';

interface BatchFlags extends Omit<BrowserFlags, 'screenshot' | 'pdf'> {
  readonly stream?: boolean;
  readonly format?: BatchFormat;
  readonly out?: string;
  readonly rawCsv?: boolean;
  readonly fields?: string;
  readonly concurrency?: number;
  readonly memoryThreshold?: number;
  readonly maxSessions?: number;
  readonly delay?: readonly [number, number];
  readonly retries?: number;
  readonly timeout?: number;
  readonly userAgent?: string;
  readonly cache?: CacheMode;
  readonly cacheTtl?: number;
  readonly validate?: boolean;
  readonly respectRobots?: boolean;
  readonly monitor: 'detailed' | 'aggregated' | 'none';
  readonly resume?: string;
}

const EXAMPLES = `
Examples:
  $ cat urls.txt | orcrawl batch - --stream | jq .url
  $ orcrawl batch urls.txt --format csv --fields url,statusCode,title --out pages.csv
  $ orcrawl batch urls.txt --delay 1-3 --retries 2 --cache enabled --cache-ttl 3600
  $ orcrawl batch urls.txt --resume pages.jsonl        the first time, and again after Ctrl-C
  $ orcrawl batch urls.txt --format fit --out pages/     main content as markdown, one file per page

Results are written in the order of the list, each as soon as those before it are out; with --stream as they
complete, in flat memory.
Exit codes: 0 done, 1 wrong usage or settings, 2 some failed, 3 the disk is full, 130 interrupted.
`;

export const CACHE_OPTION = new Option('--cache <MODE>', 'use of the page cache in the storage folder').choices(
  CACHE_MODES,
);

export function addBatchCommand(program: Command, onExit: (code: number) => void): void {
  const command = program
    .command('batch')
    .summary('fetch a list of URLs')
    .description('Fetches every URL of a list and writes one result each.')
    .argument('[FILE|-|URL...]', 'files of URLs, URLs, or - for standard input (the default when it is no terminal)')
    .option('--stream', 'write results as they complete')
    .addOption(
      new Option('-f, --format <F>', `of the results; ${formatHelp('batch')}`)
        .choices(formatsOf('batch'))
        .default('jsonl'),
    )
    .option(
      '-o, --out <FILE|DIR>',
      `where results go; ${formatsOf('batch').filter(isPageFormat).join(', ')} into a folder: one file per page`,
    )
    .option('--raw-csv', 'with --format csv: leave cells as they are that a spreadsheet would run as a formula')
    .option('--fields <A,B>', 'which fields of a result are written')
    .option('-c, --concurrency <N>', 'most URLs at once (default: 20)', wholeNumber(1, 10_000))
    .option('--memory-threshold <P>', 'percent of memory above which nothing new starts (default: 90)', percent)
    .option('--max-sessions <N>', 'most URLs in work at once (default: --concurrency)', wholeNumber(1, 10_000))
    .option('--delay <SECS>', 'between requests to a domain, such as 2 or 1-3 (default: none)', secondRange)
    .option('--retries <N>', 'further tries after a transient failure (default: 1)', wholeNumber(0))
    .option('--timeout <SECS>', 'longest one attempt may take (default: 60)', seconds)
    .option('--user-agent <UA>', 'the User-Agent header')
    .addOption(CACHE_OPTION)
    .option('--cache-ttl <SECS>', 'how long a cached page is used (default: for ever)', seconds)
    .option('--validate', 'follow HTTP’s caching rules, and ask whether a stale page is still good')
    .option('--respect-robots', 'ask for nothing that robots.txt forbids')
    .addOption(
      new Option('--monitor <M>', 'progress on standard error')
        .choices(['detailed', 'aggregated', 'none'])
        .default('aggregated'),
    )
    .option(
      '--resume <FILE>',
      'append to this file of earlier JSON lines and skip what succeeded there; the last line of a URL counts',
    );
  addBrowserFlags(command)
    .addHelpText('after', EXAMPLES)
    .action(async (args: string[], flags: BatchFlags) => onExit(await batch(args, flags)));
}

async function batch(args: readonly string[], flags: BatchFlags): Promise<number> {
  const pageConfig = pageConfigOf(flags);
  const { format = 'jsonl', resume } = flags;
  if (args.length === 0 && process.stdin.isTTY) {
    throw new UsageError('give a file of URLs, URLs, or - to read them from standard input');
  }
  if (resume !== undefined && format !== 'jsonl') throw new UsageError('--resume goes with --format jsonl alone');
  if (resume !== undefined && flags.out !== undefined) throw new UsageError('--resume is the output: leave out --out');
  const fields = flags.fields === undefined ? DEFAULT_FIELDS : parseFields(flags.fields);
  if (resume !== undefined && !(fields.includes('url') && fields.includes('success'))) {
    throw new UsageError('--resume needs the fields url and success: add them to --fields');
  }
  const inputs = (args.length === 0 ? ['-'] : args).map(inputOf);
  const { runBatch } = await import('../batch/run.js');
  const finish = resume ?? '<FILE>';
  try {
    const code = await runBatch({
      inputs,
      stream: flags.stream ?? false,
      format,
      fields,
      out: flags.out,
      rawCsv: flags.rawCsv,
      resume,
      permits: flags.maxSessions ?? flags.concurrency ?? 20,
      maxConnections: flags.concurrency,
      memoryThresholdPercent: flags.memoryThreshold,
      delay: flags.delay,
      monitor: flags.monitor,
      config: {
        maxRetries: flags.retries,
        pageTimeoutMs: flags.timeout === undefined ? undefined : flags.timeout * 1000,
        userAgent: flags.userAgent,
        cacheMode: flags.cache,
        cacheTtlSecs: flags.cacheTtl,
        validate: flags.validate,
        respectRobots: flags.respectRobots,
        ...pageConfig,
      },
      crawler: crawlerOptionsOf(flags),
    });
    if (code === EXIT.interrupted) {
      complain(
        `Interrupted: what was done is kept. ${programName()} batch … --resume ${quoted(finish)} finishes the rest.`,
      );
    }
    return code;
  } catch (error) {
    if (exitCodeOf(error) !== EXIT.paused) throw error;
    complain(errorLine(error));
    complain(`Paused: what was written is safe. Then: ${programName()} batch … --resume ${quoted(finish)}`);
    return EXIT.paused;
  }
}

function percent(text: string): number {
  const value = Number(text.trim().replace(/%$/, '') || NaN);
  if (value > 0 && value <= 100) return value;
  throw new InvalidArgumentError('Expected a number above 0 and up to 100.');
}

export function seconds(text: string): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError('Expected seconds, 0 or more.');
}

function secondRange(text: string): readonly [number, number] {
  const [, low, high] = /^(\d+(?:\.\d+)?)(?:-(\d+(?:\.\d+)?))?$/.exec(text.trim()) ?? [];
  const range = [Number(low), Number(high ?? low)] as const;
  if (low !== undefined && range[1] >= range[0] && range[1] <= 60) return range;
  throw new InvalidArgumentError('Expected seconds such as 2, or a range such as 1-3, up to 60.');
}
