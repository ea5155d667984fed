// A request: its URL, how to fetch it, and the user's data.
// Validated once when created; its unique key decides whether the queue has seen it.
import { createHash } from 'node:crypto';
import { type Fingerprint, fingerprintOf, fingerprintToId } from './fingerprint.js';
import { packRecord, unpackRecord } from './record.js';
import {
  type AllowedHttpMethods,
  type Dictionary,
  type Priority,
  type RequestOptions,
  RequestState,
  validateRequestOptions,
} from './request-options.js';
import { normalizeUrl } from './url.js';

export { RequestState, validateRequestOptions } from './request-options.js';
export type { AllowedHttpMethods, Dictionary, Priority, RequestOptions } from './request-options.js';

/** What `addRequests` and `run` take for one request. */
export type Source = string | RequestOptions | Request;

const NO_REDIRECTS: readonly string[] = Object.freeze([]);
const MAX_ERROR_MESSAGES = 20;
const MAX_ERROR_MESSAGE_LENGTH = 4_096;

/**
 * One URL to visit, with method, headers, label and user data.
 *
 * @example
 * const request = new Request({ url: 'https://example.com/a?b=1#top', label: 'DETAIL' });
 * request.uniqueKey; // 'https://example.com/a?b=1'
 */
export class Request<UserData extends Dictionary = Dictionary> {
  /** The URL to visit, http or https. */
  url: string;
  /** The HTTP method. Default GET. */
  method: AllowedHttpMethods;
  /** The body, for example of a POST. */
  payload: string | undefined;
  /** Sent with this request, to its own origin only. */
  headers: Record<string, string>;
  /** Data of yours that travels with the request and is there in its handler. JSON. */
  userData: UserData;
  /** How often it has been retried. */
  retryCount: number;
  /** How often it was tried again with another session because it was blocked. */
  sessionRotationCount: number;
  /** Retries of this request, in place of `maxRequestRetries` of the crawler. */
  maxRetries: number | undefined;
  /** A failure is final. Default false. */
  noRetry: boolean;
  /** The URL of the page after redirects; undefined before it was fetched. */
  loadedUrl: string | undefined;
  /** One message per failed attempt, the newest last; at most 20. */
  errorMessages: string[];
  /** The session to use; another one if the pool no longer has it. */
  sessionId: string | undefined;
  /** Runs the handler without fetching the page. Default false. */
  skipNavigation: boolean;
  /** The fragment (`#…`) is part of the unique key. Default false. */
  keepUrlFragment: boolean;
  /** Method and payload are part of the unique key: for POSTs to one URL. Default false. */
  useExtendedUniqueKey: boolean;
  /** Links between it and a start URL, which has 0. */
  crawlDepth: number;
  /** -2 (last) to 2 (first) within its domain. Default 0. */
  priority: Priority;
  /** Where a redirect may lead, as for links; elsewhere the request is skipped. */
  enqueueStrategy: RequestOptions['enqueueStrategy'];
  /** The URLs that redirected on the way to `loadedUrl`, in order; the first is `url`. Empty when none did. */
  redirectChain: readonly string[] = NO_REDIRECTS;
  /** Where it is in its life. */
  state: RequestState;
  /** When it was done or failed for good, as an ISO date. */
  handledAt: string | undefined;
  /** @internal */ seeded: boolean;
  /** @internal */ retryAfterCount: number;

  /** Given by the user, or worked out on first use. */
  #uniqueKey: string | undefined;
  #customKey: boolean;
  #fingerprint: Fingerprint | undefined;
  #hop: Hop | undefined;

