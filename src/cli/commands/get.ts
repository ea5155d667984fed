// `orcrawl get URL`: finds a stored page in the data directories of a crawl and prints it.
// Promise: a pipe gets the stored bytes unchanged; a terminal gets escaped text.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { Option, type Command } from 'commander';
import { CrawlError } from '../../errors.js';
import { findPage, type StoredPage } from '../../store/content/reading.js';
import { seedUrl } from '../arguments.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { complain, print, say, shown } from '../terminal.js';

interface GetFlags {
  readonly dataDir?: readonly string[];
  readonly raw?: boolean;
  readonly text?: boolean;
  readonly meta?: boolean;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  $ orcrawl get https://example.com/ --data-dir /mnt/ssd1/crawler_data --data-dir /mnt/ssd2/crawler_data
  $ orcrawl get example.com --data-dir ./data --raw > page.html
  $ orcrawl get example.com --data-dir ./data --json | jq .status_code
`;

/** Limit for decoding a body; crawls store less. */
const MAX_BODY_BYTES = 1024 ** 3;

export function addGetCommand(program: Command, onExit: (code: number) => void): void {
  const form = (flag: string, does: string): Option =>
    new Option(`--${flag}`, does).conflicts(['raw', 'text', 'meta', 'json'].filter((other) => other !== flag));
  program
    .command('get')
    .summary('print a page stored by a crawl on pods')
    .description(
      'Prints the newest capture of a URL stored by a crawl on pods (orcrawl run): its text, or its body ' +
        'if no text is stored. Pages of orcrawl crawl are in its --out, in pages.jsonl.',
    )
    .argument('<url>', 'URL of the page, as crawled')
    .requiredOption('-d, --data-dir <DIR>', 'data directory of the crawl; repeat for each', collect)
    .addOption(form('text', 'print the text'))
    .addOption(form('raw', 'print the body, decompressed'))
    .addOption(form('meta', 'print the metadata, one per line'))
    .addOption(form('json', 'print metadata and text as one JSON object'))
    .addHelpText('after', EXAMPLES)
    .action(async (url: string, flags: GetFlags) => onExit(await get(url, flags)));
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

async function get(typed: string, flags: GetFlags): Promise<number> {
  const url = seedUrl(typed);
  const dataDirs = flags.dataDir ?? [];
  const having = flags.raw ? 'response' : flags.text ? 'text' : undefined;
  const page = await findPage(dataDirs, url, { having, onDamage: (message) => complain(shown(message, 2_000)) });
  if (page === undefined) throw new UsageError(await whyNotFound(dataDirs, url, having));
  if (flags.json) say(JSON.stringify({ ...metadataOf(page), text: page.text }));
  else if (flags.meta)
    for (const [name, value] of Object.entries(metadataOf(page))) say(`${name}: ${shown(String(value), 2_000)}`);
  else if (page.text !== undefined && !flags.raw) await print(Buffer.from(`${page.text}\n`));
  else if (page.response !== undefined) await print(await bodyOf(page.response));
  else throw new UsageError(`only metadata is stored for ${shown(url)}: use --meta`);
  return EXIT.done;
}

async function whyNotFound(
  dataDirs: readonly string[],
  url: string,
  having: 'text' | 'response' | undefined,
): Promise<string> {
  const other = having && (await findPage(dataDirs, url));
  if (other)
    return `${shown(url)} is stored without its ${having === 'text' ? 'text: use --raw' : 'body (store_raw_html was off)'}`;
  const crawls = dataDirs.filter((dir) => existsSync(path.join(dir, 'report.json')));
  if (crawls.length > 0) {
    const where = crawls.map((dir) => path.join(shown(dir), 'pages.*')).join(', ');
    return `${shown(url)} is not stored as a crawl on pods does: this is the folder of orcrawl crawl, whose pages are in ${where}`;
  }
  return `${shown(url)} is not stored in ${dataDirs.map((dir) => shown(dir)).join(', ')}`;
}

/** The names used by the specification and the index. */
function metadataOf(page: StoredPage): Record<string, string | number> {
  const { contentPath, offset, length } = page;
  return {
    url: page.url,
    ...(page.loadedUrl === page.url ? {} : { loaded_url: page.loadedUrl }),
    status_code: page.statusCode,
    fetched_at: page.fetchedAt.toISOString(),
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
