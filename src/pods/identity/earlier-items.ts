// `--fresh`: moves the items of the discarded crawl aside.
// Promise: nothing is deleted; folders that another machine may be writing to are kept and reported.
import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../observe/log.js';
import { asStorageError } from '../../store/storage-errors.js';
import type { PodsConfig } from '../config/types.js';

/** Renames `datasets` in every data directory unless other orchestrators share the crawl. */
export async function setItemsAside(
  config: Pick<PodsConfig, 'dataDirs' | 'pods' | 'ownPods'>,
  log: Log,
  now: () => Date = () => new Date(),
): Promise<void> {
  const time = now().toISOString().replace(/[:.]/g, '-');
  for (const dataDir of config.dataDirs) {
    const folder = join(dataDir, 'datasets');
    if (!(await stat(folder).catch(() => undefined))) continue;
    if (config.ownPods.length < config.pods.length) {
      log.warning(
        `${folder} still has the items of the earlier crawl: other machines may be writing there. Move it by hand.`,
      );
      continue;
    }
    const aside = `${folder}-before-${time}`;
    await rename(folder, aside).catch((error: unknown) => {
      throw asStorageError(error, folder);
    });
    log.info(`The items of the earlier crawl are now in ${aside}`);
  }
}
