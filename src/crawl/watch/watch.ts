// Watches sites: visits their pages again and again within a budget, where visits buy most freshness, and tells what
// changed. Promise: after a kill at any moment no visit is forgotten or made early, and each change is stored once.
import { Configuration } from '../../configuration.js';
import { eachPage } from '../../fresh/memory/each-page.js';
import type { WholeMemory } from '../../fresh/memory/memory.js';
import { createSiteHints, type SiteHints } from '../../fresh/hints/site-hints.js';
import { foundPage } from '../../fresh/memory/new-page.js';
import type { PageChange } from '../../fresh/page-change.js';
import { pageKeyOf, type Remembering, type WeighedPage } from '../../fresh/remembering.js';
import type { PriceState } from '../../fresh/schedule/price.js';
import { createSchedule, type Schedule } from '../../fresh/schedule/schedule.js';
import type { HttpCrawlingContext } from '../../handle/context.js';
import type { EnqueueLinksOptions } from '../../handle/enqueue-links.js';
import { hideLogins } from '../../request/login.js';
import { Request } from '../../request/request.js';
import { parseUrl } from '../../request/url.js';
import type { Dictionary } from '../../request/request.js';
import { Dataset } from '../../store/dataset/dataset.js';
import { KeyValueStore } from '../../store/records/key-value.js';
import { HttpCrawler } from '../crawlers.js';
import type { HttpCrawlerOptions, PlanParts } from '../options/options.js';
import { isoNow, systemTime, type Time } from '../time.js';
import { createFeeder, type Feeder } from './feeder.js';
import { createHintReader, type HintReader } from './hint-reader.js';

/** What is watched, and how. */
export interface WatchOptions {
  /** Where it begins. */
  readonly seeds: readonly string[];
  /** The budget: requests per hour. */
  readonly visitsPerHour: number;
  /** Its storage folder keeps the pages, the queue and the changes. Default: the global configuration. */
  readonly config?: Configuration;
  /** Which links are followed. */
  readonly links?: EnqueueLinksOptions;
  /** Most pages that are watched; links beyond it are not followed. */
  readonly maxPages?: number;
  /** Links from the start that are followed. */
  readonly maxDepth?: number;
  /**
   * What the freshness of a page counts: all alike (the default), half as much with each link from the start, as much as
   * pages link to it, or as a function says (from 1/4096 to 4096).
   */
  readonly importance?: 'none' | 'depth' | 'inlinks' | ((page: WeighedPage) => number);
  /** Whether a change comes with the difference of the markdown. */
  readonly diffs?: boolean;
  /** Reads the sitemaps of the sites now and then, and the sitemaps and feeds given here. Default true. */
  readonly hints?: boolean | readonly string[] | undefined;
  /** Further options of the crawler: delays, headers, proxies. */
  readonly crawler?: HttpCrawlerOptions;
}

/** One line per change. */
export interface ChangeItem extends Dictionary {
  /** The page. */
  readonly url: string;
  /** What the visit found. */
  readonly change: 'new' | 'changed' | 'removed';
  /** Of the response. */
  readonly status: number;
  /** When it was found, as ISO 8601. */
  readonly at: string;
  /** The visit before; null for a page that was never there. */
  readonly lastSeen: string | null;
  /** The lines that changed, with `diffs`. */
  readonly diff?: string;
}

/** A watch that runs. */
export interface Watch {
  /** Where the changes are. */
  dataset(): Promise<Dataset>;
  /** Where its readers may keep how far they are. */
  state(): Promise<KeyValueStore>;
  /** Ends when `stop` was called; rejects when the crawl cannot go on. */
  readonly ended: Promise<void>;
  /** Ends it; a watch that is started again in the same folder goes on. */
  stop(): void;
  /** How far it is. */
  readonly figures: WatchFigures;
}

/** How far a watch is. */
export interface WatchFigures {
  /** Pages that were visited at least once. */
  readonly pages: number;
  /** Visits of this process. */
  readonly visits: number;
  /** Changes that are stored for good. */
  readonly changes: number;
  /** Visits that have not ended. */
  readonly underWay: number;
}

/** The dataset of changes. */
export const CHANGES_DATASET = 'changes';

const TICK_MS = 500;
/** The queue forgets finished visits after this many, while none is under way. */
const ROTATE_AFTER = 20_000;
const BOOK_NOTE = 'price book';
const DAY_SECS = 86_400;
/** A page that failed or is disallowed is tried again after this, or its own interval. */
export const FAILED_SECS = DAY_SECS;
const DEFAULT_MAX_PAGES = 100_000;
/** Why links are left out; other reasons are about a visit that was due. */
const OF_LINKS: ReadonlySet<string> = new Set(['filters', 'depth', 'nofollow', 'invalid', 'enqueueLimit', 'limit']);

