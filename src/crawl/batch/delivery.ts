// Gives out the results of a batch, compared with earlier visits and with each other where the run asks for it.
// Promise: compared results come one after another in the order of their ends; the first of several alike is the original.
import { asCrawlError, type CrawlError } from '../../errors.js';
import type { WholeMemory } from '../../fresh/memory/memory.js';
import { createBatchCopies, simhashOfResult } from './copies.js';
import type { CrawlResult } from './crawl-result.js';
import { createBatchMemory } from './remembered.js';
import type { ResolvedRunConfig } from './run-config.js';
import type { BatchTask } from './tasks.js';

interface DeliveryParts {
  readonly config: ResolvedRunConfig;
  readonly openMemory: (name: string) => Promise<WholeMemory>;
  readonly nowMs: () => number;
  readonly onResult: (result: CrawlResult, index: number) => void;
  /** A store failed; nothing can be compared any more. */
  readonly onFailure: (error: CrawlError) => void;
}

export interface Delivery {
  give(result: CrawlResult, task: BatchTask): void;
  /** No more results come out. */
  stop(): void;
  /** Resolves when all that was given is out, with what failed first. */
  ended(): Promise<CrawlError | undefined>;
  close(): Promise<void>;
}

export function createDelivery({ config, openMemory, nowMs, onResult, onFailure }: DeliveryParts): Delivery {
  const copies = config.duplicates === 'keep' ? undefined : createBatchCopies(nowMs);
  const pages = memory();
  let delivering: Promise<void> = Promise.resolve();
  let failure: CrawlError | undefined;
  let isOver = false;

  function memory() {
    if (!config.remember) return undefined;
    const { name = 'default', versions = false } = config.remember === true ? {} : config.remember;
    return createBatchMemory({ open: () => openMemory(name), nowMs, keepsVersions: versions });
  }

  async function deliver(result: CrawlResult, { index, capture, config: own }: BatchTask): Promise<void> {
    if (isOver) return;
    const seen = await pages?.see(result, capture, own);
    const simhash = copies && simhashOfResult(result);
    const original = simhash && (await copies.see(String(index), result.url, simhash));
    if (seen?.change) result.markChange(seen.change);
    if (original) result.markCopyOf(original);
    if (isOver) return;
    if (!original || config.duplicates !== 'skip') onResult(result, index);
    seen?.keep();
  }

  return {
    give(result, task) {
      if (!copies && !pages) return onResult(result, task.index);
      delivering = delivering
        .then(() => deliver(result, task))
        .catch((error: unknown) => onFailure((failure ??= asCrawlError(error, 'STORAGE_UNWRITABLE'))));
    },
    stop: () => void (isOver = true),
    async ended() {
      await delivering;
      return failure;
    },
    async close() {
      await copies?.close();
      await pages?.close();
    },
  };
}
