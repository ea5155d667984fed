// Opens the job store: LMDB under the data directory, or Redis shared by several servers.
// Promise: one server per data directory; a second one is told so.
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { isAlive, startOf } from '../../base/alive.js';
import { CrawlError } from '../../errors.js';
import { openLmdbJobs } from './lmdb-store.js';
import type { Job, JobStore } from './store.js';

export interface OpenedJobs {
  readonly store: JobStore;
  /** Where servers share jobs: which of them runs or delivers for one. */
  readonly claimRun?: (job: Job) => Promise<boolean>;
  readonly claimDelivery?: (id: string) => Promise<boolean>;
  readonly release?: (id: string) => Promise<void>;
  /** A value that all servers have in common; the first one's. */
  readonly agreed?: (name: string, value: string) => Promise<string>;
  close(): Promise<void>;
}

export async function openJobs(dataDir: string, redisUrl: string | undefined): Promise<OpenedJobs> {
  const unlock = lock(dataDir);
  try {
    if (redisUrl !== undefined) {
      const { openRedisJobs } = await import('./redis-store.js');
      const { store, claim, release, agreed } = await openRedisJobs(redisUrl);
      return {
        store,
        // All servers work on a crawl: its queue leases each page to one of them. A list has one reader at a time.
        claimRun: async ({ id, kind }) => kind === 'crawl' || claim('run', id),
        claimDelivery: (id) => claim('hook', id),
        release,
        agreed,
        async close() {
          await store.close();
          unlock();
        },
      };
    }
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
      writeSync(descriptor, `${process.pid} ${startOf(process.pid) ?? ''}`);
      closeSync(descriptor);
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw new CrawlError('STORAGE_UNWRITABLE', `${dataDir} cannot be written: ${(error as Error).message}`);
      }
      const [pid = '', started] = readFileSync(file, 'utf8').split(' ');
      if (tries > 0 || isOther(Number(pid), started)) {
        throw new CrawlError(
          'QUEUE_IN_USE',
          `A server runs in ${dataDir} already (process ${pid}). Choose another --data-dir.`,
        );
      }
      rmSync(file, { force: true });
    }
  }
}

function isOther(pid: number, started: string | undefined): boolean {
  return Number.isInteger(pid) && pid > 0 && pid !== process.pid && isAlive(pid, started);
}
