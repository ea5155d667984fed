// Tells of every request that leaves the machine: pages and robots.txt, answered or failed.
// Promise: reporting changes nothing; each request is reported once.
import { CrawlError } from '../../../errors.js';
import type { Engine } from '../../../fetch/engine.js';
import type { Time } from '../../time.js';

export interface FetchEvent {
  readonly kind: 'page' | 'robots';
  readonly url: string;
  readonly tookMs: number;
  /** The status, or the code of the error. */
  readonly result: string;
}

export type OnFetch = (event: FetchEvent) => void;

export function tellingEngine<E extends Pick<Engine, 'visit'>>(engine: E, time: Time, tell: OnFetch | undefined): E {
  if (!tell) return engine;
  return {
    ...engine,
    async visit(order, use) {
      const startedMs = time.monotonicMs();
      const kind = /^https?:\/\/[^/]+\/robots\.txt$/.test(order.url) ? 'robots' : 'page';
      let hasAnswer = false;
      try {
        return await engine.visit(order, (capture, live) => {
          const { url } = order;
          if (!hasAnswer) tell({ kind, url, tookMs: capture.timings.totalMs, result: String(capture.statusCode) });
          hasAnswer = true;
          return use(capture, live);
        });
      } catch (error) {
        const result = error instanceof CrawlError ? error.code : 'FETCH_FAILED';
        if (!hasAnswer) tell({ kind, url: order.url, tookMs: time.monotonicMs() - startedMs, result });
        throw error;
      }
    },
  };
}
