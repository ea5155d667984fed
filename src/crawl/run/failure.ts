// A failed attempt: the verdict of the retry policy, the calls to user code, and the settlement.
// Whatever user code does with its request and context, there is exactly one settlement.
import { asCrawlError, CrawlError, type ErrorCode, HostRefusedError, SessionError } from '../../errors.js';
import { type Request, RequestState } from '../../request/request.js';
import { isoNow } from '../time.js';
import type { Fate } from './report/fate.js';
import { placeOf, stackOf } from './failure-place.js';
import { decideRetry, type Verdict } from './retry.js';
import type { BaseContext, CommonServices, Identity, VisitServices } from './services.js';
import type { FinishedVisit } from './settler.js';
import { withinMs } from './time-limit.js';
import { createTransaction } from './transaction.js';
import type { TurnEnd } from './turn.js';

/** Not the host's doing: the request goes back as it was. */
const BROKEN_OFF = new Set<ErrorCode>(['LEASE_LOST', 'ADDRESS_BUSY', 'FETCH_SLOW']);
/** Failures that another session may not meet. */
const RETIRING = new Set<ErrorCode>(['HTTP_BLOCKED', 'PROXY_FAILED']);

/** Like {@link endFailed}, with user code's changes to the request and its context: one settlement. */
export async function settleFailure<Context extends BaseContext>(
  ...failure: Parameters<typeof endFailed<Context>>
): Promise<FinishedVisit> {
  try {
    return await endFailed(...failure);
  } catch (thrown) {
    const [services, lease, error, request, , context, , , capture] = failure;
    const because = asCrawlError(thrown, 'HANDLER_FAILED').message;
    services.log.error(`${request.url}: failed (${error.code}), and user code left its request unusable: ${because}`);
    const page = fateOfFailure(services, request, error, context !== undefined, capture);
    return { settlement: { kind: 'failed', lease, reason: error.code }, items: [], page };
  }
}

async function endFailed<Context extends BaseContext>(
  services: VisitServices<Context>,
  lease: number,
  thrown: CrawlError,
  request: Request,
  identity: Identity,
  failedContext: Context | undefined,
  startedAtMs: number,
  advice?: TurnEnd,
  capture?: Fate['capture'],
): Promise<FinishedVisit> {
  // Nothing was sent, or we aborted it: treat it as never leased.
  if (services.signal.aborted || BROKEN_OFF.has(thrown.code)) {
    return { settlement: { kind: 'untouched', lease }, items: [] };
  }
  const error = advice?.error ?? thrown;
  const { session } = identity;
  if (error instanceof SessionError || RETIRING.has(error.code)) session?.retire();
  else session?.markBad();

  const verdict = decideRetry(error, request, services.limits, services.time.random, advice);
  if (verdict.kind === 'stop-crawl') {
    services.onFatal(error);
    return { settlement: { kind: 'untouched', lease }, items: [] };
  }
  request.pushErrorMessage(error);
  // A transaction of their own: the handler that failed may still be running, and must not add to it.
  const transaction = createTransaction(request.url);
  const context = succeed(failedContext, services.openContext(request, identity, transaction).context);
  try {
    const again = verdict.kind === 'fail' ? undefined : await prepareRetry(services, verdict, error, context);
    if (again === undefined) {
      request.state = RequestState.ERROR;
      request.handledAt = isoNow(services.time);
      const failure = await runUserErrorHandler(services, 'failed', context, error);
      if (failure && services.handlers.isFailedFatal) {
        services.onFatal(failure);
        return { settlement: { kind: 'untouched', lease }, items: [] };
      }
    }
    const { items, links } = transaction;
    const record = recordOf(services, request);
    services.onFailedAttempt?.(error.code, capture?.statusCode, again !== undefined);
    if (again !== undefined) {
      if (!(again >= 0)) throw new CrawlError('REQUEST_INVALID', `its retryCount is ${String(request.retryCount)}`);
      services.stats?.retryJob(error.code, userErrorOf(error));
      return { settlement: { kind: 'retry', lease, afterMs: again, record, links }, items };
    }
    return {
      settlement: { kind: 'failed', lease, reason: error.code, record, links },
      items,
      page: fateOfFailure(services, request, error, failedContext !== undefined, capture),
      onSettled: (held) => {
        if (held) {
          const durationMs = services.time.monotonicMs() - startedAtMs;
          services.stats?.failJob(durationMs, request.retryCount, error.code, userErrorOf(error));
        }
      },
    };
  } finally {
    transaction.close();
  }
}

