// The small functions that handlers reach for, also grouped as Crawlee's `utils` object.
// The crawl layer adds what needs a crawl (`enqueueLinks`, `log`) and passes in what fetches.
import { setTimeout as delay } from 'node:timers/promises';
import { parseOpenGraph } from './open-graph.js';
import * as social from './social.js';
import { createListDownloader, extractUrls } from './url-lists.js';
import type { FetchText } from './url-lists.js';

/** Longer timers fire at once in Node. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Waits. Anything but a positive number of milliseconds means: go on at the next turn of the event loop.
 *
 * @example
 * await sleep(1_500);
 */
export async function sleep(millis?: number): Promise<void> {
  await delay(typeof millis === 'number' && millis > 0 ? Math.min(millis, LONGEST_TIMER_MS) : 0);
}

/** The tools, with downloads by `fetchText`. */
export function createToolbox(fetchText: FetchText) {
  return Object.freeze({
    sleep,
    social,
    extractUrls,
    downloadListOfUrls: createListDownloader(fetchText),
    parseOpenGraph,
  });
}
