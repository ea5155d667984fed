// The process's resident memory for the results of a batch: read at most ten times a second, however many URLs end.
import type { Time } from '../time.js';

const EVERY_MS = 100;

/** Reads memory in MB; the reading may be a tenth of a second old. */
export function createMemoryGauge(time: Time): () => number {
  let atMs = -Infinity;
  let memoryMb = 0;
  return () => {
    const nowMs = time.monotonicMs();
    if (nowMs - atMs >= EVERY_MS) {
      atMs = nowMs;
      memoryMb = Math.round(process.memoryUsage.rss() / 1e5) / 10;
    }
    return memoryMb;
  };
}
