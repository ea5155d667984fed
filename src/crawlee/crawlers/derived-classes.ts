// Protected methods of Crawlee's crawlers that derived classes override: which of them are called here, and a warning about
// those that are not. Promise: a crawler whose class overrides none of them has no hook and no call more.
import type { BasicCrawlerOptions, CrawlerKind } from '../../crawl/options/options.js';
import type { CrawlingContext, ErrorHandler } from '../../handle/context.js';
import { type Log, log as rootLog } from '../../observe/log.js';
import type { Handler } from './crawler-options.js';

const OURS = new WeakSet<object>();

/** Says that a class is one of ours: what classes below it define is an override. */
export function markOwn(prototype: object): void {
  OURS.add(prototype);
}

/** Whether a class derived from ours defines a method. */
export function isOverridden(prototype: object, name: string): boolean {
  for (let one = prototype; !OURS.has(one); one = Object.getPrototypeOf(one) as object) {
    if (Object.hasOwn(one, name)) return true;
  }
  return false;
}

/** What every kind of crawler calls. */
const CALLED = ['_cleanupContext', '_getMessageFromError', '_init', '_runRequestHandler'];
const CALLED_OVER_HTTP = [...CALLED, '_applyCookies', '_parseHTML'];
const CALLED_BY_KIND: Readonly<Record<CrawlerKind, readonly string[]>> = {
  basic: CALLED,
  http: CALLED_OVER_HTTP,
  cheerio: CALLED_OVER_HTTP,
  file: CALLED_OVER_HTTP,
  playwright: [...CALLED, '_applyCookies', '_navigationHandler'],
  adaptive: CALLED,
};

/** Methods of Crawlee's crawlers, protected there. */
const PROTECTED = [
  ...CALLED_OVER_HTTP,
  '_augmentContextWithDeprecatedError',
  '_canRequestBeRetried',
  '_defaultIsFinishedFunction',
  '_encodeResponse',
  '_enhanceCrawlingContextWithPageInfo',
  '_executeHooks',
  '_extendLaunchContext',
  '_extendSupportedMimeTypes',
  '_fetchNextRequest',
  '_getCookieHeaderFromRequest',
  '_getRequestOptions',
  '_handleFailedRequestHandler',
  '_handleNavigation',
  '_handleNavigationTimeout',
  '_handleRequestTimeout',
  '_isTaskReadyFunction',
  '_loadHandledRequestCount',
  '_navigationHandler',
  '_parseHtmlToDom',
  '_parseResponse',
  '_pauseOnMigration',
  '_requestFunction',
  '_requestFunctionErrorHandler',
  '_responseHandler',
  '_runTaskFunction',
  '_throwIfProxyError',
  '_throwOnBlockedRequest',
  '_timeoutAndRetry',
  'addCrawlDepthRequestGenerator',
  'calculateEnqueuedRequestLimit',
  'commitResult',
  'delayRequest',
  'enqueueLinksWithCrawlDepth',
  'getRobotsTxtFileForUrl',
  'handleSkippedRequest',
  'isProxyError',
  'isRequestBlocked',
  'requestMatchesEnqueueStrategy',
  'runRequestHandlerInBrowser',
  'runRequestHandlerWithPlainHTTP',
  'validateRequestUserData',
];

/** Warns once about each method that a derived class defines and that its crawler does not call. */
export function warnOfUncalled(prototype: object, kind: CrawlerKind): void {
  const called = CALLED_BY_KIND[kind];
  for (const name of PROTECTED) {
    if (called.includes(name) || !isOverridden(prototype, name)) continue;
    const { name: owner } = (prototype as { constructor: { name: string } }).constructor;
    rootLog.warningOnce(`${owner}.${name}() is not called: see "Different on purpose" in docs/from-crawlee.md`);
  }
}

/** What a crawler calls of its derived class, beside the handler. */
export interface DerivedCalls<Context> {
  readonly log: Log;
  cleanUp?: ((context: Context) => Promise<void>) | undefined;
  messageOf(error: Error): string;
  /** Whether `messageOf` is the derived class's own. */
  readonly tellsFailures: boolean;
}

/** The crawler's handler, which cleans up after a visit that went well. */
export function cleaningUp<Context>(run: Handler, calls: () => DerivedCalls<Context>): Handler {
  return async (context) => {
    await run(context);
    await cleanUp(calls(), context as Context);
  };
}

/** Options whose handlers of failures clean up, and tell of a failure in the words of the derived class. */
export function withFailureCalls<Context extends CrawlingContext>(
  options: BasicCrawlerOptions<Context>,
  calls: () => DerivedCalls<Context>,
): BasicCrawlerOptions<Context> {
  const { errorHandler: failedOnce, failedRequestHandler: failedForGood } = options;
  const errorHandler: ErrorHandler<Context> = async (context, error) => {
    try {
      await failedOnce?.(context, error);
    } finally {
      await cleanUp(calls(), context);
    }
  };
  const failedRequestHandler: ErrorHandler<Context> = async (context, error) => {
    const { log, messageOf, tellsFailures } = calls();
    const { id, url, method, uniqueKey } = context.request;
    // With no handler of the user's, the crawler itself would have said so.
    if (tellsFailures || !failedForGood) {
      log.error(`Request failed and reached maximum retries: ${messageOf(error)}`, { id, url, method, uniqueKey });
    }
    try {
      await failedForGood?.(context, error);
    } finally {
      await cleanUp(calls(), context);
    }
  };
  return { ...options, errorHandler, failedRequestHandler };
}

/** What has gone wrong with the visit, or right, stays so. */
async function cleanUp<Context>({ cleanUp: clean, log }: DerivedCalls<Context>, context: Context): Promise<void> {
  try {
    await clean?.(context);
  } catch (error) {
    log.exception(error as Error, '_cleanupContext() failed');
  }
}

/** What a log says of an error: its message and the line of the project; the whole stack of what looks like a bug. */
export function messageFromError(error: Error, showsStack = false): string {
  const { message = String(error), stack, name } = error;
  const isVerbose = Boolean(process.env['CRAWLEE_VERBOSE_LOG']);
  if (name === 'TimeoutError') return isVerbose ? (stack ?? message) : message;
  const isBug = [TypeError, SyntaxError, ReferenceError].some((type) => error instanceof type);
  if (isVerbose || showsStack || isBug) return stack ?? message;
  const folder = process.cwd();
  const line = stack?.split('\n').find((one) => one.includes(folder) && !one.includes('node_modules'));
  return line === undefined ? message : `${message}\n${line}`;
}
