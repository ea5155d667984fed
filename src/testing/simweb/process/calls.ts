// The language between a synthetic web in its own process and the process that started it.
// Arguments and results are plain data; the log stays where the requests are seen.
import type { RequestFilter } from '../log.js';
import type { SimwebOptions } from '../knobs.js';
import type { ServedAnswer } from '../respond.js';
import type { Simweb } from '../simweb.js';

/** What the parent may ask for. */
export const calls = {
  served: (web: Simweb, host?: number) => web.served(host),
  requests: (web: Simweb, filter?: RequestFilter) => web.requests(filter),
  gaps: (web: Simweb, host: number) => web.gaps(host),
  gapsByHost: (web: Simweb) => web.log.gapsByHost(),
  maxInWindow: (web: Simweb, windowMs: number, host?: number) => web.maxInWindow(windowMs, host),
  statuses: (web: Simweb) => web.log.statuses(),
  openRequests: (web: Simweb) => web.openRequests,
  peakOpen: (web: Simweb, host?: number) => web.peakOpen(host),
  dropped: (web: Simweb) => web.log.dropped,
  connections: (web: Simweb) => web.connections,
  serve: (web: Simweb, path: string, answer: ServedAnswer, host?: number) => web.serve(path, answer, host),
  changesOf: (web: Simweb, host: number, page: number) => web.changesOf(host, page),
  touch: (web: Simweb, host: number, page: number) => web.touch(host, page),
  reset: (web: Simweb) => web.reset(),
  cpuUsage: (_web: Simweb) => process.cpuUsage(),
} as const;
export type Calls = typeof calls;

export type ToChild =
  | { readonly kind: 'start'; readonly options: SimwebOptions }
  | { readonly kind: 'call'; readonly id: number; readonly name: keyof Calls; readonly args: readonly unknown[] };

export type FromChild =
  | { readonly kind: 'started'; readonly ports: Simweb['ports']; readonly certificate: string | undefined }
  | { readonly kind: 'failed'; readonly message: string; readonly code: string | undefined }
  | { readonly kind: 'result'; readonly id: number; readonly value?: unknown; readonly error?: string };
