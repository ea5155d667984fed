// Builds the context that hooks and handlers of one attempt get. Functions work when destructured; what
// they add goes into the attempt's transaction, so it counts only if the visit does.
import { entryOf } from '../frontier/entry.js';
import type { RequestQueue } from '../frontier/request-queue.js';
import type { ContextCrawler, CrawlingContext, SendRequestOptions, SentResponse } from '../handle/context.js';
import {
  absoluteUrls,
  type BatchAddRequestsResult,
  checkEnqueueLinksOptions,
  type EnqueueLinksOptions,
  selectLinks,
  type SkippedRequestCallback,
  type SkipReason,
} from '../handle/enqueue-links.js';
import type { Log } from '../observe/log.js';
import { fingerprintToId } from '../request/fingerprint.js';
import type { Request } from '../request/request.js';
import { type Dictionary, type Source, toRequest } from '../request/request.js';
import type { ProxyInfo } from '../session/proxy.js';
import type { Session } from '../session/session.js';
import type { KeyValueStore } from '../store/key-value.js';
import { serializeItems } from '../store/items.js';
import { checkStorageName } from '../store/names.js';
import type { Transaction } from './transaction.js';

/** What all visits of a crawl share. */
export interface VisitHost {
  readonly crawler: ContextCrawler;
  readonly log: Log;
  readonly queue: RequestQueue;
  readonly maxCrawlDepth: number | undefined;
  /** How many new requests may still be queued under `maxRequestsPerCrawl`. */
  readonly roomForRequests: () => number;
  /**
   * Admission of a link: why a request that is new to the queue is not to be queued, if so. The one place for rules
   * about URLs (robots.txt at hand, traps, budgets, exclude lists); called once a link, so it must be cheap.
   */
  readonly refuseLink?: (url: string, depth: number) => SkipReason | undefined;
  readonly onSkipped: SkippedRequestCallback;
  readonly openKeyValueStore: (name?: string) => Promise<KeyValueStore>;
  readonly useState: <State extends Dictionary>(initial?: State) => Promise<State>;
  readonly sendRequest: (
    options: SendRequestOptions,
    visit: { request: Request; session?: Session; proxyUrl?: string },
  ) => Promise<SentResponse<unknown>>;
}

export interface Identity {
  readonly session: Session | undefined;
  readonly proxyInfo: ProxyInfo | undefined;
}

/** Tells which links of the fetched page a selector means; set once the page is there. `skip` is told of nofollow. */
export type LinkFinder = (selector: string, baseUrl: string | undefined, skip: (url: string) => void) => string[];

export interface VisitContext {
  readonly context: CrawlingContext;
  /** From now on `enqueueLinks` without `urls` reads the page. */
  setLinkFinder(find: LinkFinder): void;
}