/** By name, in options and in YAML. */
export const IMPORTANCE: Readonly<Record<'none' | 'depth' | 'inlinks', (page: WeighedPage) => number>> = {
  none: () => 1,
  depth: ({ depth }) => 2 ** -depth,
  inlinks: ({ inlinks }) => 1 + inlinks,
};

/**
 * Visits sites again and again within a budget, where visits buy most freshness, and stores what changed; what
 * `orcrawl watch` does.
 *
 * @example
 * const watch = startWatch({
 *   seeds: ['https://shop.example/'],
 *   visitsPerHour: 500,
 *   importance: ({ url, depth }) => (url.includes('/offers/') ? 10 : 1 / (1 + depth)),
 * });
 * setTimeout(() => watch.stop(), 3_600_000);
 * await watch.ended;
 * const { items } = await (await watch.dataset()).getData();
 */
export function startWatch(options: WatchOptions): Watch {
  const { config = Configuration.getGlobalConfig(), maxPages = DEFAULT_MAX_PAGES } = options;
  const time = systemTime;
  const visitsPerSec = options.visitsPerHour / 3_600;
  let memory: WholeMemory | undefined;
  let schedule: Schedule | undefined;
  let feeder: Feeder | undefined;
  let hints: SiteHints | undefined;
  let reader: HintReader | undefined;
  let remembering: Remembering | undefined;
  let isStopped = false;
  let isRotating = false;
  let visits = 0;
  let changes = 0;

  const crawler: HttpCrawler = new HttpCrawler(
    {
      ...options.crawler,
      ...(options.maxDepth === undefined ? {} : { maxCrawlDepth: options.maxDepth }),
      keepAlive: true,
      remember: { versions: options.diffs === true, plan },
      requestHandler: (context) => handle(context),
      failedRequestHandler: ({ request }) => later(request),
      onSkippedRequest: ({ url, reason }) => (OF_LINKS.has(reason) ? undefined : laterUrl(url)),
      additionalMimeTypes: ['*/*'],
    },
    config,
  );

  /** The memory is open, and no visit has begun: from here on it is what is watched. */
  async function plan(opened: WholeMemory): Promise<PlanParts> {
    // Left by an end without a kill: good once.
    const state = opened.note(BOOK_NOTE) as PriceState | null | undefined;
    await opened.setNote(BOOK_NOTE, null);
    schedule = createSchedule({ visitsPerSec, state: state ?? (await bookOf(opened)) });
    const dataset = await crawler.getDataset(CHANGES_DATASET);
    changes = (await dataset.getInfo())?.itemCount ?? 0;
    memory = opened;
    const settle = opened.settle.bind(opened);
    // Counted when it is acknowledged, not before.
    opened.settle = (settled, acknowledged) => {
      settle(settled, acknowledged);
      if (!acknowledged) return;
      for (const { page } of settled) {
        if (page.visits === 0) continue;
        visits++;
        if (page.found !== 'same') changes++;
      }
    };
    hints = options.hints === false ? undefined : createSiteHints(opened, () => Math.floor(time.wallMs() / 1000));
    reader = hints && readerOf(opened, hints);
    const { importance = 'none' } = options;
    return {
      schedule,
      importanceOf: typeof importance === 'function' ? importance : IMPORTANCE[importance],
      countsLinks: importance === 'inlinks' || typeof importance === 'function',
      hints,
      onOpen: (opening) => (remembering = opening),
    };
  }

  function readerOf(opened: WholeMemory, read: SiteHints): HintReader {
    const made = createHintReader({
      memory: opened,
      hints: read,
      time,
      lists: Array.isArray(options.hints) ? options.hints : [],
      userAgent: options.crawler?.userAgent,
      spend: (requests) => feeder?.spend(requests),
    });
    for (const url of options.seeds) {
      const origin = parseUrl(url)?.origin;
      if (origin !== undefined) made.addOrigin(origin);
    }
    return made;
  }

  async function handle(context: HttpCrawlingContext): Promise<void> {
    const { change, request, response, enqueueLinks, pushData } = context;
    if (!change) return;
    const found: Request[] = [];
    await enqueueLinks({ ...options.links, requestQueue: sinkInto(found) });
    const room = Math.max(0, maxPages - (schedule?.book.pages ?? 0));
    remembering!.found(
      request,
      found.map(({ url, crawlDepth }) => ({ url, depth: crawlDepth })),
      room,
    );
    if (!isTold(change)) return;
    await pushData(changeItemOf(request, change, response.statusCode, time, options.diffs === true), CHANGES_DATASET);
  }

  /** Not now: planned anew, outside of the visit. If the process ends before that, the page is due once more. */
  async function later(request: Request): Promise<void> {
    const key = pageKeyOf(request);
    const known = memory?.find(key);
    if (!known) return;
    const nowSecs = Math.floor(time.wallMs() / 1000);
    await memory!.plan(key, nowSecs + FAILED_SECS);
  }

  async function laterUrl(url: string): Promise<void> {
    if (parseUrl(url)) await later(new Request({ url }));
  }

  async function seed(): Promise<void> {
    const nowSecs = Math.floor(time.wallMs() / 1000);
    const unknown = options.seeds.flatMap((url) => {
      const key = pageKeyOf({ target: url, keepUrlFragment: false });
      return memory!.find(key) ? [] : [{ key, request: key, page: foundPage(nowSecs, 0), names: { url } }];
    });
    await memory!.stage(unknown);
    memory!.settle(unknown, true);
  }

  async function tick(): Promise<void> {
    if (isStopped || !memory || !feeder) return;
    reader?.look();
    if (feeder.queued >= ROTATE_AFTER && !isRotating) isRotating = true;
    if (!isRotating) return feeder.feed();
    if (feeder.underWay === 0) crawler.stop();
  }

  /** While the memory is still open. */
  async function closeBook(): Promise<void> {
    if (memory && schedule) await memory.setNote(BOOK_NOTE, schedule.book.toJSON());
  }

  async function round(): Promise<void> {
    const queue = await crawler.getRequestQueue();
    const running = crawler.run([]);
    let failure: unknown;
    const fail = (error: unknown) => {
      failure ??= error;
      crawler.stop();
    };
    let ticking: Promise<void> | undefined;
    const endTicks = time.every(TICK_MS, () => {
      if (ticking || !memory) return;
      ticking = (async () => {
        if (!feeder) {
          await seed();
          feeder = createFeeder({
            ...{ memory, schedule: schedule!, hints, queue, time, visitsPerSec },
            isOver: () => isStopped,
          });
        }
        await tick();
      })()
        // After a stop the memory may be closed at any moment.
        .catch((error: unknown) => void (isStopped || fail(error)))
        .finally(() => (ticking = undefined));
    });
    try {
      await running;
    } finally {
      endTicks();
      await ticking;
      await reader?.close();
      [memory, schedule, feeder] = [undefined, undefined, undefined];
    }
    if (failure) throw failure;
  }

  async function watchOn(): Promise<void> {
    try {
      for (let first = true; !isStopped; first = false) {
        isRotating = false;
        // The new queue does not know when its hosts were asked last.
        if (!first) await time.wait((options.crawler?.sameDomainDelaySecs ?? 0) * 1_000);
        await round();
      }
    } finally {
      await crawler.teardown();
    }
  }

  return {
    dataset: () => Dataset.open(CHANGES_DATASET, { config }),
    state: () => KeyValueStore.open(undefined, { config }),
    ended: watchOn(),
    stop() {
      isStopped = true;
      void reader?.close();
      // Visits under way may still change it; what they change is little.
      void closeBook()
        .catch(() => undefined)
        .finally(() => crawler.stop());
    },
    get figures() {
      return { pages: schedule?.book.pages ?? 0, visits, changes, underWay: feeder?.underWay ?? 0 };
    },
  };
}

