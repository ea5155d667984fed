// Chooses the proxy of a request: a list in turn, a function, or tiers that follow each domain's errors.
// Promise: a session keeps its proxy; wrong settings are refused by name before anything starts; error texts
// never contain a password.
import { parseUrl } from '../request/url.js';
import { CrawlError } from '../errors.js';
import { aFunction, check, checkOptions } from '../option-checks.js';
import { createProxyTiers } from './proxy-tiers.js';
import { createRecentMap } from './recent-map.js';

/** What the choice may look at; `Request` fits. */
export interface ProxyRequest {
  url: string;
  uniqueKey?: string;
  retryCount?: number;
  sessionRotationCount?: number;
}

export interface ProxyQuery<R extends ProxyRequest = ProxyRequest> {
  request?: R;
}

/** Gives the proxy URL for a session and request; null for a direct connection. */
export type ProxyConfigurationFunction = (
  sessionId: string | number,
  // Typed loosely so that functions written for the crawler's own Request fit.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  options?: { request?: any },
) => string | null | undefined | Promise<string | null | undefined>;

/** Which proxies are used, and how one is chosen. */
export interface ProxyConfigurationOptions {
  /** Used in turn; null is a direct connection. */
  proxyUrls?: readonly (string | null)[];
  newUrlFunction?: ProxyConfigurationFunction;
  /** From cheapest to best. A domain whose requests fail moves to the next tier and later tries the cheaper again. */
  tieredProxyUrls?: readonly (readonly (string | null)[])[];
}

/** The proxy of a request. */
export interface ProxyInfo {
  sessionId?: string;
  url: string;
  hostname: string;
  port: string;
  username?: string;
  password: string;
  proxyTier?: number;
}

type Choice = { readonly url: string | null; readonly tier?: number };

// More than any pool of sessions has at once, and than requests that are between two attempts.
const MAX_SESSIONS = 20_000;
const MAX_ATTEMPTS = 20_000;

/**
 * Where requests go through.
 *
 * @example
 * const proxyConfiguration = new ProxyConfiguration({ proxyUrls: ['http://user:secret@proxy.example:8000'] });
 * const url = await proxyConfiguration.newUrl('session_1');
 */
export class ProxyConfiguration {
  /** Whether TLS is opened by the proxy; set by who knows it. */
  isManInTheMiddle = false;
  readonly #choose: (sessionId: string | undefined, request: ProxyRequest | undefined) => Choice | Promise<Choice>;

  constructor(options: ProxyConfigurationOptions = {}) {
    checkOptions('ProxyConfiguration', options, {
      // Checked below, by messages that do not repeat the value: it may hold a password.
      proxyUrls: check('a list', () => true),
      newUrlFunction: aFunction,
      tieredProxyUrls: check('a list', () => true),
    });
    const given = (['proxyUrls', 'newUrlFunction', 'tieredProxyUrls'] as const).filter(
      (name) => options[name] !== undefined,
    );
    if (given.length === 0) throw invalid('ProxyConfiguration: give proxyUrls, newUrlFunction or tieredProxyUrls');
    if (given.length > 1) throw invalid(`ProxyConfiguration: ${given.join(' and ')} cannot be combined`);
    this.#choose = chooserOf(options);
  }

  /** The URL of the proxy for a session and request; undefined for a direct connection. */
  async newUrl(sessionId?: string | number, options?: ProxyQuery): Promise<string | undefined> {
    const { url } = await this.#choose(sessionName(sessionId), options?.request);
    return url ?? undefined;
  }

  /** The same in parts, as handlers see it in `proxyInfo`. */
  async newProxyInfo(sessionId?: string | number, options?: ProxyQuery): Promise<ProxyInfo | undefined> {
    const session = sessionName(sessionId);
    const { url, tier } = await this.#choose(session, options?.request);
    if (url === null) return undefined;
    const { hostname, port, protocol, username, password } = new URL(url);
    return {
      ...(session !== undefined && { sessionId: session }),
      url,
      hostname,
      port: port || (protocol === 'https:' ? '443' : '80'),
      ...(username !== '' && { username: decoded(username) }),
      password: decoded(password),
      ...(tier !== undefined && { proxyTier: tier }),
    };
  }
}

