// Turns the user's options into the crawl's options: validated, with defaults, frozen.
// Promise: all problems are reported in one error before anything starts; the rest of the code trusts the result.
import { mediaTypeOf } from '../../base/media-type.js';
import { RequestQueue } from '../../frontier/queue/request-queue.js';
import { LIMITS } from '../../limits.js';
import { findProblems, optionError, warnOnce } from '../../option-checks.js';
import type { Shape, Warn } from '../../option-checks.js';
import type { AnyData } from '../../handle/context.js';
import type { TrapOptions } from '../../politeness/traps/traps.js';
import { CRAWLER_ALIASES, withoutAliases } from '../../setting-names.js';
import { defaultUserAgent } from '../user-agent.js';
import { identityConflicts } from '../../session/identity/rules.js';
import { encodingLabel, CRAWLER_NAMES, SHAPES } from './options-shapes.js';
import { blockedLoopMs } from '../run/loop-blocks.js';
import { findOrderConflicts, orderOptions } from '../order/options.js';
import { slowHostOptions } from '../run/slow-hosts.js';
import type { CrawlerKind } from './options-shapes.js';
import { browserCrawlOptions, findBrowserProblems } from '../browser/playwright-options.js';
import type { PlaywrightCrawlerOptions } from '../browser/playwright-options.js';
import type {
  BasicCrawlerOptions,
  CheerioCrawlerOptions,
  FileDownloadOptions,
  HttpCrawlerOptions,
  RememberOptions,
} from './options-types.js';

export type * from './options-types.js';
export type { CrawlerKind } from './options-shapes.js';

export interface OptionsOfKind {
  basic: BasicCrawlerOptions<AnyData>;
  http: HttpCrawlerOptions<AnyData>;
  cheerio: CheerioCrawlerOptions<AnyData>;
  file: FileDownloadOptions<AnyData>;
  playwright: PlaywrightCrawlerOptions<AnyData>;
  adaptive: PlaywrightCrawlerOptions<AnyData>;
}

/** Options with every default applied. Durations in milliseconds; "no limit" is Infinity. */
export type ResolvedOptions = Readonly<ReturnType<typeof withDefaults>>;

export const DEFAULT_MAX_BODY_BYTES = LIMITS.bodyBytes.max;
/** Of one process to one address: many small sites share one. */
const POLITE_CONNECTIONS = 20;
const DEFAULT_BLOCKED_STATUS_CODES = [401, 403, 429];
/** Crawlee's: a stream is handled while it downloads, so one deadline covers both. */
const STREAM_TIMEOUT_SECS = 120;
/** Longer timers fire at once in Node. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Checks the options of a crawler and applies the defaults.
 *
 * @example
 * resolveOptions('cheerio', { maxConcurrency: 'ten' });
 * // OPTION_INVALID: CheerioCrawler option "maxConcurrency" must be a whole number from 1, got "ten"
 */
export function resolveOptions<Kind extends CrawlerKind>(
  kind: Kind,
  asGiven: OptionsOfKind[Kind] = {} as OptionsOfKind[Kind],
  warn?: Warn,
): ResolvedOptions {
  const owner = CRAWLER_NAMES[kind];
  const problems = findProblems(owner, asGiven, SHAPES[kind], warn);
  // Options that are wrong alone are left out of what is compared with others.
  const sound = problems.length === 0 ? asGiven : soundOnes(asGiven, SHAPES[kind]);
  const { options: given, problems: doubles } = withoutAliases(owner, sound, CRAWLER_ALIASES);
  problems.push(...doubles);
  if (usesBrowser(kind)) problems.push(...findBrowserProblems(owner, given as PlaywrightCrawlerOptions));
  problems.push(...findConflicts(owner, given as FileDownloadOptions<AnyData>));
  if (problems.length > 0) throw optionError(problems);
  warnOfExperiments(owner, given.experiments ?? {}, warn);
  return Object.freeze(withDefaults(kind, given as FileDownloadOptions<AnyData>));
}

