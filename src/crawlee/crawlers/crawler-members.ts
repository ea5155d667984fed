// What classes derived from Crawlee's crawlers read of their options: protected there, so declared nowhere here.
import type { BasicCrawlerOptions } from '../../crawl/options/options.js';

/** Longer timers fire at once in Node. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** The least time that Crawlee gives its own work on a request. */
const LEAST_INTERNAL_MS = 300_000;

/** The options of a crawler under the names of Crawlee's members. */
export function crawlerMembers(options: BasicCrawlerOptions<never>): Record<string, unknown> {
  const handlerMs = (options.requestHandlerTimeoutSecs ?? 60) * 1_000;
  return {
    requestHandlerTimeoutMillis: Math.min(handlerMs, MAX_TIMER_MS),
    internalTimeoutMillis: Math.min(Math.max(2 * handlerMs, LEAST_INTERNAL_MS), MAX_TIMER_MS),
    maxRequestRetries: options.maxRequestRetries ?? 3,
    maxSessionRotations: options.maxSessionRotations ?? 10,
    maxRequestsPerCrawl: options.maxRequestsPerCrawl,
    maxCrawlDepth: options.maxCrawlDepth,
    sameDomainDelayMillis: (options.sameDomainDelaySecs ?? 0) * 1_000,
    autoscaledPoolOptions: { ...options.autoscaledPoolOptions },
    sessionPoolOptions: { ...options.sessionPoolOptions },
    useSessionPool: options.useSessionPool ?? true,
    retryOnBlocked: options.retryOnBlocked ?? false,
    errorHandler: options.errorHandler,
    failedRequestHandler: options.failedRequestHandler,
  };
}