function chooserOf({ proxyUrls, newUrlFunction, tieredProxyUrls }: ProxyConfigurationOptions) {
  if (newUrlFunction !== undefined) return byFunction(newUrlFunction);
  if (tieredProxyUrls !== undefined) return byTier(tieredProxyUrls);
  return byTurn(checkedUrls(proxyUrls!, 'proxyUrls'));
}

function byTurn(urls: readonly (string | null)[]) {
  const ofSession = createRecentMap<string, Choice>(MAX_SESSIONS);
  let turn = 0;
  return (sessionId: string | undefined): Choice => {
    const kept = sessionId === undefined ? undefined : ofSession.get(sessionId);
    if (kept !== undefined) return kept;
    const choice = { url: urls[turn++ % urls.length]! };
    if (sessionId !== undefined) ofSession.set(sessionId, choice);
    return choice;
  };
}

function byFunction(newUrl: ProxyConfigurationFunction) {
  return async (sessionId: string | undefined, request: ProxyRequest | undefined): Promise<Choice> => {
    let url: string | null | undefined;
    try {
      // Crawlee's signature promises a session id; without sessions there is none to give.
      url = await newUrl(sessionId as string, request === undefined ? undefined : { request });
    } catch (cause) {
      throw invalid('ProxyConfiguration: newUrlFunction failed', cause);
    }
    return { url: url == null ? null : checkedUrl(url, 'what newUrlFunction gave') };
  };
}

function byTier(tieredUrls: readonly (readonly (string | null)[])[]) {
  checkFilled(tieredUrls, 'tieredProxyUrls');
  const turns = tieredUrls.map((urls, tier) => byTurn(checkedUrls(urls, `tieredProxyUrls[${tier}]`)));
  const tiers = createProxyTiers(turns.length);
  const attempts = createAttempts();

  return (sessionId: string | undefined, request: ProxyRequest | undefined): Choice => {
    // Without a request there is no domain to learn about.
    if (request === undefined) return { url: turns[0]!(sessionId).url, tier: 0 };
    const domain = hostOf(request.url);
    const failedTier = attempts.failedTier(request);
    if (failedTier !== undefined) tiers.failed(domain, failedTier);
    const tier = tiers.next(domain);
    attempts.made(request, tier);
    return { url: turns[tier]!(sessionId).url, tier };
  };
}

/** Remembers which tier the last attempt of a request got: asking for another one means that it failed. */
function createAttempts() {
  const last = createRecentMap<string, { attempt: number; tier: number }>(MAX_ATTEMPTS);
  const asked = new WeakSet<ProxyRequest>();
  const keyOf = (request: ProxyRequest) => request.uniqueKey ?? request.url;
  const attemptOf = (request: ProxyRequest) => (request.retryCount ?? 0) + (request.sessionRotationCount ?? 0);
  return {
    failedTier: (request: ProxyRequest): number | undefined => {
      const before = last.get(keyOf(request));
      // A queue gives a retried request as a new object: then its count tells. The same object asks once an attempt.
      const again = before !== undefined && (attemptOf(request) > before.attempt || asked.has(request));
      return again ? before.tier : undefined;
    },
    made: (request: ProxyRequest, tier: number): void => {
      asked.add(request);
      last.set(keyOf(request), { attempt: attemptOf(request), tier });
    },
  };
}

function sessionName(sessionId: string | number | undefined): string | undefined {
  return sessionId === undefined ? undefined : String(sessionId);
}

function hostOf(url: string): string {
  return parseUrl(url)?.hostname ?? '';
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function checkedUrls(urls: readonly (string | null)[], where: string): readonly (string | null)[] {
  checkFilled(urls, where);
  return urls.map((url, index) => (url === null ? null : checkedUrl(url, `${where}[${index}]`)));
}

/** The URL as given if it is one of a proxy we can speak to. The message leaves the URL out: it may hold a password. */
function checkedUrl(url: unknown, where: string): string {
  if (typeof url !== 'string' || !parseUrl(url)) throw invalid(`ProxyConfiguration: ${where} is not a URL`);
  const { protocol } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw invalid(`ProxyConfiguration: ${where} must be an http: or https: URL, got ${protocol}`);
  }
  return url;
}

function checkFilled(list: unknown, where: string): void {
  if (!Array.isArray(list) || list.length === 0) throw invalid(`ProxyConfiguration: ${where} must be a non-empty list`);
}

function invalid(message: string, cause?: unknown): CrawlError {
  return new CrawlError('OPTION_INVALID', message, cause === undefined ? undefined : { cause });
}
