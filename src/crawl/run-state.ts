// How the last run over a storage folder ended. A run that ended by itself lets the next one start fresh;
// one that was interrupted is continued. A crash writes nothing, so "running" means interrupted.
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CrawlError } from '../errors.js';
import { asStorageError } from '../store/storage-errors.js';

/** `fresh`: emptied for a process that has not run a crawl yet. */
export type RunState = 'fresh' | 'running' | 'finished' | 'interrupted';

export interface LastRun {
  readonly state: RunState;
  readonly pid: number;
}

const STATES: readonly string[] = ['fresh', 'running', 'finished', 'interrupted'] satisfies RunState[];
const FILE = 'run.json';
const LOCK = 'run.lock';
const LOCK_RETRY_MS = 50;
const LOCK_TIMEOUT_MS = 30_000;

/** The last run's state; undefined when there was none, or its record cannot be read. */
export async function readLastRun(folder: string): Promise<LastRun | undefined> {
  try {
    const { state, pid } = JSON.parse(await readFile(path.join(folder, FILE), 'utf8')) as Partial<LastRun>;
    return typeof pid === 'number' && STATES.includes(state as string) ? { state: state as RunState, pid } : undefined;
  } catch {
    return undefined;
  }
}

/** Atomic: a reader sees the old state or the new one. */
export async function writeRunState(folder: string, state: RunState): Promise<void> {
  const file = path.join(folder, FILE);
  const draft = `${file}.${process.pid}`;
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(draft, `${JSON.stringify({ state, pid: process.pid, at: new Date().toISOString() })}\n`);
    await rename(draft, file);
  } catch (error) {
    throw asStorageError(error, folder);
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Runs `work` while no other process that starts on this folder runs its own. */
export async function withRunLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const file = path.join(folder, LOCK);
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw asStorageError(error, folder);
  });
  await takeLock(file);
  try {
    return await work();
  } finally {
    await rm(file, { force: true });
  }
}

async function takeLock(file: string): Promise<void> {
  for (const deadlineMs = Date.now() + LOCK_TIMEOUT_MS; ;) {
    try {
      const handle = await open(file, 'wx');
      await handle.writeFile(String(process.pid));
      await handle.close();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw asStorageError(error, path.dirname(file));
    }
    const holder = Number(await readFile(file, 'utf8').catch(() => ''));
    if (holder > 0 && !isAlive(holder)) await rm(file, { force: true });
    else if (Date.now() > deadlineMs) {
      throw new CrawlError('STORAGE_UNWRITABLE', `${file} is held by process ${holder}: delete it if that is no crawl`);
    } else await new Promise((resume) => setTimeout(resume, LOCK_RETRY_MS));
  }
}
