// The host store on disk: one LMDB file beside the queue, shared by all processes that work on it.
// Bounded in bytes, oldest first; a file that cannot be opened is a cache that is gone, and is made anew.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { PRIVATE_FILE, PRIVATE_FOLDER, PRIVATE_LMDB } from '../base/private-files.js';
import type { Database, RootDatabase } from 'lmdb';
import { lmdbFileState } from '../base/lmdb-file.js';
import type { HostRecord, HostStore } from '../politeness/hosts.js';

export interface LmdbHostsOptions {
  readonly folder: string;
  /** Several processes have it open: then every transaction is short and runs here. */
  readonly shared: boolean;
  readonly maxBytes?: number;
  /** Names the machine's boot, '' when nobody can tell: within one nothing need be flushed to the disk. */
  readonly bootId: string;
  /** How records become text and text becomes records. */
  readonly pack: (record: HostRecord) => string;
  readonly unpack: (text: string) => HostRecord | undefined;
  readonly nowMs?: () => number;
  readonly onError?: (error: Error) => void;
}

const DEFAULT_MAX_BYTES = 4 * 1024 ** 3;
/** A commit costs a millisecond whatever it carries: records wait this long for company. */
const BATCH_WAIT_MS = 20;
const MAX_COMPANY = 256;
/** LMDB's own limit on keys is 1,978 bytes; no origin of the web comes near this. */
const MAX_HOST_LENGTH = 1_000;
const ROW_BYTES = 64;
const BOOT_FILE = 'boot';
const TOTAL = 'total';
const NEXT = 'next';

/** A row: the number under which its age is kept, and the packed record. */
interface Row {
  readonly order: number;
  readonly text: string;
}

export function openLmdbHosts(options: LmdbHostsOptions): HostStore {
  const { maxBytes = DEFAULT_MAX_BYTES, nowMs = Date.now, pack, unpack } = options;
  const environment = openEnvironment(options.folder, options.bootId);
  const hosts = environment.openDB<string, string>({ name: 'hosts', encoding: 'string' });
  const ages = environment.openDB<string, number>({ name: 'ages', encoding: 'string' });
  const claims = environment.openDB<number, string>({ name: 'claims', encoding: 'json' });
  const meta = environment.openDB<number, string>({ name: 'meta', encoding: 'json' });
  const waiting = new Map<string, HostRecord>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;

  function transact(body: () => void): Promise<void> {
    if (!options.shared) return environment.childTransaction(body) as Promise<void>;
    environment.transactionSync(body);
    return Promise.resolve();
  }

  function write(batch: ReadonlyMap<string, HostRecord>): void {
    let total = meta.get(TOTAL) ?? 0;
    let next = meta.get(NEXT) ?? 1;
    for (const [host, record] of batch) {
      total -= forget(hosts, ages, host);
      const text = pack(record);
      void hosts.put(host, `${next}\n${text}`);
      void ages.put(next++, host);
      void claims.remove(host);
      total += ROW_BYTES + host.length + text.length;
    }
    if (total > maxBytes) {
      for (const { value: host } of [...ages.getRange({ limit: batch.size + MAX_COMPANY })]) {
        if (total <= maxBytes) break;
        total -= forget(hosts, ages, host);
        void claims.remove(host);
      }
    }
    void meta.put(TOTAL, Math.max(0, total));
    void meta.put(NEXT, next);
  }

  async function flush(): Promise<void> {
    while (waiting.size > 0) {
      const batch = new Map([...waiting].slice(0, MAX_COMPANY));
      // Kept until written: whoever reads meanwhile sees the newer record.
      try {
        await transact(() => write(batch));
      } catch (error) {
        options.onError?.(error as Error);
      }
      for (const [host, record] of batch) if (waiting.get(host) === record) waiting.delete(host);
    }
  }

  function start(): void {
    clearTimeout(timer);
    timer = undefined;
    flushing ??= flush().finally(() => {
      flushing = undefined;
    });
  }

  return {
    async get(host) {
      const newer = waiting.get(host);
      if (newer || host.length > MAX_HOST_LENGTH) return newer;
      const row = readRow(hosts.get(host));
      return row && unpack(row.text);
    },
    put(host, record) {
      if (host.length > MAX_HOST_LENGTH) return;
      waiting.set(host, record);
      if (waiting.size >= MAX_COMPANY) start();
      else timer ??= setTimeout(start, BATCH_WAIT_MS);
    },
    async claim(host, ms) {
      if (host.length > MAX_HOST_LENGTH) return true;
      let isMine = false;
      const body = () => {
        const until = claims.get(host) ?? 0;
        // A claim that reaches further than anybody asks for was made before the clock was set back.
        isMine = until <= nowMs() || until > nowMs() + 2 * ms;
        if (isMine) void claims.put(host, nowMs() + ms);
      };
      await transact(body);
      return isMine;
    },
    async close() {
      start();
      await flushing;
      await environment.close();
    },
  };
}

/** Removes a host's row; the bytes it had. */
function forget(hosts: Database<string, string>, ages: Database<string, number>, host: string): number {
  const text = hosts.get(host);
  const row = readRow(text);
  if (text === undefined || !row) return 0;
  void hosts.remove(host);
  void ages.remove(row.order);
  return ROW_BYTES + host.length + row.text.length;
}

function readRow(text: string | undefined): Row | undefined {
  const end = text?.indexOf('\n') ?? -1;
  if (text === undefined || end < 0) return undefined;
  return { order: Number(text.slice(0, end)), text: text.slice(end + 1) };
}

/**
 * A cache need not survive a power cut, and flushing it took a quarter of a crawl's time on a busy disk. Unflushed it
 * could be damaged by one, so a file of another boot is not opened.
 */
function openEnvironment(folder: string, bootId: string): RootDatabase {
  const lmdb = createRequire(import.meta.url)('lmdb') as typeof import('lmdb');
  const noSync = bootId !== '';
  const open = () => {
    mkdirSync(folder, PRIVATE_FOLDER);
    if (noSync) writeFileSync(path.join(folder, BOOT_FILE), bootId, PRIVATE_FILE);
    return lmdb.open({ path: folder, maxDbs: 4, noSubdir: false, eventTurnBatching: false, noSync, ...PRIVATE_LMDB });
  };
  const state = lmdbFileState(path.join(folder, 'data.mdb'));
  const isWhole = state === 'missing' || state === 'whole';
  const isUsable = isWhole && isOfBoot(path.join(folder, BOOT_FILE), bootId);
  if (!isUsable) rmSync(folder, { recursive: true, force: true });
  try {
    return open();
  } catch {
    rmSync(folder, { recursive: true, force: true });
    return open();
  }
}

/** True when no boot was noted: the file was flushed, or there is none. */
function isOfBoot(file: string, bootId: string): boolean {
  try {
    return readFileSync(file, 'utf8') === bootId;
  } catch {
    return true;
  }
}
