// One attempt at one URL of a batch, in terms of the crawl lifecycle: what its hooks, handlers and landings do.
// Promise: every URL ends in exactly one result; retries are the lifecycle's, refetches after 429 and 503 the limiter's.
import { setTimeout as delay } from 'node:timers/promises';
import type { Configuration } from '../configuration.js';
import { CrawlError, NonRetryableError, RetryRequestError } from '../errors.js';
import type { Capture, Engine } from '../fetch/engine.js';
import type { RateLimiter } from '../dispatch/rate-limiter.js';
import type { Landing } from '../frontier/frontier.js';
import type { ContextCrawler, CrawlingContext } from '../handle/context.js';
import type { Log } from '../observe/log.js';
import { isOverload } from '../politeness/delay.js';
import type { Request } from '../request/request.js';
import { domainOf } from '../request/url.js';
import { KeyValueStore } from '../store/key-value.js';
import type { AttemptHost, Navigate, Visit } from './attempt.js';
import { type Entry, indexOf, keyOf, sessionOf } from './batch-entries.js';
import { createPlainDeparture, endingOf } from './departure.js';
import { createHttpNavigation } from './http-visit.js';
import { resolveOptions } from './options.js';
import { retryAfterMs } from './retry.js';
import { Statistics } from './statistics.js';
import { withinMs } from './time-limit.js';
import type { WebCrawlerHooks } from './web-crawler-options.js';

export interface BatchHostParts {
  readonly engine: Engine;
  readonly config: Configuration;
  readonly log: Log;
  readonly hooks: WebCrawlerHooks;
  readonly limiter: RateLimiter | undefined;
  readonly allowHost: (url: string) => Promise<boolean>;
  readonly entryAt: (index: number) => Entry;
  /** The URL ended: with its page, or with an error. */
  readonly onEnd: (entry: Entry, error: CrawlError | undefined) => void;
  /** Tells the engine's wrapper whose order it has. */
  readonly claim: (signal: AbortSignal, entry: Entry) => void;
}

/** Every status reaches the handler, which has its own opinion. */
const ALL_ERROR_STATUSES = Array.from({ length: 600 }, (_, index) => 400 + index);
/** Statuses below 500 that may be gone at the next try. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);
/** Hooks are user code; they may not hold up a batch for longer. */
const HOOK_TIMEOUT_SECS = 60;
const ERROR_HOOK_TIMEOUT_MS = 30_000;
/** A host that asks for a longer rest than this gets this one. */
const MAX_PAUSE_MS = 3_600_000;

