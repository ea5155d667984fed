// What a crawl left out, and why: a line per URL in a dataset of its own (--explain-skips).
// Promise: a page may lead to 100,000 such links, so they are written in portions; a kill loses a second of them at most.
import type { SkippedRequestCallback } from '../../index.js';

type SkippedItem = Parameters<SkippedRequestCallback>[0];

export interface SkipsWriter {
  /** Resolves at once while there is room. */
  add(item: SkippedItem): Promise<void>;
  /** Writes what is left. */
  flush(): Promise<void>;
}

const PORTION = 1_000;
const LONGEST_WAIT_MS = 1_000;

export function createSkipsWriter(
  push: (items: SkippedItem[]) => Promise<void>,
  onError: (error: unknown) => void,
): SkipsWriter {
  let waiting: SkippedItem[] = [];
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const items = waiting;
    waiting = [];
    if (items.length > 0) await push(items);
  }

  return {
    async add(item) {
      waiting.push(item);
      if (waiting.length >= PORTION) return flush();
      timer ??= setTimeout(() => void flush().catch(onError), LONGEST_WAIT_MS).unref();
    },
    flush,
  };
}
