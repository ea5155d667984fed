// The options of Crawlee's crawlers as ours: older names, its defaults where a script can tell, and what Crawlee 4 adds.
// Promise: nothing is changed in the object that the user gave.
import type { FurtherSignal } from '../../dispatch/system-load.js';
import { CrawlError } from '../../errors.js';
import { RequestQueue as OwnQueue } from '../../frontier/queue/request-queue.js';
import type { Awaitable, CrawlingContext } from '../../handle/context.js';
import { log as rootLog } from '../../observe/log.js';
import { evaluateLoadSignalSample, type LoadSignal } from '../load/signal.js';
import { RequestManagerTandem, type TandemList } from '../requests/request-manager-tandem.js';

/** Names that Crawlee 3 still takes, and what they are called. */
const OLDER_NAMES = {
  handleRequestFunction: 'requestHandler',
  handlePageFunction: 'requestHandler',
  handleFailedRequestFunction: 'failedRequestHandler',
  handleRequestTimeoutSecs: 'requestHandlerTimeoutSecs',
} as const;

/** Options under Crawlee's older names, which it still takes. */
export type OlderOptions = { [Name in keyof typeof OLDER_NAMES]?: unknown };

/** Options of Crawlee 4 that can live beside those of 3. */
export interface NewerOptions<Context> {
  /** Called before the navigation; what it returns is added to the context that hooks and the handler get. */
  extendContext?: ((context: Context) => Awaitable<object | undefined>) | undefined;
}

export type Handler = (context: CrawlingContext) => unknown;

/** Options by their present names, with what Crawlee does when nothing is said: a retry comes at once. */
export function crawleeOptions<Options extends object>(given: Options & OlderOptions): Options {
  const options: Record<string, unknown> = { ...given };
  for (const [old, name] of Object.entries(OLDER_NAMES)) {
    if (options[old] === undefined) continue;
    rootLog.deprecated(`The option "${old}" is called "${name}" now`);
    options[name] ??= options[old];
    delete options[old];
  }
  // A list and a queue over a client of the user's: the list goes through that queue, as in Crawlee.
  const { requestList, requestQueue } = options as { requestList?: TandemList; requestQueue?: object };
  if (requestList && requestQueue && !(requestQueue instanceof OwnQueue)) {
    options['requestManager'] = new RequestManagerTandem(requestList, requestQueue as OwnQueue);
    delete options['requestList'];
    delete options['requestQueue'];
  }
  if (options['retryDelayMs'] === undefined && options['maxRetryDelayMs'] === undefined) options['retryDelayMs'] = 0;
  return withLoadSignals(options) as Options;
}

interface PoolOptions {
  systemStatusOptions?: { loadSignals?: readonly LoadSignal[] };
}

/** Crawlee's signals give samples; ours say whether they are overloaded. */
function withLoadSignals(options: Record<string, unknown>): Record<string, unknown> {
  const pool = options['autoscaledPoolOptions'] as PoolOptions | undefined;
  const loadSignals = pool?.systemStatusOptions?.loadSignals?.map(judged);
  if (!loadSignals) return options;
  const systemStatusOptions = { ...pool!.systemStatusOptions, loadSignals };
  return { ...options, autoscaledPoolOptions: { ...pool, systemStatusOptions } };
}

function judged(signal: LoadSignal): FurtherSignal {
  if (typeof signal.getSample !== 'function') return signal as never;
  return {
    start: () => signal.start?.(),
    stop: () => signal.stop?.(),
    isOverloaded: (windowMs) =>
      evaluateLoadSignalSample(signal.getSample(windowMs), signal.overloadedRatio).isOverloaded,
  };
}

/**
 * Options whose handler is called as a method of the crawler. A router stays what it is, unless all handlers are wanted:
 * then the schemas and the time limits of labels still are the router's.
 */
export function asMethod<Options extends object>(options: Options, run: Handler, wantsAll: boolean): Options {
  const { requestHandler, router = requestHandler } = options as { requestHandler?: object; router?: object };
  const isRouter = typeof router !== 'function' || 'addHandler' in router;
  if (isRouter && !wantsAll) return options;
  const { schemas, getSchema, getTimeoutSecs } = (router ?? {}) as Record<string, unknown>;
  const method = router && isRouter ? Object.assign(run, { schemas, getSchema, getTimeoutSecs }) : run;
  return { ...options, router: undefined, requestHandler: method };
}

type Extend = (context: CrawlingContext) => Promise<void>;

/** Options without `extendContext`, which is called once per context: before the hooks, if there are any, or the handler. */
export function contextExtension<Options extends object>(
  given: Options,
  hasHooks: boolean,
): { options: Options; extend?: Extend } {
  const { extendContext, ...options } = given as Options & NewerOptions<CrawlingContext>;
  if (extendContext === undefined) return { options: given };
  if (typeof extendContext !== 'function') {
    throw new CrawlError(
      'OPTION_INVALID',
      'extendContext must be a function that returns what is added to the context',
    );
  }
  const extended = new WeakSet<object>();
  const extend: Extend = async (context) => {
    if (extended.has(context)) return;
    extended.add(context);
    const added = (await extendContext(context)) ?? {};
    Object.defineProperties(context, Object.getOwnPropertyDescriptors(added));
  };
  const { preNavigationHooks = [] } = options as { preNavigationHooks?: readonly unknown[] };
  const hooks = hasHooks ? { preNavigationHooks: [extend, ...preNavigationHooks] } : {};
  return { options: { ...options, ...hooks } as unknown as Options, extend };
}
