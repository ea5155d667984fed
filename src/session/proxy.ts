// Chooses the proxy of a request: from a list in turn, by a function, or by tiers that follow each domain's errors.
// Promise: a session keeps its proxy; invalid settings are rejected by name before anything starts; error texts
// never contain a password.
import { isProxyUrl, PROXY_PROTOCOLS } from '../request/proxy-url.js';
import { percentDecoded } from '../request/percent-decoded.js';
import { hostOf, parseUrl } from '../request/url.js';
import { CrawlError } from '../errors.js';
import { aFunction, check, checkOptions } from '../option-checks.js';
import { createProxyTiers } from './proxy-tiers.js';
import { createRecentMap } from '../base/recent-map.js';

/** The input of the choice; `Request` fits. */
export interface ProxyRequest {
  /** What is to be fetched. */
  url: string;
  /** Identifies the request in its queue. */
  uniqueKey?: string;
  /** How often it was tried before. */
  retryCount?: number;
  /** How often its session was changed because it was blocked. */
  sessionRotationCount?: number;
}

export interface ProxyQuery<R extends ProxyRequest = ProxyRequest> {
  /** The request that the proxy is for. */
  request?: R;
  /** With `tieredProxyUrls`: the tier, 0 first, whatever its domain had before. */
  proxyTier?: number;
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
  /** Chooses the proxy of each new session; in place of lists. Null: no proxy. */
  newUrlFunction?: ProxyConfigurationFunction;
  /** From cheapest to best. A domain whose requests fail moves to the next tier and later tries the cheaper again. */
  tieredProxyUrls?: readonly (readonly (string | null)[])[];
}

/** The proxy of a request. */
export interface ProxyInfo {
  /** The session that the proxy was chosen for. */
  sessionId?: string;
  /** The whole URL, with user name and password. */
  url: string;
  /** Its host. */
  hostname: string;
  /** Its port; empty for the default of its scheme. */
  port: string;
  /** Decoded; empty without one. */
  username: string;
  /** Decoded; empty without one. */
  password: string;
  /** With `tieredProxyUrls`: the tier it is from, 0 first. */
  proxyTier?: number;
}

type Choice = { readonly url: string | null; readonly tier?: number };

// More than any pool has sessions, or a crawl has requests between attempts.
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
  readonly #options: ProxyConfigurationOptions;
  readonly #choose: (sessionId: string | undefined, query?: ProxyQuery) => Choice | Promise<Choice>;

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
    if (given.length === 0) {
      const ways = 'proxyUrls, newUrlFunction or tieredProxyUrls';
      throw invalid(`ProxyConfiguration: give ${ways} (see docs/from-crawlee.md)`);
    }
    if (given.length > 1) throw invalid(`ProxyConfiguration: ${given.join(' and ')} cannot be combined`);
    this.#options = options;
    this.#choose = chooserOf(options);
  }

  // For derived classes. Getters, since a field would show its passwords wherever the object is printed.
  /** The list as it was given. */
  protected get proxyUrls(): ProxyConfigurationOptions['proxyUrls'] {
    return this.#options.proxyUrls;
  }

  /** The tiers as they were given. */
  protected get tieredProxyUrls(): ProxyConfigurationOptions['tieredProxyUrls'] {
    return this.#options.tieredProxyUrls;
  }

  /** The URL of the proxy for a session and request; undefined for a direct connection. */
  async newUrl(sessionId?: string | number, options?: ProxyQuery): Promise<string | undefined> {
    const { url } = await this.#choose(sessionName(sessionId), options);
    return url ?? undefined;
  }

  /** The same in parts, as handlers see it in `proxyInfo`. */
  async newProxyInfo(sessionId?: string | number, options?: ProxyQuery): Promise<ProxyInfo | undefined> {
    const session = sessionName(sessionId);
    const { url, tier } = await this.#chosen(sessionId, options);
    if (url === null) return undefined;
    const { hostname, port, protocol, username, password } = new URL(url);
    return {
      ...(session !== undefined && { sessionId: session }),
      url,
      hostname,
      port: port || (protocol === 'https:' ? '443' : '80'),
      username: percentDecoded(username),
      password: percentDecoded(password),
      ...(tier !== undefined && { proxyTier: tier }),
    };
  }

  /** As `newUrl` says, which a derived class may have overridden; a tier is known only where it is chosen. */
  async #chosen(sessionId: string | number | undefined, options: ProxyQuery | undefined): Promise<Choice> {
    if (this.#options.tieredProxyUrls) return this.#choose(sessionName(sessionId), options);
    const url = await this.newUrl(sessionId, options);
    return { url: url == null ? null : checkedUrl(url, 'the result of newUrl()') };
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
  return async (sessionId: string | undefined, { request }: ProxyQuery = {}): Promise<Choice> => {
    let url: string | null | undefined;
    try {
      // Crawlee's signature promises a session id; without sessions there is none to give.
      url = await newUrl(sessionId as string, request === undefined ? undefined : { request });
    } catch (cause) {
      throw invalid('ProxyConfiguration: newUrlFunction failed', cause);
    }
    return { url: url == null ? null : checkedUrl(url, 'the result of newUrlFunction') };
  };
}