/** The options that are right by themselves. */
function soundOnes<Options extends object>(given: Options, shape: Shape): Options {
  if (typeof given !== 'object' || given === null) return {} as Options;
  return Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => findProblems('', { [name]: value }, shape, () => undefined).length === 0,
    ),
  ) as Options;
}

function usesBrowser(kind: CrawlerKind): boolean {
  return kind === 'playwright' || kind === 'adaptive';
}

function withDefaults(kind: CrawlerKind, given: FileDownloadOptions<AnyData>) {
  const pool = given.autoscaledPoolOptions ?? {};
  const minConcurrency = given.minConcurrency ?? pool.minConcurrency ?? 1;
  const streams = given.streamHandler !== undefined;
  const navigationTimeoutSecs =
    given.navigationTimeoutSecs ?? (streams ? STREAM_TIMEOUT_SECS : usesBrowser(kind) ? 60 : 30);
  const handlerTimeoutSecs = given.requestHandlerTimeoutSecs ?? (streams ? navigationTimeoutSecs : 60);
  const useSessionPool = given.useSessionPool ?? true;
  return {
    kind,
    /** Undefined for crawlers without a browser. */
    browser: usesBrowser(kind) ? browserCrawlOptions(given as PlaywrightCrawlerOptions) : undefined,
    /** Whether the user named the user agent. */
    hasOwnUserAgent: given.userAgent !== undefined,
    /** The public class, for messages and the log's prefix. */
    owner: CRAWLER_NAMES[kind],
    requestHandler: given.requestHandler ?? given.router,
    streamHandler: given.streamHandler,
    errorHandler: given.errorHandler,
    failedRequestHandler: given.failedRequestHandler,
    preNavigationHooks: frozenList(given.preNavigationHooks),
    postNavigationHooks: frozenList(given.postNavigationHooks),
    maxRequestRetries: given.maxRequestRetries ?? 3,
    maxSessionRotations: given.maxSessionRotations ?? 10,
    retryDelayMs: given.retryDelayMs ?? Math.min(1_000, given.maxRetryDelayMs ?? Infinity),
    maxRetryDelayMs: given.maxRetryDelayMs ?? Math.max(60_000, given.retryDelayMs ?? 0),
    requestHandlerTimeoutMs: timerMs(handlerTimeoutSecs),
    navigationTimeoutMs: timerMs(navigationTimeoutSecs),
    maxRequestsPerCrawl: given.maxRequestsPerCrawl ?? Infinity,
    maxCrawlDepth: given.maxCrawlDepth ?? Infinity,
    maxRequestsPerMinute: given.maxRequestsPerMinute ?? pool.maxTasksPerMinute ?? Infinity,
    minConcurrency,
    maxConcurrency: given.maxConcurrency ?? pool.maxConcurrency ?? Math.max(200, minConcurrency),
    autoscaledPoolOptions: Object.freeze({ ...pool }),
    ...orderOptions(given),
    ...polite(given),
    ...slowHostOptions(given),
    blockedLoopMs: blockedLoopMs(given.blockedLoopSecs),
    useSessionPool,
    sessionPoolOptions: Object.freeze({ ...given.sessionPoolOptions }),
    persistCookiesPerSession: useSessionPool && (given.persistCookiesPerSession ?? true),
    proxyConfiguration: given.proxyConfiguration,
    retryOnBlocked: given.retryOnBlocked ?? false,
    blockedStatusCodes: frozenList(
      given.blockedStatusCodes ?? given.sessionPoolOptions?.blockedStatusCodes ?? DEFAULT_BLOCKED_STATUS_CODES,
    ),
    ignoreHttpErrorStatusCodes: frozenList(given.ignoreHttpErrorStatusCodes),
    additionalHttpErrorStatusCodes: frozenList(given.additionalHttpErrorStatusCodes),
    ...fresh(given),
    ...sourcesOf(given),
    /** How the default queue is opened. */
    queueAccess: given.experiments?.requestLocking === true ? ('shared' as const) : ('owner' as const),
    keepAlive: given.keepAlive ?? false,
    onSkippedRequest: given.onSkippedRequest,
    ignoreSslErrors: given.ignoreSslErrors ?? false,
    allowPrivateAddresses: privateAddresses(given.allowPrivateAddresses),
    allowPrivateSeeds: given.allowPrivateSeeds ?? true,
    userAgent: given.userAgent ?? defaultUserAgent(),
    maxBodyBytes: given.maxBodyBytes ?? (kind === 'file' ? LIMITS.downloadBytes.max : DEFAULT_MAX_BODY_BYTES),
    maxRedirects: given.maxRedirects ?? 10,
    httpClient: given.httpClient,
    impersonateWithRobots: given.impersonateWithRobots ?? false,
    useHeaderGenerator: given.useHeaderGenerator ?? false,
    headerGeneratorOptions: given.headerGeneratorOptions,
    http2: given.http2 ?? false,
    /** In lower case, without parameters. FileDownload: every type. */
    additionalMimeTypes:
      kind === 'file' ? frozenList(['*/*']) : frozenList(given.additionalMimeTypes?.map(mediaTypeOf)),
    documents: kind !== 'file' && (given.documents ?? false),
    acceptMarkdown: kind !== 'file' && (given.acceptMarkdown ?? false),
    suggestResponseEncoding: given.suggestResponseEncoding && encodingLabel(given.suggestResponseEncoding),
    forceResponseEncoding: given.forceResponseEncoding && encodingLabel(given.forceResponseEncoding),
    log: given.log,
    statusMessageLoggingIntervalMs: timerMs(given.statusMessageLoggingInterval ?? 10),
    statusMessageCallback: given.statusMessageCallback,
    statisticsOptions: Object.freeze({ ...given.statisticsOptions }),
  };
}

