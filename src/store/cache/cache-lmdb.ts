// The page cache on disk: one LMDB folder that any number of processes read and write.
// Promise: a page and its index are one transaction, so a killed process leaves no half of one; the oldest pages go
// when there are too many bytes, those past their age when somebody writes.
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { PRIVATE_FOLDER, PRIVATE_LMDB } from '../../base/private-files.js';
import type { RootDatabase } from 'lmdb';
import { lmdbFileState } from '../../base/lmdb-file.js';
import { SHARED_WRITERS } from '../../base/lmdb-shared.js';
import { CrawlError } from '../../errors.js';
import { isSameVariant, type PageCache, type PageFacts, type PageKey, type StoredPage } from './cache.js';
import { asStorageError } from '../storage-errors.js';

export interface PageCacheOptions {
  /** The oldest pages go when more is stored. Default 1 GiB. */
  readonly maxBytes?: number | undefined;
  /** Pages stored longer ago go at the next write. Default 30 days. */
  readonly maxAgeMs?: number | undefined;
  /** Writing failed: pages are not stored, and nothing else suffers. */
  readonly onError?: ((error: CrawlError) => void) | undefined;
  readonly nowMs?: () => number;
}

const DEFAULT_MAX_BYTES = 1024 ** 3;
const DEFAULT_MAX_AGE_MS = 30 * 86_400_000;
/** A commit costs a millisecond whatever it carries: pages wait this long for company, up to so many bytes. */
const BATCH_WAIT_MS = 20;
const COMPANY_BYTES = 8 * 1024 ** 2;
/** Of pages that vary by a header that is different each time, only the newest are of use. */
const MAX_VARIANTS = 16;
/** So that a transaction stays short; the next write goes on. */
const MAX_PRUNED = 500;
/** Beside its body and headers a page costs rows, keys and part of a page of the file. */
const ROW_BYTES = 512;
const TOTAL = 'bytes';

/** Age first, so that the oldest come first. */
type Age = [storedAtMs: number, id: string];

/**
 * Opens the cache in a folder, made when missing.
 *
 * @example
 * const cache = openPageCache('./storage/cache', { maxBytes: 100_000_000 });
 */