function byTier(tieredUrls: readonly (readonly (string | null)[])[]) {
  checkFilled(tieredUrls, 'tieredProxyUrls');
  const turns = tieredUrls.map((urls, tier) => byTurn(checkedUrls(urls, `tieredProxyUrls[${tier}]`)));
  const ofAny = byTurn(tieredUrls.flat());
  const tiers = createProxyTiers(turns.length);
  const attempts = createAttempts();

  return (sessionId: string | undefined, { request, proxyTier }: ProxyQuery = {}): Choice => {
    if (proxyTier !== undefined) {
      const turn = turns[proxyTier];
      if (!turn) throw invalid(`ProxyConfiguration: there is no tier ${String(proxyTier)} of ${turns.length}`);
      return { url: turn(sessionId).url, tier: proxyTier };
    }
    // Without a request there is no domain to learn about: all take turns.
    if (request === undefined) return ofAny(undefined);
    const domain = hostOf(request.url);
    const failedTier = attempts.failedTier(request);
    if (failedTier !== undefined) tiers.failed(domain, failedTier);
    const tier = tiers.next(domain);
    attempts.made(request, tier);
    return { url: turns[tier]!(sessionId).url, tier };
  };
}

/** Remembers the tier of a request's last attempt: asking for another means that it failed. */
function createAttempts() {
  const last = createRecentMap<string, { attempt: number; tier: number }>(MAX_ATTEMPTS);
  const asked = new WeakSet<ProxyRequest>();
  const keyOf = (request: ProxyRequest) => request.uniqueKey ?? request.url;
  const attemptOf = (request: ProxyRequest) => (request.retryCount ?? 0) + (request.sessionRotationCount ?? 0);
  return {
    failedTier: (request: ProxyRequest): number | undefined => {
      const before = last.get(keyOf(request));
      // A retried request from a queue is a new object: then its retry count tells. The same object asks once per attempt.
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

function checkedUrls(urls: readonly (string | null)[], where: string): readonly (string | null)[] {
  checkFilled(urls, where);
  return urls.map((url, index) => (url === null ? null : checkedUrl(url, `${where}[${index}]`)));
}

/** The URL as given if it is one of a proxy we can speak to. The message leaves the URL out: it may hold a password. */
function checkedUrl(url: unknown, where: string): string {
  const parsed = typeof url === 'string' ? parseUrl(url) : undefined;
  if (!parsed) throw invalid(`ProxyConfiguration: ${where} is not a URL`);
  if (isProxyUrl(parsed)) return url as string;
  throw invalid(`ProxyConfiguration: ${where} must be an ${PROXY_PROTOCOLS} URL, got ${parsed.protocol}`);
}

function checkFilled(list: unknown, where: string): void {
  if (!Array.isArray(list) || list.length === 0) throw invalid(`ProxyConfiguration: ${where} must be a non-empty list`);
}

function invalid(message: string, cause?: unknown): CrawlError {
  return new CrawlError('OPTION_INVALID', message, cause === undefined ? undefined : { cause });
}