  /** @param trusted skips validation; only for validated input, such as a stored record */
  constructor(options: RequestOptions<UserData>, trusted = false) {
    if (!trusted) validateRequestOptions(options);
    this.url = options.url;
    this.method = (options.method?.toUpperCase() ?? 'GET') as AllowedHttpMethods;
    this.payload = options.payload;
    this.headers = { ...options.headers };
    this.userData = { ...options.userData } as UserData;
    if (options.label !== undefined) this.label = options.label;
    this.retryCount = options.retryCount ?? 0;
    this.sessionRotationCount = options.sessionRotationCount ?? 0;
    this.maxRetries = options.maxRetries;
    this.noRetry = options.noRetry ?? false;
    this.loadedUrl = options.loadedUrl;
    this.errorMessages = options.errorMessages ? [...options.errorMessages] : [];
    this.sessionId = options.sessionId;
    this.skipNavigation = options.skipNavigation ?? false;
    this.keepUrlFragment = options.keepUrlFragment ?? false;
    this.useExtendedUniqueKey = options.useExtendedUniqueKey ?? false;
    this.crawlDepth = options.crawlDepth ?? 0;
    this.priority = options.priority ?? 0;
    this.enqueueStrategy = options.enqueueStrategy;
    this.state = options.state ?? RequestState.UNPROCESSED;
    this.handledAt = isoDate(options.handledAt);
    this.seeded = options.seeded ?? false;
    this.retryAfterCount = options.retryAfterCount ?? 0;
    this.#uniqueKey = options.uniqueKey;
    this.#customKey = options.uniqueKey != null;
  }