export function createVisitContext(
  host: VisitHost,
  request: Request,
  identity: Identity,
  transaction: Transaction,
): VisitContext {
  let findLinks: LinkFinder | undefined;

  async function enqueueLinks(options: EnqueueLinksOptions = {}): Promise<BatchAddRequestsResult> {
    checkEnqueueLinksOptions(options);
    const skipped: { url: string; reason: SkipReason }[] = [];
    const skip = (url: string, reason: SkipReason) => void skipped.push({ url, reason });
    const found = options.urls
      ? absoluteUrls(options.urls, options.baseUrl ?? request.loadedUrl ?? request.url, skip)
      : (findLinks?.(options.selector ?? 'a', options.baseUrl, (url) => skip(url, 'nofollow')) ?? []);
    const requests = selectLinks(found, options, request, { maxCrawlDepth: host.maxCrawlDepth, skip });
    const result = options.requestQueue
      ? await addElsewhere(options, requests, skip)
      : await addToVisit(requests, options.forefront, options.limit, skip);
    for (const one of skipped) {
      await options.onSkippedRequest?.(one);
      await host.onSkipped(one);
    }
    return result;
  }

  /** Adds what the queue does not know to the transaction, within the limits, and tells what was known. */
  async function addToVisit(
    requests: readonly Request[],
    forefront: boolean | undefined,
    limit: number | undefined,
    skip: (url: string, reason: SkipReason) => void,
  ): Promise<BatchAddRequestsResult> {
    const known = await host.queue.presence(requests);
    let room = host.roomForRequests() - transaction.links.length;
    let left = Math.min(limit ?? Infinity, transaction.roomForLinks);
    const processedRequests: BatchAddRequestsResult['processedRequests'] = [];
    requests.forEach((added, index) => {
      const presence = transaction.isNewLink(added.fingerprint) ? known[index]! : 'pending';
      if (presence === 'new') {
        if (left <= 0) return skip(added.url, 'enqueueLimit');
        if (room <= 0) return skip(added.url, 'limit');
        const refusal = host.refuseLink?.(added.url, added.crawlDepth);
        if (refusal) return skip(added.url, refusal);
        left--;
        room--;
        // Whoever found it, a page named it: only what the user adds may name a private address.
        added.seeded = false;
        transaction.addLink(entryOf(added, forefront, host.queue.paceBy));
      }
      processedRequests.push({
        requestId: fingerprintToId(added.fingerprint),
        uniqueKey: added.uniqueKey,
        wasAlreadyPresent: presence !== 'new',
        wasAlreadyHandled: presence === 'ended',
      });
    });
    return { processedRequests, unprocessedRequests: [] };
  }

  async function addRequests(sources: readonly Source[], options: { forefront?: boolean } = {}): Promise<void> {
    const depth = request.crawlDepth + 1;
    const requests = sources.map((source) => {
      const added = toRequest(source);
      if (added.crawlDepth === 0) added.crawlDepth = depth;
      return added;
    });
    const skipped: { url: string; reason: SkipReason }[] = [];
    const skip = (url: string, reason: SkipReason) => void skipped.push({ url, reason });
    const { maxCrawlDepth } = host;
    const reachable = requests.filter((added) => {
      const tooDeep = maxCrawlDepth !== undefined && added.crawlDepth > maxCrawlDepth;
      if (tooDeep) skip(added.url, 'depth');
      return !tooDeep;
    });
    await addToVisit(reachable, options.forefront, undefined, skip);
    for (const one of skipped) await host.onSkipped(one);
  }

  const context: CrawlingContext = {
    id: request.id,
    request,
    session: identity.session,
    proxyInfo: identity.proxyInfo,
    log: host.log,
    crawler: host.crawler,
    enqueueLinks,
    addRequests,
    async pushData(data: Dictionary | readonly Dictionary[], dataset?: string) {
      // Checked here: at settle a bad name would be everybody's trouble.
      if (dataset !== undefined) checkStorageName(dataset);
      transaction.pushItem({ dataset, line: serializeItems(data) });
    },
    sendRequest: (options = {}) =>
      host.sendRequest(
        { url: request.url, method: request.method, headers: request.headers, body: request.payload, ...options },
        { request, session: identity.session, proxyUrl: identity.proxyInfo?.url },
      ) as Promise<SentResponse<never>>,
    getKeyValueStore: host.openKeyValueStore,
    useState: host.useState,
  };

  return {
    context,
    setLinkFinder(find) {
      findLinks = find;
    },
  };
}

async function addElsewhere(
  options: EnqueueLinksOptions,
  requests: Request[],
  skip: (url: string, reason: SkipReason) => void,
): Promise<BatchAddRequestsResult> {
  const { limit = Infinity, forefront, requestQueue } = options;
  for (const { url } of requests.slice(limit)) skip(url, 'enqueueLimit');
  const { addedRequests } = await requestQueue!.addRequestsBatched(requests.slice(0, limit), {
    forefront,
    seeded: false,
  });
  return { processedRequests: addedRequests, unprocessedRequests: [] };
}
