// The page memory on disk: one LMDB folder, written by one process or by all workers of a pod.
// Promise: acknowledged visits become pages in one transaction each; after a kill the queue's notes say how far each
// writer's batches were acknowledged.
import type { Database } from 'lmdb';
import { afterOtherThreads, createTransactions } from '../../base/lmdb-shared.js';
import { CrawlError } from '../../errors.js';
import { type Fingerprint, fingerprintToId, fingerprintFromId } from '../../request/fingerprint.js';
import { ownerName } from '../../store/segments/segment-names.js';
import { arrivalsOf, noteArrivals } from './memory-lmdb-arrivals.js';
import { memoryError, openMemoryFile } from './memory-lmdb-file.js';
import type { Arrivals, KnownPage, PageVisit, StageNote, WholeMemory } from './memory.js';
import { packNames, packVersion, unpackNames, unpackVersion } from './names-row.js';
import { isFoundOnly, KEY_BYTES, packKey, packPage, replaces, unpackKey, unpackPage } from './page-row.js';
import { dueKey, type Staged, stagedKey, stagedRow, unpackLinks } from './staged-row.js';

export interface LmdbMemoryOptions {
  /** Several processes write to it: then every transaction is short and runs here. */
  readonly shared?: boolean;
  /** Who this process is among those that write to the memory. */
  readonly writer?: string;
  /** Whether those that write to it tell each other which pages they see. */
  readonly tellsArrivals?: boolean;
}

/** What is to be told of visits, in the order in which they became true. */
export interface TellList {
  /** The oldest, at most so many. */
  untold(max: number): { readonly number: number; readonly text: string }[];
  /** They were told, up to this one. */
  forgetTold(number: number): Promise<void>;
}

/** A memory on disk. */
export type LmdbMemory = Omit<WholeMemory, 'stage'> &
  Partial<Arrivals> &
  TellList & {
    /** How many pages are known. */
    readonly size: number;
    /**
     * Batches of one lane are acknowledged in the order in which they were staged; those of another lane may be under way
     * at the same time.
     */
    stage(visits: readonly PageVisit[], lane?: string): Promise<StageNote>;
  };

/** Prefix of the notes' keys. */
export const MEMORY_KEY_PREFIX = 'memory/';

/** Changes when rows do; another one is refused. */
const VERSION = 1;
/** Acknowledged visits that no later one took along are written after so long. */
const IDLE_MS = 250;
/** As many rows are read or written at once. */
const PORTION = 500;
/** What comes after the name of a writer: its lane. */
const LANE = /~.*/s;
/** The writers of this process whose memory is open. */
const openWriters = new Set<string>();
let openings = 0;

type Table = Database<Buffer, Buffer>;

