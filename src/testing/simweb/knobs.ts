// The knobs of the synthetic web, as types: what a caller may give, and the checked plan made from it.
// Plain data only, so that the same options can be sent to a web in another process.

/** One number, or a range from which each URL gets its own value. */
export type Range = number | readonly [min: number, max: number];

/**
 * What can be wrong with a whole host: every page on it answers in this way.
 *
 * @example
 * for (const fault of HOST_FAULTS) console.log(fault);
 */
export const HOST_FAULTS = [
  'refuse',
  'reset',
  'hang',
  'garbage',
  'close-mid-body',
  'lying-length',
  'endless',
  'bad-gzip',
  'wrong-charset',
  'huge',
] as const;
/** A fault that a host of the synthetic web can have. */
export type HostFault = (typeof HOST_FAULTS)[number];

/** How a host answers `/robots.txt`. */
export interface RobotsKnobs {
  /** Answer with this status instead of 200. */
  readonly status?: number;
  /** Answer with a redirect to this URL. */
  readonly location?: string;
  /** The whole file; the other knobs then have no effect on it. */
  readonly body?: string;
  /** Paths forbidden to all agents. Default `['/private/']`. */
  readonly disallow?: readonly string[];
  /** A `Crawl-delay` line for all agents. */
  readonly crawlDelaySecs?: number;
}

/** 429 with Retry-After once a host gets more than `requests` in `windowMs`. */
export interface RateLimitKnobs {
  /** How many requests a window allows. */
  readonly requests: number;
  /** Length of the window. */
  readonly windowMs: number;
  /** Default 1. */
  readonly retryAfterSecs?: number;
}

/** How pages change, and how far what the server says of it is true. */
export interface ChangeKnobs {
  /** Changes per hour of a page: each page gets its own rate from the range. Default 0. */
  readonly perHour?: Range;
  /** Dates, counters, adverts and tokens that are others at every request, outside of the main content. Default false. */
  readonly furniture?: boolean;
  /** `weak`: W/"…". `wrong`: always the same, for any content. `none`: no ETag. Default `strong`. */
  readonly etags?: 'strong' | 'weak' | 'wrong' | 'none';
  /** `now`: the time of the request, for any content. `none`: no Last-Modified. Default `true`. */
  readonly lastModified?: 'true' | 'now' | 'none';
  /**
   * What sitemaps and feeds say of when a page last changed. `now`: the time of the request, for any page. `stale`: its
   * first date, whatever happened since. `none`: nothing. Default `true`.
   */
  readonly lastmod?: 'true' | 'now' | 'stale' | 'none';
  /** Share of pages that nearly repeat another page of the same host. Default 0. */
  readonly nearCopies?: number;
  /** Share of hosts that repeat an earlier host page by page, changes included; never host 0. Default 0. */
  readonly mirrors?: number;
}

/** What may differ from host to host. */
export interface HostKnobs {
  /** Delay before each answer, chosen at random from the range. */
  readonly latencyMs?: Range;
  /** Bodies leave at this speed; 0 is at once. */
  readonly bytesPerSec?: number;
  /** What is broken about the host. */
  readonly fault?: HostFault | 'none';
  /** Answers 429 above a rate. */
  readonly rateLimit?: RateLimitKnobs | false;
  /** Its robots.txt; false: there is none. */
  readonly robots?: boolean | RobotsKnobs;
  /** Without its cookie a page redirects to itself with Set-Cookie. */
  readonly cookieWall?: boolean;
  /** The home page links into endless link spaces. */
  readonly trap?: boolean;
}

