// `orcrawl get URL`: finds a stored page in the data directories of a crawl and prints it.
// Promise: a pipe gets the stored bytes unchanged; a terminal gets escaped text.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { CrawlError } from '../../errors.js';
import { findEvents, findPage, pageHistory, type StoredPage, type UrlEvent } from '../../store/content/reading.js';
import { seedUrl } from '../arguments.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { eventData, eventLine } from '../fates/event-text.js';
import { folders, reportConfigProblems } from '../pods-flags.js';
import { complain, print, say, shown } from '../terminal.js';

interface GetFlags {
  readonly config?: string;
  readonly dataDir?: readonly string[];
  readonly raw?: boolean;
  readonly text?: boolean;
  readonly meta?: boolean;
  readonly json?: boolean;
  readonly at?: number;
  readonly history?: boolean;
}

const EXAMPLES = `
Examples:
  $ orcrawl get https://example.com/ --data-dir /mnt/ssd1/crawler_data --data-dir /mnt/ssd2/crawler_data
  $ orcrawl get example.com --config crawl.yaml
  $ orcrawl get example.com --data-dir ./data --raw > page.html
  $ orcrawl get example.com --data-dir ./data --history
  $ orcrawl get example.com --data-dir ./data --at 2026-11-16
  $ orcrawl get example.com --data-dir ./data --json | jq .status_code
  $ orcrawl get example.com --data-dir s3://bucket/crawl --data-dir ./data
`;

/** Limit for decoding a body; crawls store less. */
const MAX_BODY_BYTES = 1024 ** 3;

export function addGetCommand(program: Command, onExit: (code: number) => void): void {
  const form = (flag: string, does: string): Option =>
    new Option(`--${flag}`, does).conflicts(
      ['raw', 'text', 'meta', 'json', 'history'].filter((other) => other !== flag),
    );
  program
    .command('get')
    .summary('print a page stored by a crawl on pods')
    .description(
      'Prints the newest capture of a URL stored by a crawl on pods (orcrawl run): its text, or its body ' +
        'if no text is stored. Pages of orcrawl crawl are in its --out, in pages.jsonl.',
    )
    .argument('<url>', 'URL of the page, as crawled')
    .option('--config <FILE>', 'the YAML file of the crawl, which names its data directories')
    .option(
      '-d, --data-dir <DIRS>',
      'data directories of the crawl, or s3://BUCKET/PREFIX; repeat, or separate by commas',
      folders,
    )
    .addOption(form('text', 'print the text'))
    .addOption(form('raw', 'print the body, decompressed'))
    .addOption(form('meta', 'print what became of it, one value per line; also of a URL that failed or was skipped'))
    .addOption(form('json', 'print metadata and text as one JSON object'))
    .option(
      '--at <TIME>',
      'the capture of this time, or the last one before it: 2026-11-16 or 2026-11-16T13:00Z',
      moment,
    )
    .addOption(form('history', 'list all captures, the oldest first, one JSON line each'))
    .addHelpText('after', EXAMPLES)
    .action(async (url: string, flags: GetFlags) => onExit(await get(url, flags)));
}

/** Undefined when the configuration has problems, which were told. */
async function dataDirsOf({ dataDir, config }: GetFlags): Promise<readonly string[] | undefined> {
  if (dataDir !== undefined) return dataDir;
  if (config === undefined) throw new UsageError('where was it stored? Give --config FILE or --data-dir DIR');
  const { readPodsConfig } = await import('../../pods/config/config.js');
  const read = await readPodsConfig(config, {}, { isToRun: false }).catch((error: unknown) => {
    reportConfigProblems(error);
    return undefined;
  });
  return read && [...(read.content === undefined ? [] : [read.content]), ...read.dataDirs];
}

/** A day means its end, in UTC. */
export function moment(text: string): number {
  const typed = text.trim();
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(typed);
  const ms = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?$/.test(typed)
    ? Date.parse(isDay ? `${typed}T23:59:59.999Z` : typed)
    : NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new InvalidArgumentError('Expected a time such as 2026-11-16 or 2026-11-16T13:00Z.');
}

