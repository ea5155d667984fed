// `orcrawl cache`: shows and empties the page cache.
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { Configuration } from '../../configuration.js';
import { bytesText, countOf } from '../../observe/figures.js';
import { type PageCache, pageUrlOf } from '../../store/cache/cache.js';
import { duration, seedUrl } from '../arguments.js';
import { EXIT } from '../exit-codes.js';
import { complain, print, say, shown } from '../terminal.js';

interface CacheFlags {
  readonly storage?: string;
}

export function addCacheCommand(program: Command, onExit: (code: number) => void): void {
  const command = program.command('cache').summary('show or empty the page cache');
  command
    .description('Manages the page cache in the storage folder (./storage, or ORCRAWL_STORAGE_DIR).')
    .addHelpText('after', '\nExamples:\n  $ orcrawl cache stats\n  $ orcrawl cache prune --older-than 7d\n');
  const sub = (name: string, what: string, example = name) =>
    command
      .command(name)
      .description(what)
      .option('--storage <DIR>', 'the storage folder')
      .addHelpText('after', `\nExample:\n  $ orcrawl cache ${example}\n`);
  sub('stats', 'number, size and age of the pages').action(async (flags: CacheFlags) => {
    onExit(await withCache(flags, stats));
  });
  sub('list', 'the stored pages, oldest first: date, bytes, status, URL').action(async (flags: CacheFlags) => {
    onExit(await withCache(flags, list));
  });
  sub('get <URL>', 'the stored body of a page', 'get https://example.com/ > page.html').action(
    async (url: string, flags: CacheFlags) => {
      onExit(await withCache(flags, (cache) => get(cache, seedUrl(url)), EXIT.someFailed));
    },
  );
  sub('clear', 'remove all pages').action(async (flags: CacheFlags) => {
    onExit(await withCache(flags, (cache) => prune(cache, Infinity)));
  });
  sub('prune', 'remove old pages', 'prune --older-than 7d')
    .requiredOption('--older-than <AGE>', 'such as 90s, 30m, 12h or 7d', duration)
    .action(async (flags: CacheFlags & { olderThan: number }) => {
      onExit(await withCache(flags, (cache) => prune(cache, Date.now() - flags.olderThan)));
    });
}

async function withCache(
  flags: CacheFlags,
  use: (cache: PageCache) => number | Promise<number>,
  withoutOne: number = EXIT.done,
): Promise<number> {
  const folder = flags.storage ?? Configuration.getGlobalConfig().localDataDirectory();
  // Looking must not create one.
  if (!existsSync(path.join(folder, 'cache', 'data.mdb'))) {
    complain(`There is no page cache in ${folder}.`);
    return withoutOne;
  }
  const { openCacheIn } = await import('../../crawl/web-crawler.js');
  const cache = await openCacheIn(folder);
  try {
    return await use(cache);
  } finally {
    await cache.close();
  }
}

function stats(cache: PageCache): number {
  let pages = 0;
  let bytes = 0;
  let oldestMs = Infinity;
  let newestMs = -Infinity;
  for (const { bodyBytes, storedAtMs } of cache.list()) {
    pages++;
    bytes += bodyBytes;
    oldestMs = Math.min(oldestMs, storedAtMs);
    newestMs = Math.max(newestMs, storedAtMs);
  }
  say(`${countOf(pages, 'page')}, ${bytesText(bytes)}`);
  if (pages > 0) say(`stored from ${new Date(oldestMs).toISOString()} to ${new Date(newestMs).toISOString()}`);
  return EXIT.done;
}

function list(cache: PageCache): number {
  for (const { url, bodyBytes, statusCode, storedAtMs } of cache.list()) {
    say(`${new Date(storedAtMs).toISOString()}\t${bodyBytes}\t${statusCode}\t${shown(url, 2000)}`);
  }
  return EXIT.done;
}

async function get(cache: PageCache, url: string): Promise<number> {
  const wanted = pageUrlOf(url);
  const found = [...cache.list()].filter((page) => page.url === wanted).at(-1);
  const headers = Object.fromEntries(Object.entries(found?.varied ?? {}).filter(([, value]) => value !== null));
  const page = found && (await cache.find(found, headers as Record<string, string>));
  if (!page) {
    complain(`error: ${shown(url)} is not in the cache`);
    return EXIT.someFailed;
  }
  await print(page.body);
  return EXIT.done;
}

async function prune(cache: PageCache, beforeMs: number): Promise<number> {
  say(`removed ${countOf(await cache.prune(beforeMs), 'page')}`);
  return EXIT.done;
}
