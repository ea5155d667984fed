// How the last runs on a storage folder ended, one entry per queue. After runs that finished, the next one starts
// fresh; an interrupted one is continued. A crash writes nothing, so "running" means interrupted, and an
// unreadable record counts as interrupted, too: nothing is deleted in doubt.
import { mkdir, open, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { isAlive } from '../../base/alive.js';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../base/private-files.js';
import { writeWhole } from '../../base/whole-file.js';
import type { Configuration } from '../../configuration.js';
import { CrawlError } from '../../errors.js';
import { JSON_TYPE } from '../../store/content-types.js';
import { asStorageError, isMissing } from '../../store/storage-errors.js';
import type { RecordStore } from '../../store/store.js';
import { systemTime } from '../time.js';

export type RunState = 'running' | 'finished' | 'interrupted';

export interface LastRun {
  readonly state: RunState;
  /** The processes that worked on it last; while it runs, those that work on it. */
  readonly pids: readonly number[];
}

export interface RunRecord {
  /** The process that emptied the default storages and has not run a crawl yet. */
  readonly preparedBy?: number;
  readonly runs: Readonly<Record<string, LastRun>>;
}

const FILE = 'run.json';
const LOCK = 'run.lock';
const LOCK_RETRY_MS = 50;
const LOCK_TIMEOUT_MS = 30_000;
/** A lock without a pid is being written, or its writer died doing so. */
const EMPTY_LOCK_STALE_MS = 2_000;

/** Where the record is: a storage folder, or the records of a storage client. */
export type RunPlace = string | RecordStore;

/** The key-value store of a storage client that holds the record. */
const CLIENT_STORE = '__orcrawl';

export function runPlaceOf(config: Configuration): RunPlace {
  return config.get('storageClient')?.records(CLIENT_STORE) ?? config.localDataDirectory();
}

/** Undefined when there is a record that cannot be read. */
export async function readRuns(place: RunPlace): Promise<RunRecord | undefined> {
  try {
    const text = typeof place === 'string' ? await readFile(path.join(place, FILE), 'utf8') : await recordText(place);
    if (text === undefined) return { runs: {} };
    const record = JSON.parse(text) as RunRecord;
    return typeof record.runs === 'object' && record.runs !== null ? record : undefined;
  } catch (error) {
    const isNothingThere = isMissing(error) || (error as NodeJS.ErrnoException).code === 'ENOTDIR';
    return isNothingThere ? { runs: {} } : undefined;
  }
}

async function recordText(store: RecordStore): Promise<string | undefined> {
  await store.prepare();
  return (await store.read(FILE))?.body.toString('utf8');
}

/** The last run over one queue; undefined when there was none. */
export async function readLastRun(place: RunPlace, queueId = 'default'): Promise<LastRun | undefined> {
  const record = await readRuns(place);
  return record ? record.runs[queueId] : { state: 'interrupted', pids: [] };
}

/** This process works on a queue now. */
export function beginRun(place: RunPlace, queueId: string): Promise<void> {
  return updateRuns(place, ({ runs }) => {
    const others = (runs[queueId]?.pids ?? []).filter((pid) => pid !== process.pid && isAlive(pid));
    return { runs: { ...runs, [queueId]: { state: 'running', pids: [...others, process.pid] } } };
  });
}

/** This process's run ended. */
export function endRun(place: RunPlace, queueId: string, state: 'finished' | 'interrupted'): Promise<void> {
  return updateRuns(place, ({ runs }) => {
    const run = afterEnd(runs[queueId], process.pid, state);
    return { runs: { ...runs, [queueId]: run } };
  });
}

/**
 * The queue's run when one of its processes has ended. It goes on while another works on it; and while one that died in it
 * has not come back, it was interrupted, though the others may have done everything.
 */
export function afterEnd(
  before: LastRun | undefined,
  pid: number,
  state: 'finished' | 'interrupted',
  lives: (pid: number) => boolean = isAlive,
): LastRun {
  const others = (before?.pids ?? []).filter((other) => other !== pid);
  if (others.some(lives)) return { state: 'running', pids: others };
  return { state: others.length > 0 ? 'interrupted' : state, pids: [pid] };
}

/** The queue is gone, and with it what its runs were about. */
export async function forgetRun(place: RunPlace, queueId: string): Promise<void> {
  if ((await readRuns(place))?.runs[queueId] === undefined) return;
  await updateRuns(place, ({ runs: { [queueId]: _, ...runs }, ...rest }) => ({ ...rest, runs }));
}

/** The default storages were emptied for this process. Call it within `withRunLock`. */
export function markPrepared(place: RunPlace, runs: RunRecord['runs']): Promise<void> {
  return writeRuns(place, { preparedBy: process.pid, runs });
}

async function updateRuns(place: RunPlace, update: (record: RunRecord) => RunRecord): Promise<void> {
  await withRunLock(place, async () => writeRuns(place, update((await readRuns(place)) ?? { runs: {} })));
}

/** Atomic and on the disk before it counts: a reader sees the old record or the new one. */
async function writeRuns(folder: RunPlace, record: RunRecord): Promise<void> {
  if (typeof folder !== 'string') return folder.write(FILE, Buffer.from(JSON.stringify(record)), JSON_TYPE);
  await writeWhole(path.join(folder, FILE), `${JSON.stringify(record)}\n`).catch((error: unknown) => {
    throw asStorageError(error, folder);
  });
}

/** Locks this process holds: a file with our pid that is not among them was left by an earlier life. */
const held = new Set<string>();

/**
 * Runs `work` exclusively among those that start or end a run on this folder. A storage client has no lock: in this
 * process one after another, and among processes the queue itself refuses to be dropped while others work on it.
 */
export async function withRunLock<T>(folder: RunPlace, work: () => Promise<T>): Promise<T> {
  if (typeof folder !== 'string') return inOrder(work);
  const file = path.join(folder, LOCK);
  await mkdir(folder, PRIVATE_FOLDER).catch((error: unknown) => {
    throw asStorageError(error, folder);
  });
  await takeLock(file);
  try {
    return await work();
  } finally {
    held.delete(file);
    await rm(file, { force: true });
  }
}

let last: Promise<unknown> = Promise.resolve();

function inOrder<T>(work: () => Promise<T>): Promise<T> {
  const mine = last.then(work, work);
  last = mine.catch(() => undefined);
  return mine;
}

async function takeLock(file: string, time = systemTime): Promise<void> {
  for (const deadlineMs = time.wallMs() + LOCK_TIMEOUT_MS; ;) {
    if (!held.has(file)) {
      held.add(file);
      try {
        const handle = await open(file, 'wx', PRIVATE_FILE.mode);
        await handle.writeFile(String(process.pid));
        await handle.close();
        return;
      } catch (error) {
        held.delete(file);
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw asStorageError(error, path.dirname(file));
      }
      if (await isStale(file, time.wallMs())) {
        await rm(file, { force: true });
        continue;
      }
    }
    if (time.wallMs() > deadlineMs) {
      throw new CrawlError('STORAGE_UNWRITABLE', `${file} is locked by another process: delete it if no crawl is running here`);
    }
    await time.wait(LOCK_RETRY_MS);
  }
}

async function isStale(file: string, nowMs: number): Promise<boolean> {
  const holder = Number(await readFile(file, 'utf8').catch(() => ''));
  if (holder > 0) return holder === process.pid || !isAlive(holder);
  const written = await stat(file).catch(() => undefined);
  return written !== undefined && nowMs - written.mtimeMs > EMPTY_LOCK_STALE_MS;
}