  /** What the queue deduplicates by. */
  get uniqueKey(): string {
    return (this.#uniqueKey ??= computeUniqueKey(this));
  }

  /** 64 bits of the key under which the queue has it: the unique key, or that of where a redirect led. */
  get fingerprint(): Fingerprint {
    return (this.#fingerprint ??= fingerprintOf(this.#hop ? hopKey(this.#hop, this) : this.uniqueKey));
  }

  /** @internal What is asked for: the URL, or where its last redirect led when that is a request of its own. */
  get target(): string {
    return this.#hop?.url ?? this.url;
  }

  /** @internal The page is there. `chain`: the redirects that were followed from `target` on. */
  arrived(loadedUrl: string, chain: readonly string[]): void {
    this.loadedUrl = loadedUrl;
    const before = this.#hop?.chain ?? NO_REDIRECTS;
    this.redirectChain = chain.length === 0 ? before : [...before, ...chain];
  }

  /** @internal It will be asked for again: what the last attempt found is forgotten. */
  left(): void {
    this.loadedUrl = undefined;
    this.redirectChain = this.#hop?.chain ?? NO_REDIRECTS;
  }

  /**
   * @internal The same request on its way to where a redirect led, to be queued as a request of its own: user code
   * knows it by the URL and the key that were asked for, the queue by those of the target.
   */
  redirectedTo(url: string, changes: Pick<RequestOptions, 'method' | 'payload' | 'headers' | 'sessionId'>): Request {
    const { userData, crawlDepth, priority, enqueueStrategy, maxRetries, noRetry, keepUrlFragment } = this;
    const kept = { userData, crawlDepth, priority, enqueueStrategy, maxRetries, noRetry, keepUrlFragment };
    const hasOwnKey = this.#customKey || this.useExtendedUniqueKey;
    const uniqueKey = hasOwnKey ? this.uniqueKey : undefined;
    const request = new Request({ ...kept, ...changes, url: this.url, uniqueKey }, true);
    const chain = [...(this.#hop?.chain ?? []), this.target];
    // The page itself once more, or a request that is more than its URL: the queue must not take it for one it knows.
    const isKnown = chain.some((one) => normalizeUrl(one, keepUrlFragment) === normalizeUrl(url, keepUrlFragment));
    const key = hasOwnKey || isKnown ? `redirect ${chain.length} of ${this.uniqueKey}` : undefined;
    request.#hop = { url, key, chain };
    request.redirectChain = chain;
    return request;
  }

  /** The request's id in any queue. */
  get id(): string {
    return fingerprintToId(this.fingerprint);
  }

  /** The router's discriminant; the same value as `userData.label`. */
  get label(): string | undefined {
    return this.userData.label as string | undefined;
  }

  set label(label: string | undefined) {
    (this.userData as Dictionary).label = label;
  }

  /** Adds the message of a failed attempt; the newest twenty are kept. */
  pushErrorMessage(thrown: unknown, options: { omitStack?: boolean } = {}): void {
    const { stack, message } = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as Partial<Error>;
    const text = String((options.omitStack ? undefined : stack) ?? message ?? thrown);
    this.errorMessages.push(text.slice(0, MAX_ERROR_MESSAGE_LENGTH));
    if (this.errorMessages.length > MAX_ERROR_MESSAGES) this.errorMessages.shift();
  }

  /** The packed form for the queue. */
  toRecord(): string {
    const customKey = this.#customKey ? this.#uniqueKey : undefined;
    if (!this.#hop) return packRecord(this, customKey);
    const { url, key, chain } = this.#hop;
    return packRecord({ ...this, url, redirectedFrom: chain, askedKey: customKey }, key);
  }

  /** The key that a request with these parts gets. */
  static computeUniqueKey(parts: UniqueKeyParts): string {
    return computeUniqueKey(parts);
  }

  /** The part of an extended key that stands for the payload. */
  static hashPayload(payload: string | Uint8Array): string {
    return hashPayload(payload);
  }

  /** The request behind a packed form. Trusted: it was validated before it was stored. */
  static fromRecord(record: string, priority: Priority = 0): Request {
    const options = unpackRecord(record);
    const { redirectedFrom: chain, askedKey, url, uniqueKey } = options;
    if (chain === undefined) {
      const request = new Request(options, true);
      request.priority = priority;
      return request;
    }
    const request = new Request({ ...options, url: chain[0]!, uniqueKey: askedKey }, true);
    request.#hop = { url, key: uniqueKey, chain };
    request.redirectChain = chain;
    request.priority = priority;
    return request;
  }

  /** @internal A request whose parts were checked and whose key was worked out before. */
  static ofLink(options: RequestOptions, uniqueKey: string, fingerprint: Fingerprint): Request {
    const request = new Request(options, true);
    request.#uniqueKey = uniqueKey;
    request.#fingerprint = fingerprint;
    return request;
  }

  /** All of it as options, from which an equal request can be made. */
  toJSON(): RequestOptions {
    return { id: this.id, ...this.#options(), uniqueKey: this.uniqueKey };
  }

  #options(): RequestOptions {
    return {
      url: this.url,
      method: this.method,
      payload: this.payload,
      headers: this.headers,
      userData: this.userData,
      retryCount: this.retryCount,
      sessionRotationCount: this.sessionRotationCount,
      maxRetries: this.maxRetries,
      noRetry: this.noRetry,
      loadedUrl: this.loadedUrl,
      errorMessages: this.errorMessages,
      sessionId: this.sessionId,
      skipNavigation: this.skipNavigation,
      keepUrlFragment: this.keepUrlFragment,
      useExtendedUniqueKey: this.useExtendedUniqueKey,
      crawlDepth: this.crawlDepth,
      priority: this.priority,
      enqueueStrategy: this.enqueueStrategy,
      state: this.state,
      handledAt: this.handledAt,
      seeded: this.seeded,
      retryAfterCount: this.retryAfterCount,
    };
  }
}

/** Where a redirect led, as the queue knows it. */
interface Hop {
  readonly url: string;
  /** Undefined: that of the URL. */
  readonly key: string | undefined;
  /** The URLs that redirected so far. */
  readonly chain: readonly string[];
}

function hopKey({ key, url }: Hop, { keepUrlFragment }: Request): string {
  return key ?? normalizeUrl(url, keepUrlFragment);
}

/** Crawlee takes a Date too. */
function isoDate(given: string | Date | undefined): string | undefined {
  return given instanceof Date ? given.toISOString() : given;
}

/** What makes one request the same as another. */
export interface UniqueKeyParts {
  /** Normalized first. */
  url: string;
  /** Counts with `useExtendedUniqueKey`; `GET` by default. */
  method?: string;
  /** Counts with `useExtendedUniqueKey`. */
  payload?: string | Uint8Array | undefined;
  /** Two fragments of a URL are two requests. */
  keepUrlFragment?: boolean;
  /** Method and payload are part of the key. */
  useExtendedUniqueKey?: boolean;
}

function computeUniqueKey({ url, method = 'GET', payload, ...wish }: UniqueKeyParts): string {
  const key = normalizeUrl(url, wish.keepUrlFragment);
  return wish.useExtendedUniqueKey ? `${method}(${payload ? hashPayload(payload) : ''}):${key}` : key;
}

function hashPayload(payload: string | Uint8Array): string {
  return createHash('sha256').update(payload).digest('base64').replace(/[+/=]/g, '').slice(0, 8);
}

/** The request that a source stands for. */
export function toRequest(source: Source): Request {
  if (source instanceof Request) return source;
  return new Request(typeof source === 'string' ? { url: source } : source);
}
