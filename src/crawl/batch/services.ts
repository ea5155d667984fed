// The services of an attempt at one URL of a batch: its task as context, the crawler's hooks, the batch's rules.
// Promise: every URL ends in exactly one result; status, pace and retries are those of every crawl.
import type { RateLimiter } from '../../dispatch/rate-limiter.js';
import { CrawlError } from '../../errors.js';
import type { Engine } from '../../fetch/engine.js';
import type { Log } from '../../observe/log.js';
import type { Request } from '../../request/request.js';
import { isCacheable } from '../browser/page-config.js';
import { createHttpSide } from '../navigate/http-side.js';
import { cookiesOf, createNavigation, type NavigationRules } from '../navigate/navigate.js';
import type { CacheAsk, CrawlOrder, PageOrder } from '../navigate/order.js';
import { checkStatus, type StatusRules } from '../navigate/status.js';
import { DEFAULT_MAX_BODY_BYTES } from '../options/options.js';
import type { Time } from '../time.js';
import { defaultUserAgent } from '../user-agent.js';
import type { Navigate, Visit } from '../run/attempt.js';
import type { BaseContext, PlacedServices } from '../run/services.js';
import { withinMs } from '../run/time-limit.js';
import { createPlainTurn } from '../run/turn.js';
import { joinedCookies } from '../../session/cookie-file.js';
import type { Cookies } from '../../session/cookies.js';
import type { Session } from '../../session/session.js';
import type { WebCrawlerHooks } from '../options/web-crawler-options.js';
import { documentWish, type ModelSchema, type ResolvedRunConfig } from './run-config.js';
import { type BatchTask, indexOf, sessionOf } from './tasks.js';

/** The context of a visit of a batch. */
export interface BatchContext extends BaseContext {
  readonly task: BatchTask;
}

export interface BatchServicesParts {
  readonly engine: Engine<object, CrawlOrder>;
  readonly log: Log;
  readonly time: Time;
  readonly hooks: WebCrawlerHooks;
  readonly cookies?: Cookies | undefined;
  readonly limiter: RateLimiter | undefined;
  readonly allowHost: (url: string) => Promise<boolean>;
  readonly taskAt: (index: number) => BatchTask;
  /** The URL ended: with its page, or with an error. */
  readonly onEnd: (task: BatchTask, error: CrawlError | undefined) => void;
}

/** Hooks are user code; they may not hold up a batch for longer. */
const HOOK_TIMEOUT_MS = 60_000;
const ERROR_HOOK_TIMEOUT_MS = 30_000;
/** A handler is a hook, or a model that is asked about a long page in parts. */
const HANDLER_TIMEOUT_MS = 600_000;
/** A host that asks for a longer rest than this is not waited for. */
export const MAX_DELAY_MS = 3_600_000;
/** How often a URL comes back because its host asked it to. */
const MAX_RETRY_AFTERS = 3;
const LIMITS = {
  maxRequestRetries: 0,
  maxSessionRotations: 10,
  retryDelayMs: 1_000,
  maxRetryDelayMs: 60_000,
  maxRetryAfters: MAX_RETRY_AFTERS,
};

