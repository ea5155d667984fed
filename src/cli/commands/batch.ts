// `orcrawl batch`: a list of URLs in, one result per URL out. A Unix filter: only results on standard output.
// Promise: everything is checked before the first request.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { wholeNumber } from '../arguments.js';
import { formatHelp, formatsOf, isPageFormat } from '../../store/formats.js';
import { DEFAULT_FIELDS, EXTRACT_FIELDS, parseFields } from '../batch/items.js';
import type { BatchFormat } from '../batch/output.js';
import { inputOf } from '../batch/urls.js';
import { addDashboardFlags, type DashboardFlags } from '../dashboard.js';
import { EXIT, exitCodeOf, UsageError } from '../exit-codes.js';
import type { RunMemory } from '../../index.js';
import { columnsOf } from '../flags/extract.js';
import { type RunFlags, runConfigOf, webCrawlerOptionsOf } from '../flags/page.js';
import { proxiesOf } from '../flags/proxies.js';
import { checkSelectors } from '../flags/selectors.js';
import { addPageFlags } from '../flags/table.js';
import { complain, errorLine, programName, quoted } from '../terminal.js';

interface BatchFlags extends RunFlags, DashboardFlags {
  readonly stream?: boolean;
  readonly format?: BatchFormat;
  readonly out?: string;
  readonly rawCsv?: boolean;
  readonly fields?: string;
  readonly concurrency?: number;
  readonly processes?: number;
  readonly memoryThreshold?: number;
  readonly maxSessions?: number;
  readonly delay?: readonly [number, number];
  readonly monitor: 'detailed' | 'aggregated' | 'none';
  readonly resume?: string;
  readonly duplicates?: 'keep' | 'mark' | 'skip';
  readonly remember?: string | true;
}

const EXAMPLES = `
Examples:
  $ cat urls.txt | orcrawl batch - --stream | jq .url
  $ orcrawl batch urls.txt --format csv --fields url,statusCode,title --out pages.csv
  $ orcrawl batch urls.txt --delay 1-3 --retries 2 --cache enabled --cache-ttl 3600
  $ orcrawl batch urls.txt --resume pages.jsonl        the first time, and again after Ctrl-C
  $ orcrawl batch urls.txt --format fit --out pages/     main content as markdown, one file per page
  $ orcrawl batch urls.txt --schema product.json --format csv --fields url,extracted.price --out prices.csv
  $ orcrawl batch urls.txt --duplicates skip --out pages.jsonl   one of several pages that say nearly the same
  $ orcrawl batch urls.txt --remember --fields url,change,diff   what changed since the last time
  $ orcrawl batch urls.txt --processes 4 -c 100 --stream   on four cores, 100 URLs at once in all

Results are written in the order of the list, each as soon as those before it are out; with --stream as they
complete, in constant memory.
Exit codes: 0 done, 1 invalid usage or settings, 2 some failed or were empty, 3 the disk is full, 130 interrupted.
`;

export function addBatchCommand(program: Command, onExit: (code: number) => void): void {
  const command = program
    .command('batch')
    .summary('fetch a list of URLs')
    .description('Fetches every URL in a list and writes one result per URL.')
    .argument('[FILE|-|URL...]', 'files of URLs, URLs, or - for standard input (the default unless it is a terminal)');
  addDashboardFlags(command);
  addPageFlags(command, 'batch', {
    output: [
      new Option('-f, --format <F>', `output format; ${formatHelp('batch')}`)
        .choices(formatsOf('batch'))
        .default('jsonl'),
      new Option(
        '-o, --out <FILE|DIR>',
        `where results go; ${formatsOf('batch').filter(isPageFormat).join(', ')} into a folder (DIR/, or a name without an extension): one file per page, named by its path, with an index`,
      ),
      new Option('--stream', 'write results as they complete'),
      new Option('--fields <A,B>', 'fields to write'),
      new Option('--raw-csv', 'with --format csv: do not escape cells that a spreadsheet would run as a formula'),
      new Option(
        '--duplicates <WHAT>',
        'pages that nearly repeat one before them: mark (each names that one in duplicateOf), skip (not written); default: keep',
      ).choices(['keep', 'mark', 'skip']),
      new Option(
        '--remember [NAME]',
        'remember the pages in ./storage, and say in the field change what became of each: new, same, changed, removed',
      ),
      new Option(
        '--resume <FILE>',
        'append to this file of JSON lines and skip URLs that succeeded in it; the last line per URL counts',
      ),
      new Option('--monitor <M>', 'progress on standard error')
        .choices(['detailed', 'aggregated', 'none'])
        .default('aggregated'),
      new Option('-q, --quiet', 'show only errors: --monitor none').implies({ monitor: 'none' }),
    ],
    pace: [
      new Option('-c, --concurrency <N>', 'URLs at once (default: 20)').argParser(wholeNumber(1, 10_000)),
      new Option('--processes <N>', 'spread the visits over processes, for several cores (default: 1)').argParser(
        wholeNumber(1, 256),
      ),
      new Option('--delay <SECS>', 'delay between requests to a domain, such as 2 or 1-3 (default: none)').argParser(
        secondRange,
      ),
      new Option('--memory-threshold <P>', 'start nothing new above this percent of memory (default: 90)').argParser(
        percent,
      ),
      new Option('--max-sessions <N>', 'URLs in progress at once (default: --concurrency)').argParser(
        wholeNumber(1, 10_000),
      ),
    ],
  })
    .addHelpText('after', EXAMPLES)
    .action(async (args: string[], flags: BatchFlags) => onExit(await batch(args, flags)));
}

