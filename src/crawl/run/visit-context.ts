// Builds the context that hooks and handlers of one attempt get. Functions work when destructured; what
// they add goes into the attempt's transaction, so it counts only if the visit does.
import type { VisitMark } from '../../base/loop-watch/visit-marks.js';
import { entryOf } from '../../frontier/entry.js';
import type { ContextCrawler, CrawlingContext, SendRequestOptions, SentResponse } from '../../handle/context.js';
import {
  absoluteUrls,
  type BatchAddRequestsResult,
  checkEnqueueLinksOptions,
  type EnqueueLinksOptions,
  type ProcessedRequest,
  type SelectedLink,
  selectLinks,
  type SkippedRequestCallback,
  type SkipReason,
} from '../../handle/enqueue-links.js';
import type { Log } from '../../observe/log.js';
import type { PageContent } from '../../parse/page.js';
import { fingerprintToId } from '../../request/fingerprint.js';
import type { Request } from '../../request/request.js';
import { type Dictionary, type Source, toRequest } from '../../request/request.js';
import type { Session } from '../../session/session.js';
import type { KeyValueStore } from '../../store/records/key-value.js';
import { encodeItems } from '../../store/dataset/items.js';
import { checkStorageName } from '../../store/names.js';
import type { LinkSource, PriorityOfLink } from '../order/order.js';
import type { Identity, LinkServices } from './services.js';
import type { Transaction } from './transaction.js';
import { inheritedBy } from './inherited.js';

/** What a context's functions work with. */
export interface ContextServices {
  readonly crawler: ContextCrawler;
  readonly log: Log;
  readonly links: LinkServices;
  readonly storage: StorageServices;
  readonly sendRequest: (
    options: SendRequestOptions,
    visit: { request: Request; session?: Session; proxyUrl?: string },
  ) => Promise<SentResponse<unknown>>;
}

export interface StorageServices {
  readonly openKeyValueStore: (name?: string) => Promise<KeyValueStore>;
  readonly useState: <State extends Dictionary>(initial?: State) => Promise<State>;
}

/** Finds the links of the fetched page by selector; set once there is a page. `skip` receives nofollow links. */
export type LinkFinder = (
  selector: string,
  baseUrl: string | undefined,
  skip: (url: string) => void,
) => string[] | Promise<string[]>;

export interface VisitContext<Context = CrawlingContext> {
  readonly context: Context;
  /** From now on `enqueueLinks` without `urls` reads the page. */
  readonly setLinkFinder?: (find: LinkFinder) => void;
}

