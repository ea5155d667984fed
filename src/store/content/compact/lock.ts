// One compaction of a data directory at a time.
// Promise: the lock of a process that is gone is taken over. It saves work only: two compactions at once lose nothing.
import { randomBytes } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_FILE } from '../../../base/private-files.js';
import { CrawlError } from '../../../errors.js';
import { isOwnerGone, ownerName } from '../../segments/segment-names.js';
import { asStorageError } from '../../storage-errors.js';

const LOCK_FILE = 'compact.lock';
const TRIES = 3;

/** Resolves to what gives the lock back. */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, LOCK_FILE);
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(draft, ownerName(), PRIVATE_FILE);
    for (let tries = 0; tries < TRIES; tries++) {
      const isMine = await link(draft, path).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'EEXIST') return false;
          throw error;
        },
      );
      if (isMine) return () => rm(path, { force: true });
      const holder = await readFile(path, 'utf8').catch(() => undefined);
      if (holder !== undefined && !isOwnerGone(holder)) break;
      await rename(path, `${draft}.old`).catch(() => undefined);
    }
  } catch (error) {
    throw asStorageError(error, path);
  } finally {
    for (const file of [draft, `${draft}.old`]) await rm(file, { force: true });
  }
  throw new CrawlError('STORAGE_IN_USE', `${folder} is being compacted by another process: wait until it has ended`);
}