export function createBatchServices(parts: BatchServicesParts): PlacedServices<BatchContext> {
  const { limiter, hooks, time } = parts;
  const delayMs = limiter?.baseDelayMs[0] ?? 0;
  const status: StatusRules = {
    ignoreHttpErrorStatusCodes: [],
    additionalHttpErrorStatusCodes: limiter?.codes ?? [],
    blockedStatusCodes: [],
    retryOnBlocked: false,
    failsFrom400: true,
  };
  const rules: NavigationRules = {
    // The handler asks, once the hooks have run.
    status: undefined,
    maxRedirects: 10,
    navigationTimeoutMs: 0,
    hookTimeoutMs: HOOK_TIMEOUT_MS,
    maxBodyBytes: DEFAULT_MAX_BODY_BYTES,
    ignoreTlsErrors: false,
    stream: false,
    persistCookiesPerSession: true,
    redirects: delayMs > 0 ? 'report' : 'follow',
    additionalMimeTypes: [],
  };
  const side = createHttpSide<object>({
    rules,
    preNavigationHooks: [
      ({ task, request }: BatchContext, order: Parameters<NonNullable<WebCrawlerHooks['beforeRequest']>>[0]) => {
        const { userAgent, proxy, pageTimeoutMs } = task.config;
        if (userAgent !== undefined) order.headers['user-agent'] = userAgent;
        order.proxyUrl = proxy;
        order.timeoutMs = pageTimeoutMs;
        return hooks.beforeRequest?.(Object.assign(order, { url: request.target }));
      },
    ],
    postNavigationHooks: [],
    userAgentFor: defaultUserAgent,
    acceptsMarkdown: ({ context }) => taskOf(context).config.acceptMarkdown === true,
    checksType: false,
    documents: ({ context }) => documentWish(taskOf(context).config),
    add: ({ context }, capture) => void (taskOf(context).capture = capture),
    more: orderParts,
  });

  /** What its config asks of the cache, of the page and of redirects. */
  function orderParts(visit: Visit): Partial<CrawlOrder> {
    const task = taskOf(visit.context);
    const { config } = task;
    return {
      cache: cacheAskOf(config),
      ...(config.ignoreSslErrors && { ignoreTlsErrors: true }),
      ...(parts.cookies && { cookies: withCookies(sessionOf(task), parts.cookies) }),
      ...(config.hasBrowser && { page: pageOrderOf(config), again: visit.again }),
      // Where a redirect leads, the robots.txt there comes first: it is queued and passes the gate, too.
      ...(config.respectRobots && { redirects: 'report' as const }),
      onBegin: () => void (task.attemptStartedAtMs = time.monotonicMs()),
    };
  }

  /** The status decides whether the page is a success. */
  function requestHandler({ task }: BatchContext): void | Promise<void> {
    const { afterResponse } = hooks;
    if (task.config.extract?.engine === 'model') return checkAndAsk(task, task.config.extract);
    return afterResponse ? tellAndCheck(task, afterResponse) : checkStatus(task.capture!, undefined, status);
  }

  /** Only a page that is there is worth a question. */
  async function checkAndAsk(task: BatchTask, { engine: _, ...extraction }: ModelSchema): Promise<void> {
    if (hooks.afterResponse) await tellAndCheck(task, hooks.afterResponse);
    else checkStatus(task.capture!, undefined, status);
    const [{ extractWithModel }, { createResultContent }] = await Promise.all([
      import('../model/extract.js'),
      import('../page/result-content.js'),
    ]);
    const { fit, raw } = createResultContent(task.capture!, task.config).markdown;
    task.modelled = await extractWithModel(fit || raw, extraction);
  }

  async function tellAndCheck(task: BatchTask, afterResponse: NonNullable<WebCrawlerHooks['afterResponse']>) {
    const { statusCode, loadedUrl, headers } = task.capture!;
    await withinMs(
      time,
      HOOK_TIMEOUT_MS,
      () => afterResponse({ url: task.url, loadedUrl, statusCode, headers }),
      () => new CrawlError('HANDLER_TIMEOUT', `afterResponse did not end within ${HOOK_TIMEOUT_MS / 1000} s`),
    );
    checkStatus(task.capture!, undefined, status);
  }

  /** Before a retry: a visit that used up its time is not tried again. */
  async function errorHandler({ request, task }: BatchContext, error: Error): Promise<void> {
    if (time.monotonicMs() - task.attemptStartedAtMs >= task.config.pageTimeoutMs) request.noRetry = true;
    task.capture = undefined;
    await tellOfError(error, task, !request.noRetry);
  }

  /** Bounded here: a hook that hangs must not keep the result from coming. */
  async function tellOfError(error: Error, task: BatchTask, willRetry: boolean): Promise<void> {
    if (!hooks.onError) return;
    await withinMs(
      time,
      ERROR_HOOK_TIMEOUT_MS,
      () => hooks.onError!(error, { url: task.url, attempt: task.attempts, willRetry }),
      () => new CrawlError('HANDLER_TIMEOUT', `onError did not end within ${ERROR_HOOK_TIMEOUT_MS / 1000} s`),
    );
  }

  async function failedRequestHandler({ request, task }: BatchContext, error: Error): Promise<void> {
    const failure = error instanceof CrawlError ? error : new CrawlError('HANDLER_FAILED', error.message);
    // A timeout after a first response is not a response.
    if (failure.code !== 'HTTP_STATUS') task.capture = undefined;
    try {
      if (!request.noRetry) await tellOfError(error, task, false);
    } finally {
      parts.onEnd(task, failure);
    }
  }

  const navigateTo = createNavigation({ engine: parts.engine, rules, sideOf: () => side, allowHost: parts.allowHost });

  const navigate: Navigate = async (visit, handle) => {
    const task = taskOf(visit.context);
    const attempt = task.begin(time.monotonicMs());
    try {
      const arrival = await navigateTo({ ...visit, signal: attempt.abortion.signal }, handle);
      if (arrival.kind === 'handled') {
        task.redirectChain = visit.request.redirectChain;
        parts.onEnd(task, undefined);
      }
      return arrival;
    } catch (error) {
      // Taken away from it, not failed: the lifecycle puts it back as it was.
      if (attempt.isShed) throw new CrawlError('LEASE_LOST', 'aborted to free memory', { cause: error });
      task.redirectChain = visit.request.redirectChain;
      throw error;
    } finally {
      task.attempt = undefined;
    }
  };

  const taskFor = (request: Request) => parts.taskAt(indexOf(request.uniqueKey));
  return {
    log: parts.log,
    navigate,
    handlers: {
      timeoutMs: HANDLER_TIMEOUT_MS,
      request: requestHandler,
      error: errorHandler,
      failed: failedRequestHandler,
    },
    identity: { bind: async (request) => ({ session: sessionOf(taskFor(request)), proxyInfo: undefined }) },
    turn: { plain: createPlainTurn(MAX_DELAY_MS, delayMs), isPaced: delayMs > 0 },
    limits: LIMITS,
    time,
    openContext: (request) => ({ context: { request, log: parts.log, task: taskFor(request) } }),
    forgetsEnded: true,
  };
}

function taskOf(context: BaseContext): BatchTask {
  return (context as BatchContext).task;
}

/** What a URL's own session has, over what all begin with. */
function withCookies(session: Session, shared: Cookies): CrawlOrder['cookies'] {
  const own = cookiesOf(session, true);
  return { ...own, cookieHeader: (url) => joinedCookies(shared.header(url), own.cookieHeader(url)) };
}

function cacheAskOf(config: ResolvedRunConfig): CacheAsk | undefined {
  if (!isCacheable(config)) return undefined;
  const { cacheMode, cacheTtlSecs = Infinity, validate } = config;
  return { mode: cacheMode, ttlMs: cacheTtlSecs * 1000, validate };
}

function pageOrderOf(config: ResolvedRunConfig): PageOrder {
  return { ...config, reads: 'shown', goto: { waitUntil: config.waitUntil ?? 'domcontentloaded' } };
}
