// Opens the job store: LMDB under the data directory, or Redis shared by several servers.
// Promise: one server per data directory; a second one is told so.
import path from 'node:path';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { CrawlError } from '../../errors.js';
import { openLmdbJobs } from './lmdb-store.js';
import type { JobStore } from './store.js';

export interface OpenedJobs {
  readonly store: JobStore;
  /** Where servers share jobs: which of them runs or delivers for one. */
  readonly claimRun?: (id: string) => Promise<boolean>;
  readonly claimDelivery?: (id: string) => Promise<boolean>;
  readonly release?: (id: string) => Promise<void>;
  close(): Promise<void>;
}

export async function openJobs(dataDir: string, redisUrl: string | undefined): Promise<OpenedJobs> {
  const unlock = lock(dataDir);
  try {
    if (redisUrl !== undefined) throw new CrawlError('OPTION_INVALID', 'Redis is not supported by this server yet');
    const store = await openLmdbJobs(path.join(dataDir, 'jobs'));
    return {
      store,
      async close() {
        await store.close();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
}

/** A file with this process's number; that of a process which is gone does not count. */
function lock(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = path.join(dataDir, 'server.lock');
  for (let tries = 0; ; tries++) {
    try {
      const descriptor = openSync(file, 'wx', 0o600);
      writeSync(descriptor, String(process.pid));
      closeSync(descriptor);
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw new CrawlError('STORAGE_UNWRITABLE', `${dataDir} cannot be written: ${(error as Error).message}`);
      }
      const pid = Number(readFileSync(file, 'utf8'));
      if (tries > 0 || isAlive(pid)) {
        throw new CrawlError(
          'QUEUE_IN_USE',
          `A server runs in ${dataDir} already (process ${pid}). Choose another --data-dir.`,
        );
      }
      rmSync(file, { force: true });
    }
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