/** What is recorded of a request that failed for good; user code may have made its fields unusable. */
function fateOfFailure(
  { fateOf, log }: CommonServices,
  request: Request,
  { code, message }: CrawlError,
  wasSent: boolean,
  capture: Fate['capture'],
): FinishedVisit['page'] {
  try {
    return fateOf?.(request, {
      kind: 'failed',
      code,
      message,
      attempts: request.retryCount + (wasSent ? 1 : 0),
      capture,
    });
  } catch (error) {
    log.error(`${request.url}: its fate cannot be recorded: ${(error as Error).message}`);
    return undefined;
  }
}

/** The context of the error handlers: all that the failed one had, but its own way to add things. */
function succeed<Context extends BaseContext>(failed: Context | undefined, context: Context): Context {
  if (!failed) return context;
  const inherited = Object.getOwnPropertyDescriptors(failed) as Record<string, PropertyDescriptor>;
  for (const name of Object.keys(context)) delete inherited[name];
  return Object.defineProperties(context, inherited);
}

/** The request as it is to be stored; undefined (as it was) when user code put something into it that cannot be. */
export function recordOf({ log }: CommonServices, request: Request): string | undefined {
  try {
    return request.toRecord();
  } catch (error) {
    log.error(`${request.url}: its changes cannot be stored: ${(error as Error).message}`);
    return undefined;
  }
}

/** Asks the user's errorHandler, counts the attempt; undefined when the handler forbade another one. */
async function prepareRetry<Context extends BaseContext>(
  services: VisitServices<Context>,
  verdict: Exclude<Verdict, { kind: 'fail' | 'stop-crawl' }>,
  error: CrawlError,
  context: Context,
): Promise<number | undefined> {
  const { request } = context;
  request.state = RequestState.ERROR_HANDLER;
  await runUserErrorHandler(services, 'error', context, error);
  if (request.noRetry) return undefined;
  request.state = RequestState.UNPROCESSED;
  request.left();
  const left = `${request.url} (${error.code}: ${error.message})`;
  if (verdict.kind === 'rotate-session') {
    request.sessionRotationCount++;
    services.log.debug(`Rotating the session of ${left}`);
    return 0;
  }
  if (verdict.isRetryAfter) {
    request.retryAfterCount++;
    services.log.debug(`Coming back when the host asked to: ${left}`);
    return verdict.afterMs;
  }
  request.retryCount++;
  services.log.warning(`Reclaiming failed request back to the list or queue: ${left}${stackOf(services.log, error)}`, {
    id: request.id,
    retryCount: request.retryCount,
    afterMs: verdict.afterMs,
  });
  return verdict.afterMs;
}

/** The user's code for failures; what it throws is logged and returned. */
async function runUserErrorHandler<Context extends BaseContext>(
  { handlers, log, time }: VisitServices<Context>,
  name: 'error' | 'failed',
  context: Context,
  error: CrawlError,
): Promise<CrawlError | undefined> {
  const userHandler = handlers[name];
  const { request } = context;
  if (!userHandler) {
    // A host whose URLs all fail without a request is reported once.
    if (name === 'failed' && !(error instanceof HostRefusedError)) {
      const isBug = error.code === 'HANDLER_FAILED';
      const what = `${error.code}: ${error.message}${isBug ? placeOf(error) : ''}`;
      const message = `Request failed and reached maximum retries: ${request.url} (${what})${stackOf(log, error)}`;
      log.error(message, { id: request.id, retryCount: request.retryCount });
    }
    return undefined;
  }
  try {
    await withinMs(
      time,
      handlers.timeoutMs,
      () => userHandler(context, userErrorOf(error)),
      () =>
        new CrawlError('HANDLER_TIMEOUT', `${HANDLER_NAMES[name]} did not end within ${handlers.timeoutMs / 1000} s`),
    );
    return undefined;
  } catch (thrown) {
    const failure = asCrawlError(thrown, 'HANDLER_FAILED');
    log.exception(failure, `${HANDLER_NAMES[name]} threw for ${request.url}`);
    return failure;
  }
}

/** Handlers expect what their code threw, not our wrapping of it. */
function userErrorOf(error: CrawlError): Error {
  return error.code === 'HANDLER_FAILED' && error.cause instanceof Error ? error.cause : error;
}

const HANDLER_NAMES = { error: 'errorHandler', failed: 'failedRequestHandler' } as const;