export function createVisitContext(
  services: ContextServices,
  request: Request,
  identity: Identity,
  transaction: Transaction,
  mark?: VisitMark,
): VisitContext {
  const rules = services.links;
  let findLinks: LinkFinder | undefined;
  let priorityOfLink: PriorityOfLink | undefined;
  /** The page is added to the context when it arrives; before that there is none. */
  const source: LinkSource = {
    get url() {
      return request.loadedUrl ?? request.url;
    },
    get content() {
      return (context as { content?: PageContent }).content;
    },
  };

  async function enqueueLinks(options: EnqueueLinksOptions = {}): Promise<BatchAddRequestsResult> {
    checkEnqueueLinksOptions(options, rules.obeysRobots);
    const skipped: { url: string; reason: SkipReason }[] = [];
    const skip = (url: string, reason: SkipReason) => void skipped.push({ url, reason });
    const finding = options.urls
      ? absoluteUrls(options.urls, options.baseUrl ?? request.loadedUrl ?? request.url, skip)
      : (findLinks?.(options.selector ?? 'a', options.baseUrl, (url) => skip(url, 'nofollow')) ?? []);
    // Only a browser has to be asked for links; those of bytes are known.
    const found = Array.isArray(finding) ? finding : await finding;
    const select = () => selectLinks(found, options, request, { maxCrawlDepth: rules.maxCrawlDepth, skip });
    const links = mark ? mark.work(select) : select();
    const result = options.requestQueue
      ? await addElsewhere(options, links, skip)
      : addToVisit(links, options.forefront, options.limit, skip);
    await tell(skipped, options.onSkippedRequest, rules.onSkipped);
    return result;
  }

  /** Adds what the queue does not know to the transaction, within the limits, and tells what was known. */
  function addToVisit(
    links: readonly SelectedLink[],
    forefront: boolean | undefined,
    limit: number | undefined,
    skip: (url: string, reason: SkipReason) => void,
  ): BatchAddRequestsResult {
    let room = rules.roomForRequests() - transaction.links.length;
    let left = Math.min(limit ?? Infinity, transaction.roomForLinks);
    const priorities = (priorityOfLink ??= rules.order?.prioritiesOn?.(source));
    const processed: SelectedLink[] = [];
    const added = new Set<SelectedLink>();
    for (const link of links) {
      const { fingerprint } = link;
      if (transaction.isNewLink(fingerprint) && !rules.queue.isKnown(fingerprint)) {
        const full = left <= 0 ? 'enqueueLimit' : room <= 0 ? 'limit' : undefined;
        const refusal = full ?? rules.refuseLink?.(link.url, request.crawlDepth + 1);
        if (refusal) {
          skip(link.url, refusal);
          continue;
        }
        left--;
        room--;
        const made = link.toRequest();
        // Whoever found it, a page named it: only what the user adds may name a private address.
        made.seeded = false;
        // A priority of the user's own stays.
        if (priorities && made.priority === 0) made.priority = priorities(made.url, made.crawlDepth);
        transaction.addLink(entryOf(made, forefront ?? rules.order?.isDepthFirst, rules.queue.paceBy));
        added.add(link);
      }
      processed.push(link);
    }
    let told: BatchAddRequestsResult['processedRequests'] | undefined;
    return {
      // Few handlers look at it, and it would cost a read of the queue a link.
      get processedRequests() {
        return (told ??= [...new Map(processed.map((link) => [link.uniqueKey, link])).values()].map((link) =>
          tellOf(link, added.has(link)),
        ));
      },
      unprocessedRequests: [],
    };
  }

  function tellOf({ fingerprint, uniqueKey }: SelectedLink, isNew: boolean): ProcessedRequest {
    return {
      requestId: fingerprintToId(fingerprint),
      uniqueKey,
      wasAlreadyPresent: !isNew,
      wasAlreadyHandled: !isNew && rules.queue.glance(fingerprint) === 'ended',
    };
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
    const { maxCrawlDepth } = rules;
    const reachable = requests.filter((added) => {
      const tooDeep = maxCrawlDepth !== undefined && added.crawlDepth > maxCrawlDepth;
      if (tooDeep) skip(added.url, 'depth');
      return !tooDeep;
    });
    addToVisit(
      reachable.map((added) => ({
        url: added.url,
        uniqueKey: added.uniqueKey,
        fingerprint: added.fingerprint,
        toRequest: () => added,
      })),
      options.forefront,
      undefined,
      skip,
    );
    await tell(skipped, rules.onSkipped);
  }

  const context: CrawlingContext = {
    // A digest, which few look at.
    get id() {
      return request.id;
    },
    request,
    session: identity.session,
    proxyInfo: identity.proxyInfo,
    log: services.log,
    crawler: services.crawler,
    enqueueLinks,
    addRequests,
    async pushData(data: Dictionary | readonly Dictionary[], dataset?: string) {
      // Checked here: at settle a bad name would be everybody's trouble.
      if (dataset !== undefined) checkStorageName(dataset);
      transaction.pushItem({ dataset, lines: encodeItems(data) });
    },
    sendRequest: (options = {}) =>
      services.sendRequest(inheritedBy(options, request), {
        request,
        session: identity.session,
        proxyUrl: identity.proxyInfo?.url,
      }) as Promise<SentResponse<never>>,
    getKeyValueStore: services.storage.openKeyValueStore,
    useState: services.storage.useState,
  };

  return {
    context,
    setLinkFinder(find) {
      findLinks = find;
    },
  };
}

/** Pages skip links by the hundred and few listeners are asynchronous: only those are awaited. */
async function tell(
  skipped: readonly { url: string; reason: SkipReason }[],
  ...listeners: (SkippedRequestCallback | undefined)[]
): Promise<void> {
  for (const one of skipped) {
    for (const listener of listeners) {
      const told = listener?.(one);
      if (told) await told;
    }
  }
}

async function addElsewhere(
  options: EnqueueLinksOptions,
  links: readonly SelectedLink[],
  skip: (url: string, reason: SkipReason) => void,
): Promise<BatchAddRequestsResult> {
  const { limit = Infinity, forefront, requestQueue } = options;
  for (const { url } of links.slice(limit)) skip(url, 'enqueueLimit');
  const { addedRequests } = await requestQueue!.addRequestsBatched(
    links.slice(0, limit).map((link) => link.toRequest()),
    { forefront, seeded: false },
  );
  return { processedRequests: addedRequests, unprocessedRequests: [] };
}