/** A queue of another kind, such as one over a Crawlee storage client, is a source that is moved into the crawl's own. */
function sourcesOf(given: FileDownloadOptions<AnyData>) {
  // A list before a queue of ours: the crawl works on that queue itself, or it would wait for what the manager holds.
  const pair = given.requestManager as Pick<typeof given, 'requestList' | 'requestQueue'> | undefined;
  const isPair = pair?.requestList !== undefined && pair.requestQueue instanceof RequestQueue;
  const { requestQueue, requestList } = isPair ? pair : given;
  const requestManager = isPair ? undefined : given.requestManager;
  const isOwn = requestQueue instanceof RequestQueue;
  return {
    requestQueue: isOwn ? requestQueue : undefined,
    requestList,
    requestManager: requestManager ?? (isOwn ? undefined : requestQueue),
  };
}

/** What is remembered of pages; undefined: nothing. */
function fresh({ remember, duplicates = 'keep', onChange }: FileDownloadOptions<AnyData>) {
  const isOn = (remember ?? false) !== false || duplicates !== 'keep';
  const given: RememberOptions = typeof remember === 'object' ? remember : {};
  const {
    name = 'default',
    revisit = false,
    handleUnchanged = false,
    versions = false,
    hints = false,
    continues = false,
    plan,
  } = given;
  return {
    remember: isOn ? Object.freeze({ name, revisit, handleUnchanged, versions, hints, continues, plan }) : undefined,
    duplicates,
    onChange,
  };
}