/** Opens the memory in a folder, created if missing. */
export async function openLmdbMemory(folder: string, options: LmdbMemoryOptions = {}): Promise<LmdbMemory> {
  await afterOtherThreads(folder);
  // Each opening counts its batches from 1.
  const owner = options.writer ?? ownerName();
  const self = `${owner}-${++openings}`;
  const environment = openMemoryFile(folder, options.shared === true);
  const table = (name: string): Table =>
    environment.openDB<Buffer, Buffer>({ name, encoding: 'binary', keyEncoding: 'binary' });
  const pages = table('pages');
  const names = table('names');
  const versions = table('versions');
  const due = table('due');
  const inlinks = table('inlinks');
  const staged = environment.openDB<Staged, Buffer>({ name: 'staged', encoding: 'json', keyEncoding: 'binary' });
  const notes = environment.openDB<unknown, string>({ name: 'notes', encoding: 'json' });
  const tells = environment.openDB<string, number>({ name: 'tells', encoding: 'json', keyEncoding: 'uint32' });
  const arrivals = environment.openDB<Buffer, number>({ name: 'arrivals', encoding: 'binary', keyEncoding: 'uint32' });
  /** Acknowledged, and not yet a page on disk: by key. */
  const acknowledged = new Map<string, PageVisit>();
  let ended: { readonly visit: PageVisit; readonly isPage: boolean }[] = [];
  let timer: NodeJS.Timeout | undefined;
  const batches = new Map<string, number>();
  let last: Promise<unknown> = Promise.resolve();
  const inTransaction = createTransactions(environment, folder, { alone: options.shared !== true });

  /** One transaction after another. */
  function transact<T>(body: () => T): Promise<T> {
    const mine = last.then(async () => {
      try {
        return await inTransaction(body);
      } catch (error) {
        throw memoryError(error, folder);
      }
    });
    last = mine.catch(() => undefined);
    return mine as Promise<T>;
  }

  if (notes.get('version') === undefined) await transact(() => void notes.put('version', VERSION));
  const found = notes.get('version');
  if (found !== VERSION) {
    await environment.close();
    throw new CrawlError(
      'QUEUE_VERSION',
      `the page memory in ${folder} was written by another release (version ${String(found)}, this one reads ${VERSION}): ` +
        'use that release, or delete the folder',
    );
  }

  /** Within a transaction: a visit becomes the page's memory. */
  function write(key: Buffer, row: Buffer, named: string, version: Buffer | undefined, tell?: string): void {
    const before = pages.get(key);
    // Two visits may find a page at the same time, and a third visit it before the second of them ends.
    if (before && isFoundOnly(row) && !replaces(unpackPage(row)!, unpackPage(before))) return;
    const wasDueAt = before?.length === row.length ? before.readUInt32BE(12) : 0;
    const dueAt = row.readUInt32BE(12);
    if (wasDueAt !== dueAt) {
      if (wasDueAt > 0) void due.remove(dueKey(wasDueAt, key));
      if (dueAt > 0) void due.put(dueKey(dueAt, key), NOTHING);
    }
    void pages.put(key, row);
    if (!names.get(key)?.equals(Buffer.from(named))) void names.put(key, Buffer.from(named));
    if (version) void versions.put(key, version);
    if (tell === undefined) return;
    const [lastTold = 0] = tells.getKeys({ reverse: true, limit: 1 });
    void tells.put(Math.max(lastTold, Number(notes.get(LAST_TOLD) ?? 0)) + 1, tell);
  }

  /** Within a transaction. */
  function countLinks(links: readonly Fingerprint[] = []): void {
    for (const link of links) {
      const packed = packKey(link);
      const count = Buffer.allocUnsafe(4);
      count.writeUInt32BE(Math.min(0xffffffff, (inlinks.get(packed)?.readUInt32BE(0) ?? 0) + 1), 0);
      void inlinks.put(packed, count);
    }
  }

  function writeEnded(these: typeof ended): void {
    for (const { visit, isPage } of these) {
      if (isPage) {
        write(packKey(visit.key), packPage(visit.page), packNames(visit.names), packedVersion(visit), visit.tell);
        countLinks(visit.links);
      }
      void staged.remove(stagedKey(visit));
    }
  }

  openWriters.add(self);
  /** Whether what a writer left is to be resolved: those of this process are gone when their memory was closed. */
  function isLeft({ by = '' }: Partial<Staged>, isWriterGone: (writer: string) => boolean): boolean {
    const writer = by.replace(LANE, '');
    return !openWriters.has(writer) && (writer.startsWith(`${owner}-`) || isWriterGone(writer));
  }

  /** What a visit keeps of the content: what it does not name stays as it was. */
  function packedVersion({ key, version }: PageVisit): Buffer | undefined {
    if (!version) return undefined;
    return packVersion({ ...unpackVersion(versions.get(packKey(key))), ...version });
  }

  /** What cannot be read is damage. */
  function readRows<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw memoryError(error, folder);
    }
  }

  function known(key: Fingerprint): KnownPage | undefined {
    const newer = acknowledged.get(fingerprintToId(key));
    if (newer) return newer;
    const packed = packKey(key);
    const row = pages.get(packed);
    const page = row && unpackPage(row);
    return page && { page, names: unpackNames(names.get(packed)) };
  }

  function takeEnded(): typeof ended {
    clearTimeout(timer);
    timer = undefined;
    const these = ended;
    ended = [];
    return these;
  }

  function forget(these: typeof ended): void {
    for (const { visit } of these) {
      const id = fingerprintToId(visit.key);
      if (acknowledged.get(id) === visit) acknowledged.delete(id);
    }
  }

  async function flush(): Promise<void> {
    const these = takeEnded();
    if (these.length === 0) return;
    await transact(() => writeEnded(these));
    forget(these);
  }

  return {
    ...(options.tellsArrivals ? arrivalsOf(arrivals) : {}),
    find: known,
    versionOf(key) {
      const stored = unpackVersion(versions.get(packKey(key)));
      const newer = acknowledged.get(fingerprintToId(key))?.version;
      return newer ? { ...stored, ...newer } : stored;
    },
    inlinksOf: (key) => inlinks.get(packKey(key))?.readUInt32BE(0) ?? 0,
    get size() {
      return (pages.getStats() as { entryCount: number }).entryCount;
    },
    untold: (max) => [...tells.getRange({ limit: max })].map(({ key, value }) => ({ number: key, text: value })),
    forgetTold: (number) =>
      transact(() => {
        for (const key of tells.getKeys({ end: number + 1 })) void tells.remove(key);
        void notes.put(LAST_TOLD, number);
      }),
    async stage(visits, lane = '') {
      const these = takeEnded();
      const batch = (batches.get(lane) ?? 0) + 1;
      batches.set(lane, batch);
      const by = `${self}${lane}`;
      const rows = visits.map((visit) => [stagedKey(visit), stagedRow(visit, by, batch)] as const);
      await transact(() => {
        writeEnded(these);
        for (const [key, row] of rows) void staged.put(key, row);
        if (options.tellsArrivals) noteArrivals(arrivals, visits);
      });
      forget(these);
      return { key: MEMORY_KEY_PREFIX + by, note: String(batch) };
    },
    settle(visits, isPage) {
      for (const visit of visits) {
        ended.push({ visit, isPage });
        if (isPage && replaces(visit.page, known(visit.key)?.page)) acknowledged.set(fingerprintToId(visit.key), visit);
      }
      timer ??= setTimeout(() => void flush().catch(() => undefined), IDLE_MS).unref();
    },
    async recover(notes, isWriterGone) {
      const left = readRows(() => [...staged.getRange()].filter(({ value }) => isLeft(value, isWriterGone)));
      let effective = 0;
      // What is told is told in the order of the visits.
      left.sort((one, other) => one.value.batch - other.value.batch);
      for (let at = 0; at < left.length; at += PORTION) {
        await transact(() => {
          for (const { key, value } of left.slice(at, at + PORTION)) {
            // Another process may be doing the same.
            if (!staged.doesExist(key)) continue;
            const isTrue = Number(notes[MEMORY_KEY_PREFIX + value.by] ?? 0) >= value.batch;
            if (isTrue) writeStaged(value);
            if (isTrue) effective++;
            void staged.remove(key);
          }
        });
      }
      return effective;
    },
    *startingWith(hi) {
      const start = packKey({ hi, lo: 0 });
      const end = hi === 0xffffffff ? undefined : packKey({ hi: hi + 1, lo: 0 });
      for (const { key, value } of pages.getRange(end ? { start, end } : { start })) {
        const page = unpackPage(Buffer.from(value));
        if (page) yield { key: unpackKey(key), page, names: unpackNames(names.get(key)) };
      }
    },
    *pages() {
      let start: Buffer | undefined = Buffer.alloc(KEY_BYTES);
      while (start) {
        // A portion at a time: a range that stays open would keep what is deleted meanwhile.
        const portion: { key: Buffer; value: Buffer }[] = [...pages.getRange({ start, limit: PORTION })].map(
          ({ key, value }) => ({ key: Buffer.from(key), value: Buffer.from(value) }),
        );
        start = portion.length < PORTION ? undefined : Buffer.concat([portion.at(-1)!.key, Buffer.from([0])]);
        for (const { key, value } of portion) {
          const fingerprint = unpackKey(key);
          const newer = acknowledged.get(fingerprintToId(fingerprint));
          const page = newer?.page ?? unpackPage(value);
          if (page) yield { key: fingerprint, page, names: newer?.names ?? unpackNames(names.get(key)) };
        }
      }
    },
    due(untilSecs, max) {
      const soonest: { key: Fingerprint; atSecs: number }[] = [];
      for (const key of due.getKeys({ start: dueKey(0, NO_KEY), end: dueKey(untilSecs + 1, NO_KEY) })) {
        const fingerprint = unpackKey(key, 4);
        // Visited already, and about to be written.
        if (acknowledged.has(fingerprintToId(fingerprint))) continue;
        soonest.push({ key: fingerprint, atSecs: key.readUInt32BE(0) });
        if (soonest.length >= max) break;
      }
      return soonest;
    },
    async plan(key, atSecs) {
      await flush();
      await transact(() => {
        const packed = packKey(key);
        const row = pages.get(packed);
        const page = row && unpackPage(row);
        if (!page) return;
        if (page.nextVisitAt > 0) void due.remove(dueKey(page.nextVisitAt, packed));
        if (atSecs > 0) void due.put(dueKey(atSecs, packed), NOTHING);
        void pages.put(packed, packPage({ ...page, nextVisitAt: atSecs }));
      });
    },
    note: (name) => notes.get(`note ${name}`),
    setNote: (name, value) => transact(() => void notes.put(`note ${name}`, value)),
    async close() {
      try {
        await flush();
        await last;
      } finally {
        openWriters.delete(self);
        await environment.close();
      }
    },
  };

  function writeStaged({ key, row, names: named, version, tell, links }: Staged): void {
    const fingerprint = fingerprintFromId(key);
    if (!fingerprint) return;
    const kept = version === undefined ? undefined : Buffer.from(version, 'base64');
    const whole = kept && packVersion({ ...unpackVersion(versions.get(packKey(fingerprint))), ...unpackVersion(kept) });
    write(packKey(fingerprint), Buffer.from(row, 'base64'), named, whole, tell);
    countLinks(unpackLinks(links));
  }
}

const LAST_TOLD = 'last told';
const NOTHING = Buffer.alloc(0);
const NO_KEY = Buffer.alloc(KEY_BYTES);