async function batch(args: readonly string[], flags: BatchFlags): Promise<number> {
  const config = runConfigOf(flags);
  const { format = 'jsonl', resume } = flags;
  if (args.length === 0 && process.stdin.isTTY) {
    throw new UsageError('give a file of URLs, URLs, or - to read them from standard input');
  }
  if (flags.rawCsv && format !== 'csv') throw new UsageError('--raw-csv has no effect without --format csv');
  if (flags.fields !== undefined && isPageFormat(format)) {
    throw new UsageError(`--fields has no effect with --format ${format}: remove it, or use jsonl, json or csv`);
  }
  if (resume !== undefined && format !== 'jsonl') throw new UsageError('--resume needs --format jsonl');
  if (resume !== undefined && flags.out !== undefined)
    throw new UsageError('--resume is the output file: remove --out');
  const { duplicates = 'keep' } = flags;
  if (resume !== undefined && duplicates !== 'keep') {
    throw new UsageError('--duplicates compares the pages of one run, --resume continues another: remove one of them');
  }
  if (duplicates === 'mark' && isPageFormat(format)) {
    throw new UsageError(`--duplicates mark has no effect with --format ${format}: use skip, or jsonl, json or csv`);
  }
  if (flags.remember !== undefined && isPageFormat(format)) {
    throw new UsageError(`--remember has no effect with --format ${format}: use jsonl, json or csv`);
  }
  if (config.extract && isPageFormat(format)) {
    throw new UsageError(`--schema gives data, not pages: use --format jsonl, json or csv, not ${format}`);
  }
  const columns = columnsOf(config.extract);
  const ofFormat = config.extract ? EXTRACT_FIELDS : DEFAULT_FIELDS;
  const usual = [
    ...ofFormat,
    ...(duplicates === 'mark' ? ['duplicateOf'] : []),
    ...(flags.remember === undefined ? [] : ['change']),
  ];
  const fields =
    flags.fields !== undefined
      ? parseFields(flags.fields, columns)
      : format === 'csv' && columns.length > 0
        ? [...usual.filter((name) => name !== 'extracted'), ...columns]
        : usual;
  if (resume !== undefined && !(fields.includes('url') && fields.includes('success'))) {
    throw new UsageError('--resume needs the fields url and success: add them to --fields');
  }
  const { processes = 1, session, userDataDir } = flags;
  const single = session === undefined ? userDataDir !== undefined && '--user-data-dir' : '--session';
  if (processes > 1 && flags.remember !== undefined) {
    throw new UsageError('--remember works in one process: remove --processes');
  }
  if (flags.remember === undefined && fields.includes('diff')) {
    throw new UsageError('the field diff needs --remember');
  }
  if (processes > 1 && single) throw new UsageError(`${single} is for one browser: remove --processes`);
  await checkSelectors(flags);
  const inputs = (args.length === 0 ? ['-'] : args).map(inputOf);
  const settings = {
    inputs,
    stream: flags.stream ?? false,
    format,
    fields,
    out: flags.out,
    rawCsv: flags.rawCsv,
    resume,
    permits: flags.maxSessions ?? flags.concurrency ?? 20,
    processes,
    maxConnections: flags.concurrency,
    memoryThresholdPercent: flags.memoryThreshold,
    delay: flags.delay,
    duplicates,
    remember: memoryOf(flags.remember, fields),
    monitor: flags.monitor,
    config,
    crawler: webCrawlerOptionsOf(flags),
    header: flags.header,
    proxyFor: proxiesOf(flags),
    screenshot: flags.screenshot,
    pdf: flags.pdf,
  };
  const { runBatch } = await import('../batch/run.js');
  // Lines that were written to a file tell what is done; of other outputs a next run can begin such a file.
  const finish = quoted(resume ?? (format === 'jsonl' && fields.includes('success') ? flags.out : undefined) ?? 'FILE');
  try {
    const code = await runBatch({ ...settings, dashboard: flags });
    if (code === EXIT.interrupted) {
      complain(`Interrupted: finished results are kept. To continue: ${programName()} batch … --resume ${finish}`);
    }
    return code;
  } catch (error) {
    if (exitCodeOf(error) !== EXIT.paused) throw error;
    complain(errorLine(error));
    complain(`Paused: what was written is safe. Then: ${programName()} batch … --resume ${finish}`);
    return EXIT.paused;
  }
}

/** Versions of pages are only kept where differences are shown. */
function memoryOf(name: string | true | undefined, fields: readonly string[]): RunMemory | undefined {
  if (name === undefined) return undefined;
  return { ...(name === true ? {} : { name }), versions: fields.includes('diff') };
}

function percent(text: string): number {
  const value = Number(text.trim().replace(/%$/, '') || NaN);
  if (value > 0 && value <= 100) return value;
  throw new InvalidArgumentError('Expected a number above 0 and up to 100.');
}

function secondRange(text: string): readonly [number, number] {
  const [, low, high] = /^(\d+(?:\.\d+)?)(?:-(\d+(?:\.\d+)?))?$/.exec(text.trim()) ?? [];
  const range = [Number(low), Number(high ?? low)] as const;
  if (low !== undefined && range[1] >= range[0] && range[1] <= 60) return range;
  throw new InvalidArgumentError('Expected seconds such as 2, or a range such as 1-3, up to 60.');
}