async function get(typed: string, flags: GetFlags): Promise<number> {
  const url = seedUrl(typed);
  const dataDirs = await dataDirsOf(flags);
  if (dataDirs === undefined) return EXIT.misuse;
  const onDamage = (message: string) => complain(shown(message, 2_000));
  if (flags.history) return history(dataDirs, url, onDamage);
  const having = flags.raw ? 'response' : flags.text ? 'text' : undefined;
  const page = await findPage(dataDirs, url, { having, atMs: flags.at, onDamage });
  const [last] = flags.meta || page === undefined ? await findEvents(dataDirs, url) : [];
  if (flags.meta && last?.fate && flags.at === undefined) {
    for (const [name, value] of Object.entries(eventData(last))) say(`${name}: ${shown(String(value), 2_000)}`);
    return EXIT.done;
  }
  if (page === undefined)
    throw new UsageError(last?.fate ? noPage(url, last) : await whyNotFound(dataDirs, url, having, flags.at));
  if (flags.json) say(JSON.stringify({ ...metadataOf(page), text: page.text }));
  else if (flags.meta)
    for (const [name, value] of Object.entries(metadataOf(page))) say(`${name}: ${shown(String(value), 2_000)}`);
  else if (page.text !== undefined && !flags.raw) await print(Buffer.from(`${page.text}\n`));
  else if (page.response !== undefined) await print(await bodyOf(page.response));
  else throw new UsageError(`only metadata is stored for ${shown(url)}: use --meta`);
  return EXIT.done;
}

async function history(dataDirs: readonly string[], url: string, onDamage: (message: string) => void): Promise<number> {
  const captures = await pageHistory(dataDirs, url, onDamage);
  if (captures.length === 0) throw new UsageError(await whyNotFound(dataDirs, url, undefined, undefined));
  for (const { fetchedAt, statusCode, contentType, digest, url: stored, originalAt } of captures) {
    const line = { fetched_at: fetchedAt.toISOString(), status_code: statusCode, content_type: contentType, digest };
    say(JSON.stringify({ ...line, ...sinceOf(originalAt), url: stored }));
  }
  return EXIT.done;
}

/** Of a visit that found the page unchanged: since when it is as it is stored. */
function sinceOf(originalAt: Date | undefined): { unchanged_since?: string } {
  return originalAt === undefined ? {} : { unchanged_since: originalAt.toISOString() };
}

function noPage(url: string, last: UrlEvent): string {
  return `${shown(url)} has no stored page: ${eventLine(last)}. See orcrawl get --meta, or orcrawl why`;
}

async function whyNotFound(
  dataDirs: readonly string[],
  url: string,
  having: 'text' | 'response' | undefined,
  atMs: number | undefined,
): Promise<string> {
  const [oldest] = atMs === undefined ? [] : await pageHistory(dataDirs, url);
  if (oldest && oldest.fetchedAt.getTime() > atMs!)
    return `${shown(url)} was first stored at ${oldest.fetchedAt.toISOString()}: choose a later --at`;
  const other = having && (await findPage(dataDirs, url));
  if (other)
    return `${shown(url)} is stored without its ${having === 'text' ? 'text: use --raw' : 'body (store_raw_html was off)'}`;
  const crawls = dataDirs.filter((dir) => existsSync(path.join(dir, 'report.json')));
  if (crawls.length > 0) {
    const where = crawls.map((dir) => path.join(shown(dir), 'pages.*')).join(', ');
    return `${shown(url)} is not stored as a crawl on pods does: this is the folder of orcrawl crawl, whose pages are in ${where}`;
  }
  return `${shown(url)} is not stored in ${dataDirs.map((dir) => shown(dir)).join(', ')}: orcrawl why tells what became of it`;
}

/** The names used by the specification and the index. */
function metadataOf(page: StoredPage): Record<string, string | number> {
  const { contentPath, offset, length } = page;
  return {
    url: page.url,
    ...(page.loadedUrl === page.url ? {} : { loaded_url: page.loadedUrl }),
    fate: 'done',
    status_code: page.statusCode,
    fetched_at: page.fetchedAt.toISOString(),
    ...sinceOf(page.originalAt),
    content_type: page.contentType,
    depth: page.depth,
    digest: page.digest,
    ...(contentPath === undefined ? {} : { content_path: contentPath }),
    ...(offset === undefined ? {} : { offset }),
    ...(length === undefined ? {} : { length }),
  };
}

async function bodyOf({ headers, body }: NonNullable<StoredPage['response']>): Promise<Buffer> {
  const { contentCodings, decodeBody } = await import('../../fetch/http/body/body.js');
  try {
    return await decodeBody(
      body,
      contentCodings(headers['content-encoding'], 'the stored page'),
      MAX_BODY_BYTES,
      'the stored page',
    );
  } catch (error) {
    if (error instanceof CrawlError && error.code === 'BODY_DECODE') return body;
    throw error;
  }
}