/** Options that are fine alone and wrong together. */
function findConflicts(owner: string, given: FileDownloadOptions<AnyData>): string[] {
  const conflicts = [...findOrderConflicts(owner, given), ...identityConflicts(owner, given)];
  const together = (first: keyof FileDownloadOptions, second: keyof FileDownloadOptions, advice: string) => {
    if (given[first] === undefined || given[second] === undefined) return;
    conflicts.push(`${owner} options "${first}" and "${second}" cannot be combined: ${advice}`);
  };
  together('requestHandler', 'router', 'give the router as either of them');
  together('streamHandler', 'requestHandler', 'a file is either streamed or read whole');
  together('streamHandler', 'router', 'a file is either streamed or read whole');
  together('requestManager', 'requestQueue', 'a request manager is the only source of requests');
  together('requestManager', 'requestList', 'a request manager is the only source of requests');
  if (given.blockedStatusCodes !== undefined && given.sessionPoolOptions?.blockedStatusCodes !== undefined) {
    conflicts.push(`${owner} option "blockedStatusCodes" is also in "sessionPoolOptions": give it once`);
  }
  if (given.persistCookiesPerSession === true && given.useSessionPool === false) {
    conflicts.push(`${owner} option "persistCookiesPerSession" needs sessions, and "useSessionPool" is false`);
  }
  if (given.onChange !== undefined && (given.remember ?? false) === false && (given.duplicates ?? 'keep') === 'keep') {
    conflicts.push(`${owner} option "onChange" needs "remember": without a memory nothing can be compared`);
  }
  const least = given.minConcurrency ?? given.autoscaledPoolOptions?.minConcurrency ?? 1;
  const most = given.maxConcurrency ?? given.autoscaledPoolOptions?.maxConcurrency ?? Infinity;
  if (least > most) {
    conflicts.push(`${owner} option "minConcurrency" (${least}) must not be above "maxConcurrency" (${most})`);
  }
  if (given.retryDelayMs !== undefined && given.retryDelayMs > (given.maxRetryDelayMs ?? Infinity)) {
    conflicts.push(
      `${owner} option "retryDelayMs" (${given.retryDelayMs}) must not be above "maxRetryDelayMs" (${given.maxRetryDelayMs})`,
    );
  }
  return conflicts;
}

function warnOfExperiments(owner: string, experiments: object, warn?: Warn): void {
  for (const name of Object.keys(experiments)) {
    if (name === 'requestLocking') continue;
    warnOnce(
      `experiments.${name}`,
      `${owner} option "experiments.${name}" has no effect (see docs/from-crawlee.md)`,
      warn,
    );
  }
}

function polite(given: FileDownloadOptions<AnyData>) {
  const { respectRobotsTxtFile: robots = false, sameDomainDelaySecs = 0 } = given;
  const isPolite = robots !== false || sameDomainDelaySecs > 0;
  const agent = typeof robots === 'object' ? robots.userAgent : undefined;
  return {
    sameDomainDelayMs: sameDomainDelaySecs * 1_000,
    /** Robots rules, nofollow and rests of overloaded hosts are observed. */
    polite: isPolite,
    /** The name under which robots.txt is read; undefined when it is not. */
    robotsAgent: robots === false ? undefined : (agent ?? given.userAgent ?? defaultUserAgent()),
    robotsCacheTtlMs: (given.robotsCacheTtlSecs ?? 86_400) * 1_000,
    maxDelayMs: (given.maxDelaySecs ?? 3_600) * 1_000,
    adaptiveDelay: given.adaptiveDelay ?? 0,
    paceBy: given.paceBy ?? ('domain' as const),
    traps: trapOptions(given.traps ?? isPolite, isPolite),
    maxRequestsPerHost: given.maxRequestsPerHost ?? Infinity,
    maxRequestsPerDomain: given.maxRequestsPerDomain ?? Infinity,
    maxSameContent: given.maxSameContent ?? Infinity,
    domains: Object.freeze({ ...given.domains }),
    maxConnectionsPerAddress: given.maxConnectionsPerAddress ?? (isPolite ? POLITE_CONNECTIONS : Infinity),
  };
}

/** A polite crawl does not multiply a site by its session ids. */
function trapOptions(given: boolean | TrapOptions, isPolite: boolean): TrapOptions | false {
  if (given === false) return false;
  return Object.freeze({ refuseSessionIds: isPolite, ...(given === true ? {} : given) });
}

function privateAddresses(given: FileDownloadOptions['allowPrivateAddresses'] = false): boolean | readonly string[] {
  return typeof given === 'boolean' ? given : frozenList(given);
}

function frozenList<Item>(items: readonly Item[] = []): readonly Item[] {
  return Object.freeze([...items]);
}

export function timerMs(seconds: number): number {
  return Math.min(seconds * 1_000, MAX_TIMER_MS);
}