/** All options of a `Simweb`. */
export interface SimwebOptions extends Omit<HostKnobs, 'fault' | 'trap'> {
  /** Same seed and options, same bytes. Default 1. */
  readonly seed?: number;
  /** Default 1. */
  readonly hosts?: number;
  /** Default 100. */
  readonly pagesPerHost?: number;
  /** How hosts differ; default `addresses` (127.a.b.c) on Linux, else `ports`. */
  readonly addressing?: 'addresses' | 'ports' | 'names';
  /** For `names`: `{n}` becomes the host's number. Default `h{n}.localhost`. */
  readonly hostName?: string;
  /** Port to listen on (the first one for `ports`); 0 takes a free one. Default 0. */
  readonly port?: number;
  /** Serve HTTPS: with this key and certificate (PEM), or `true` for a self-signed one made at start. */
  readonly tls?: boolean | { readonly key: string; readonly cert: string };
  /** Size of a page before compression. Default [10000, 30000]. */
  readonly pageBytes?: Range;
  /** Links on a page (more if its children need more). Default [20, 40]. */
  readonly linksPerPage?: Range;
  /** New pages each page leads to; the depth of a host is log(pages) to this base. Default 10. */
  readonly branching?: number;
  /** Share of extra links that lead to other hosts; above 0 every host is reachable from host 0. Default 0. */
  readonly crossHostLinks?: number;
  /** Shares of extra links that repeat a link, carry a fragment, utm_ parameters or rel=nofollow. */
  readonly linkNoise?: {
    readonly duplicates?: number;
    readonly fragments?: number;
    readonly utm?: number;
    readonly nofollow?: number;
  };
  /** Share of leaf pages under /private/, which robots.txt forbids. Default 0. */
  readonly privatePages?: number;
  /** Compression for clients that accept it. Default `gzip`. */
  readonly compression?: 'none' | 'gzip' | 'br' | 'deflate';
  /** Chunked instead of Content-Length. Default false. */
  readonly chunked?: boolean;
  /** ETag and Last-Modified, answered with 304. Default true. */
  readonly validators?: boolean;
  /** Pages that change by themselves, and what says so. Default: they change only when touched. */
  readonly changes?: ChangeKnobs;
  /** Keep connections open between requests. Default true. */
  readonly keepAlive?: boolean;
  /** Shares of leaf pages that answer 404 or 500; and of all pages that answer 503 `recoverAfter` times first. */
  readonly statusMix?: {
    readonly missing?: number;
    readonly failing?: number;
    readonly recovering?: number;
    readonly recoverAfter?: number;
  };
  /** Share of links to new pages that go through 1 to `maxHops` redirects; `loops`: share of pages with a link into a loop. */
  readonly redirects?: { readonly share?: number; readonly maxHops?: number; readonly loops?: number };
  /** Sitemap index and files, named in robots.txt. Default on, 10,000 URLs per file, not compressed. */
  readonly sitemaps?: boolean | { readonly perFile?: number; readonly gzip?: boolean };
  /** Share of hosts (never host 0) that answer late and slowly. */
  readonly slowHosts?: { readonly share: number; readonly latencyMs?: Range; readonly bytesPerSec?: number };
  /** Share of hosts (never host 0) that are broken, in one of these ways. */
  readonly brokenHosts?: { readonly share: number; readonly faults?: readonly HostFault[] };
  /** Share of hosts with endless link spaces. */
  readonly traps?: number;
  /**
   * Pages are about one of so many topics, at most 16: their text says so, most links to them do, and pages of a topic
   * link to each other more than to others. Default 0: pages are about nothing.
   */
  readonly topics?: number;
  /** Set a `visitor` cookie on first sight. Default false. */
  readonly cookies?: boolean;
  /** Knobs of single hosts, by number; they win over everything else. */
  readonly overrides?: Readonly<Record<number, HostKnobs>>;
  /** Bound of the cache of finished bodies. Default 64 MiB. */
  readonly cacheBytes?: number;
  /** Bound of the log; later requests are counted but not kept. Default 5,000,000. */
  readonly maxLogEntries?: number;
}

export type Pair = readonly [min: number, max: number];

/** A host's knobs with every default filled in. */
export interface HostPlan {
  readonly latencyMs: Pair;
  readonly bytesPerSec: number;
  readonly fault: HostFault | 'none';
  readonly rateLimit: Required<RateLimitKnobs> | undefined;
  readonly robots: RobotsKnobs | undefined;
  readonly cookieWall: boolean;
  readonly trap: boolean;
}

/** Checked options: every default filled in, frozen. */
export interface SimwebPlan {
  readonly seed: number;
  readonly hosts: number;
  readonly pagesPerHost: number;
  readonly addressing: 'addresses' | 'ports' | 'names';
  readonly hostName: string;
  readonly port: number;
  readonly tls: boolean | { readonly key: string; readonly cert: string };
  readonly pageBytes: Pair;
  readonly linksPerPage: Pair;
  readonly branching: number;
  readonly crossHostLinks: number;
  readonly linkNoise: Readonly<Record<'duplicates' | 'fragments' | 'utm' | 'nofollow', number>>;
  readonly privatePages: number;
  readonly compression: 'none' | 'gzip' | 'br' | 'deflate';
  readonly chunked: boolean;
  readonly validators: boolean;
  readonly changes: {
    readonly perHour: Pair;
    readonly furniture: boolean;
    readonly etags: 'strong' | 'weak' | 'wrong' | 'none';
    readonly lastModified: 'true' | 'now' | 'none';
    readonly lastmod: 'true' | 'now' | 'stale' | 'none';
    readonly nearCopies: number;
    readonly mirrors: number;
  };
  readonly keepAlive: boolean;
  readonly statusMix: Readonly<Record<'missing' | 'failing' | 'recovering' | 'recoverAfter', number>>;
  readonly redirects: Readonly<Record<'share' | 'maxHops' | 'loops', number>>;
  readonly sitemaps: { readonly perFile: number; readonly gzip: boolean } | undefined;
  readonly slowHosts: { readonly share: number; readonly latencyMs: Pair; readonly bytesPerSec: number };
  readonly brokenHosts: { readonly share: number; readonly faults: readonly HostFault[] };
  readonly traps: number;
  readonly topics: number;
  readonly cookies: boolean;
  readonly cacheBytes: number;
  readonly maxLogEntries: number;
  readonly everyHost: HostPlan;
  readonly overrides: ReadonlyMap<number, HostKnobs>;
}