export function createBatchHost(parts: BatchHostParts): Omit<AttemptHost, 'land' | 'onFatal' | 'signal'> {
  const { limiter, hooks } = parts;
  const entryOf = (request: Request): Entry => parts.entryAt(indexOf(request.uniqueKey));
  const slots = new Map<Entry, (restMs: number) => void>();
  const options = resolveOptions('http', {
    additionalMimeTypes: ['*/*'],
    ignoreHttpErrorStatusCodes: ALL_ERROR_STATUSES,
    requestHandlerTimeoutSecs: HOOK_TIMEOUT_SECS,
    // Above 0, redirects are queued as requests of their own: another domain has its own pace.
    sameDomainDelaySecs: (limiter?.baseDelayMs[0] ?? 0) / 1000,
    preNavigationHooks: [
      ({ request }, order) => {
        const { config } = entryOf(request);
        if (config.userAgent !== undefined) order.headers['user-agent'] = config.userAgent;
        order.proxyUrl = config.proxy;
        order.timeoutMs = config.pageTimeoutMs;
        return hooks.beforeRequest?.(Object.assign(order, { url: request.url }));
      },
    ],
  });

  function dress({ request }: { request: Request }, capture: Capture): void {
    const entry = entryOf(request);
    entry.capture = capture;
    entry.redirected = request.hops > 0 || capture.redirectChain.length > 0;
  }

  /** The status decides whether the page is a success; what is thrown goes through the lifecycle's retry policy. */
  function requestHandler({ request }: CrawlingContext): void | Promise<void> {
    const entry = entryOf(request);
    return hooks.afterResponse ? tellAndJudge(entry, hooks.afterResponse) : judge(entry);
  }

  async function tellAndJudge(entry: Entry, afterResponse: NonNullable<WebCrawlerHooks['afterResponse']>) {
    const { statusCode, loadedUrl, headers } = entry.capture!;
    await afterResponse({ url: entry.url, loadedUrl, statusCode, headers });
    judge(entry);
  }

  function judge(entry: Entry): void {
    const { statusCode, loadedUrl } = entry.capture!;
    if (statusCode < 400) return;
    const message = `${loadedUrl} answered ${statusCode}`;
    if (limiter?.codes.includes(statusCode)) {
      if (entry.refetches >= limiter.maxRetries) throw new NonRetryableError(message, { code: 'HTTP_STATUS' });
      entry.refetches++;
      throw new RetryRequestError(message, { code: 'HTTP_STATUS' });
    }
    if (statusCode >= 500 || TRANSIENT_STATUSES.has(statusCode)) throw new CrawlError('HTTP_STATUS', message);
    throw new NonRetryableError(message, { code: 'HTTP_STATUS' });
  }

  /** Before a retry: refetches do not count, and a visit that used up its time is not tried again. */
  async function errorHandler({ request }: CrawlingContext, error: Error): Promise<void> {
    const entry = entryOf(request);
    const isRefetch = error instanceof RetryRequestError;
    if (isRefetch) request.maxRetries = (request.maxRetries ?? 0) + 1;
    else if (performance.now() - entry.attemptStartedAtMs >= entry.config.pageTimeoutMs) request.noRetry = true;
    entry.capture = undefined;
    await tellOfError(error, entry, !request.noRetry);
  }

  /** Bounded here: a hook that hangs must not keep the result from coming. */
  async function tellOfError(error: Error, entry: Entry, willRetry: boolean): Promise<void> {
    if (!hooks.onError) return;
    await withinMs(
      ERROR_HOOK_TIMEOUT_MS,
      () => hooks.onError!(error, { url: entry.url, attempt: entry.attempts, willRetry }),
      () => new CrawlError('HANDLER_TIMEOUT', `onError did not end within ${ERROR_HOOK_TIMEOUT_MS / 1000} s`),
    );
  }

  async function failedRequestHandler({ request }: CrawlingContext, error: Error): Promise<void> {
    const entry = entryOf(request);
    const failure = error instanceof CrawlError ? error : new CrawlError('HANDLER_FAILED', error.message);
    // A timeout after a first answer is no answer.
    if (failure.code !== 'HTTP_STATUS') entry.capture = undefined;
    try {
      if (!request.noRetry) await tellOfError(error, entry, false);
    } finally {
      parts.onEnd(entry, failure);
    }
  }

  function landing(request: Request, capture: Capture & { readonly cacheStatus?: string }) {
    const entry = entryOf(request);
    // Read from the cache: the domain was not asked.
    if (capture.cacheStatus === 'hit') {
      release(entry, 0);
      return undefined;
    }
    const asked = retryAfterMs(capture.headers['retry-after'], Date.now());
    const byRules = entry.departure?.landed(endingOf(capture)).landing ?? {};
    const pauseMs = asked === undefined || !isOverload(capture.statusCode) ? 0 : Math.min(asked, MAX_PAUSE_MS);
    const byLimiter = limiter?.afterResponse(domainOf(request.url), capture.statusCode, asked) ?? { pauseMs };
    const rest = longerOf(byRules, byLimiter);
    release(entry, Math.max(rest.delayMs ?? 0, rest.pauseMs ?? 0));
    return rest;
  }

  function release(entry: Entry, restMs: number): void {
    slots.get(entry)?.(restMs);
    slots.delete(entry);
  }

  const httpParts = {
    engine: parts.engine,
    options,
    allowHost: parts.allowHost,
    dress,
    userAgentFor: () => options.userAgent,
    onStatus: () => undefined,
    landing,
    redirectKey: (request: Request) => keyOf(indexOf(request.uniqueKey), request.hops + 1),
  };
  const navigateFreely = createHttpNavigation(httpParts);
  // Where a redirect leads, the robots.txt there comes first: it is queued and passes the gate, too.
  const navigatePolitely = options.polite
    ? navigateFreely
    : createHttpNavigation({ ...httpParts, options: { ...options, polite: true } });

  const navigate: Navigate = async (visit, handle) => {
    const entry = entryOf(visit.request);
    const abortion = (entry.abortion = new AbortController());
    parts.claim(abortion.signal, entry);
    entry.isShed = false;
    entry.attempts++;
    entry.attemptStartedAtMs = performance.now();
    entry.rest = (capture) => restBetween(visit, capture, abortion.signal);
    const http = entry.config.respectRobots ? navigatePolitely : navigateFreely;
    try {
      if (limiter) slots.set(entry, await slotOf(limiter, domainOf(visit.request.url), abortion.signal));
      const arrival = await http({ ...visit, signal: abortion.signal }, handle);
      if (arrival.kind === 'handled') parts.onEnd(entry, undefined);
      if (arrival.kind === 'refused')
        parts.onEnd(entry, new CrawlError('REDIRECT_INVALID', `leads to ${arrival.target}`));
      return arrival;
    } catch (error) {
      // Taken away from it, not failed: the lifecycle puts it back as it was.
      if (entry.isShed) throw new CrawlError('LEASE_LOST', 'broken off to free memory', { cause: error });
      throw error;
    } finally {
      release(entry, limiter?.baseDelayMs[0] ?? 0);
      entry.abortion = undefined;
      entry.departure = undefined;
      entry.rest = undefined;
    }
  };

  /** As long as before another URL of the domain. */
  async function restBetween(
    visit: Visit,
    capture: Capture & { readonly cacheStatus?: string },
    signal: AbortSignal,
  ): Promise<void> {
    if (capture.cacheStatus === 'hit') return;
    const byLimiter = limiter?.afterResponse(domainOf(visit.request.url), capture.statusCode, undefined);
    await Promise.all([visit.rest(endingOf(capture)), delay(byLimiter?.delayMs ?? 0, undefined, { signal })]);
  }

  return {
    crawler: undefined as never as ContextCrawler,
    log: parts.log,
    queue: { isKnown: () => false, glance: () => 'new', paceBy: 'domain' },
    maxCrawlDepth: 0,
    roomForRequests: () => 0,
    onSkipped: () => undefined,
    openKeyValueStore: (name) => KeyValueStore.open(name, { config: parts.config }),
    useState: async (initial) => initial ?? ({} as never),
    sendRequest: () => Promise.reject(new CrawlError('OPTION_INVALID', 'hooks of a batch send no requests')),
    limits: options,
    handlerTimeoutMs: options.requestHandlerTimeoutMs,
    navigate,
    requestHandler,
    errorHandler,
    failedRequestHandler,
    sessionPool: { getSession: async (id?: string) => sessionOf(parts.entryAt(indexOf(id ?? ''))) } as never,
    proxyConfiguration: undefined,
    stats: new Statistics(),
    random: Math.random,
    forgetsEnded: true,
    departure: createPlainDeparture(MAX_PAUSE_MS, options.sameDomainDelayMs),
  };
}

/** Of two opinions how a domain rests, the longer of each kind. */
function longerOf(one: Rest, other: Rest): Rest {
  const delayMs = Math.max(one.delayMs ?? -1, other.delayMs ?? -1);
  const pauseMs = Math.max(one.pauseMs ?? 0, other.pauseMs ?? 0);
  return { ...(delayMs < 0 ? {} : { delayMs }), ...(pauseMs > 0 ? { pauseMs } : {}) };
}

type Rest = Pick<Landing, 'delayMs' | 'pauseMs'>;

/** The limiter's slot of a domain, or an error when the attempt is broken off meanwhile. */
async function slotOf(limiter: RateLimiter, domain: string, signal: AbortSignal): Promise<(restMs: number) => void> {
  const slot = limiter.takeSlot(domain);
  const broken = new Promise<undefined>((resolve) =>
    signal.addEventListener('abort', () => resolve(undefined), { once: true }),
  );
  const release = await Promise.race([slot, broken]);
  if (release) return release;
  void slot.then((late) => late(0));
  throw new CrawlError('ABORTED', 'broken off while waiting for its domain');
}