export function openPageCache(folder: string, options: PageCacheOptions = {}): PageCache {
  const { maxBytes = DEFAULT_MAX_BYTES, maxAgeMs = DEFAULT_MAX_AGE_MS, nowMs = Date.now } = options;
  const environment = openEnvironment(folder);
  const facts = environment.openDB<PageFacts, string>({ name: 'facts', encoding: 'json' });
  const bodies = environment.openDB<Buffer, string>({ name: 'bodies', encoding: 'binary' });
  const ages = environment.openDB<number, Age>({ name: 'ages', encoding: 'json' });
  const totals = environment.openDB<number, string>({ name: 'totals', encoding: 'json' });
  const waiting = new Map<string, StoredPage>();
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | undefined;

  /** One transaction on this thread: the lock of all writers is never held while this process does something else. */
  function transact<T>(body: () => T): T {
    try {
      return environment.transactionSync(body);
    } catch (error) {
      throw asStorageError(error, folder);
    }
  }

  /** Removes a page inside a transaction; the bytes it had. */
  function remove(id: string, known = facts.get(id)): number {
    if (!known) return 0;
    void facts.remove(id);
    void bodies.remove(id);
    void ages.remove([known.storedAtMs, id]);
    return costOf(known);
  }

  function write(pages: readonly [string, StoredPage][]): void {
    let total = totals.get(TOTAL) ?? 0;
    for (const [id, { body, ...page }] of pages) {
      total -= remove(id);
      void facts.put(id, page);
      void bodies.put(id, body);
      void ages.put([page.storedAtMs, id], costOf(page));
      total += costOf(page) - dropOldVariants(id);
    }
    const tooOldMs = nowMs() - maxAgeMs;
    for (const { key } of [...ages.getRange({ limit: MAX_PRUNED })]) {
      const [storedAtMs, id] = key;
      if (total <= maxBytes && storedAtMs >= tooOldMs) break;
      total -= remove(id);
    }
    void totals.put(TOTAL, Math.max(0, total));
  }

  function dropOldVariants(id: string): number {
    const siblings = [...variantsOf(id.slice(0, ID_LENGTH))];
    if (siblings.length <= MAX_VARIANTS) return 0;
    siblings.sort((a, b) => b.value.storedAtMs - a.value.storedAtMs);
    return siblings.slice(MAX_VARIANTS).reduce((bytes, { key, value }) => bytes + remove(key, value), 0);
  }

  function variantsOf(prefix: string) {
    return facts.getRange({ start: `${prefix}.`, end: `${prefix}/` });
  }

  function writeWaiting(): void {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.size === 0) return;
    const pages = [...waiting];
    waiting.clear();
    waitingBytes = 0;
    try {
      transact(() => write(pages));
    } catch (error) {
      options.onError?.(error as CrawlError);
    }
  }

  function prune(isChosen: (page: PageFacts) => boolean): number {
    writeWaiting();
    let removed = 0;
    const chosen = [...facts.getRange()].flatMap(({ key, value }) => (isChosen(value) ? [key] : []));
    for (let at = 0; at < chosen.length; at += MAX_PRUNED) {
      transact(() => {
        let bytes = 0;
        for (const id of chosen.slice(at, at + MAX_PRUNED)) {
          const page = facts.get(id);
          // Another process may have removed or refreshed it meanwhile.
          if (!page || !isChosen(page)) continue;
          bytes += remove(id, page);
          removed++;
        }
        void totals.put(TOTAL, Math.max(0, (totals.get(TOTAL) ?? 0) - bytes));
      });
    }
    return removed;
  }

  return {
    async find(key, headers) {
      const prefix = prefixOf(key);
      const found: { id: string; page: PageFacts }[] = [];
      for (const [id, page] of waiting) if (id.startsWith(prefix)) found.push({ id, page });
      for (const { key: id, value: page } of variantsOf(prefix)) found.push({ id, page });
      found.sort((a, b) => b.page.storedAtMs - a.page.storedAtMs);
      const match = found.find(({ page }) => isSameVariant(page.varied, headers));
      if (!match) return undefined;
      const { id, page } = match;
      const unwritten = waiting.get(id);
      if (unwritten) return unwritten;
      const body = bodies.get(id);
      return body && { ...page, body: Buffer.from(body) };
    },
    put(page) {
      const id = `${prefixOf(page)}.${digest(JSON.stringify(Object.entries(page.varied).sort()))}`;
      waiting.set(id, page);
      waitingBytes += page.body.length;
      if (waitingBytes >= COMPANY_BYTES) writeWaiting();
      else timer ??= setTimeout(writeWaiting, BATCH_WAIT_MS);
    },
    forget: async (url) => prune((page) => page.url === url),
    *list() {
      writeWaiting();
      for (const { key } of ages.getRange()) {
        const page = facts.get(key[1]);
        if (page) yield page;
      }
    },
    prune: async (beforeMs) => prune(({ storedAtMs }) => storedAtMs < beforeMs),
    async flush() {
      writeWaiting();
    },
    async close() {
      writeWaiting();
      await environment.close();
    },
  };
}

function costOf({ headers, bodyBytes, loadedUrl, url }: PageFacts): number {
  return ROW_BYTES + bodyBytes + 2 * JSON.stringify(headers).length + url.length + loadedUrl.length;
}

/** Hexadecimal digits of a digest: 96 bits tell any two pages of a cache apart. */
const ID_LENGTH = 24;

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, ID_LENGTH);
}

function prefixOf({ method, url, engine, userAgent }: PageKey): string {
  return digest(JSON.stringify([method, url, engine, userAgent]));
}

function openEnvironment(folder: string): RootDatabase {
  try {
    mkdirSync(folder, PRIVATE_FOLDER);
    const state = lmdbFileState(path.join(folder, 'data.mdb'));
    if (state === 'foreign' || state === 'truncated') {
      throw new CrawlError('STORAGE_UNWRITABLE', `${folder} holds no page cache: delete it, or choose another folder`);
    }
    const lmdb = createRequire(import.meta.url)('lmdb') as typeof import('lmdb');
    return lmdb.open({ path: folder, maxDbs: 4, noSubdir: false, ...SHARED_WRITERS, ...PRIVATE_LMDB });
  } catch (error) {
    throw asStorageError(error, folder);
  }
}