type ToldChange = PageChange & { readonly kind: ChangeItem['change'] };

export function isTold(change: PageChange): change is ToldChange {
  return change.kind !== 'same';
}

/** What is told of a change, on the command line and on pods. */
export function changeItemOf(
  request: Pick<Request, 'loadedUrl' | 'url'>,
  change: ToldChange,
  status: number,
  time: Time,
  withDiff: boolean,
): ChangeItem {
  return {
    url: hideLogins((request.loadedUrl ?? request.url).replace(/#.*/s, '')),
    change: change.kind,
    status,
    at: isoNow(time),
    lastSeen: change.lastSeen?.toISOString() ?? null,
    ...(withDiff ? diffField(change.diff()?.text) : {}),
  };
}

/** After an end without a last note: from the pages themselves. */
export async function bookOf(memory: Pick<WholeMemory, 'pages'>): Promise<PriceState> {
  const schedule = createSchedule({ visitsPerSec: 1 });
  await eachPage(memory, ({ page }) => {
    if (page.visits > 0 && page.scaleSecs > 0) schedule.nextVisitAt(page, undefined);
  });
  return schedule.book.toJSON();
}

function diffField(diff: string | undefined): { diff?: string } {
  return diff === undefined ? {} : { diff };
}

/** Takes the links that are to be followed, instead of a queue. */
function sinkInto(found: Request[]): NonNullable<EnqueueLinksOptions['requestQueue']> {
  return {
    async addRequestsBatched(requests) {
      found.push(...requests);
      return { addedRequests: [] };
    },
  };
}
