// In which order a crawl visits what it finds, as users write it: breadth first, depth first, or the best first.
// Only types and their checks; order.ts applies them.
import { aBoolean, aFunction, aNumber, anObject, anyOf, check, findProblems, type Check } from '../../option-checks.js';

/** The order in which found pages are visited, within each domain. */
export type CrawlOrder = 'bfs' | 'dfs' | 'best-first';

/**
 * The orders that `order` of a crawler accepts.
 *
 * @example
 * const isOrder = (text: string) => CRAWL_ORDERS.some((order) => order === text);
 */
export const CRAWL_ORDERS = ['bfs', 'dfs', 'best-first'] as const satisfies readonly CrawlOrder[];

/** A link as scorers see it. */
export interface ScoredLink {
  /** Absolute, normalized. */
  readonly url: string;
  /** The text of the link; empty where the page has none or was not scanned. */
  readonly text: string;
  /** Links away from the seeds. */
  readonly depth: number;
  /** The page that links to it. */
  readonly page: {
    readonly url: string;
    /** How much the page is about the query, from 0 to 1; 0 without a query. */
    readonly relevance: number;
  };
}

/** A link's score: 1 is best, 0 neutral, -1 worst. */
export type LinkScorer = (link: ScoredLink) => number;

/**
 * The scorers that have a name: words of the query in the link and on its page, few segments in the path, a recent
 * date in the URL.
 *
 * @example
 * const isScorer = (text: string) => SCORER_NAMES.some((name) => name === text);
 */
export const SCORER_NAMES = ['keywords', 'depth', 'freshness'] as const;
/** A scorer by its name. */
export type ScorerName = (typeof SCORER_NAMES)[number];

/** Which scorers decide, and with which weight. */
export type Scorers = Readonly<Partial<Record<ScorerName, number>>> & {
  /** A function of your own; its weight is 1. */
  readonly custom?: LinkScorer;
};

/** When a crawl with a query has found enough. */
export interface EnoughOptions {
  /** Pages that are looked back at. Default 50. */
  readonly window?: number;
  /** The crawl ends when less than this share of what these pages say about the query is new. Default 0.01. */
  readonly gain?: number;
  /** It goes on until this share of the query's words was found. Default 0.6. */
  readonly coverage?: number;
}

/** In which order a crawl visits pages, and when it has found enough. */
export interface CrawlOrderOptions {
  /**
   * In which order found pages are visited, within each domain (ours): oldest first, newest first, or by what the
   * scorers expect of them. Default `bfs`; with a `query` or `scorers`, `best-first`.
   */
  order?: CrawlOrder | undefined;
  /** What the crawl looks for, in words: links and pages that name them come first (ours). */
  query?: string | undefined;
  /** What decides in a `best-first` crawl (ours). Default keywords with a query, else depth. */
  scorers?: Scorers | undefined;
  /** Ends the crawl when new pages stop adding to what the query asks for (ours). Needs a `query`. Default false. */
  enough?: boolean | EnoughOptions | undefined;
}

const MAX_QUERY_CHARACTERS = 1_000;
const aWeight = aNumber({ from: 0, to: 1_000 });
const SCORERS = { keywords: aWeight, depth: aWeight, freshness: aWeight, custom: aFunction };
const ENOUGH = {
  window: check('a whole number from 1 to 10000', (value) => isWhole(value) && value >= 1 && value <= 10_000),
  gain: aNumber({ from: 0, to: 1 }),
  coverage: aNumber({ from: 0, to: 1 }),
};

export const ORDER_SHAPE = {
  order: check(`one of "${CRAWL_ORDERS.join('", "')}"`, (value) => CRAWL_ORDERS.some((order) => order === value)),
  query: check(
    `words, at most ${MAX_QUERY_CHARACTERS} characters`,
    (value) => typeof value === 'string' && /[\p{L}\p{N}]/u.test(value) && value.length <= MAX_QUERY_CHARACTERS,
  ),
  scorers: check('{ keywords, depth, freshness } with weights from 0 to 1000, and a function "custom"', (value) =>
    hasShape(value, SCORERS),
  ),
  enough: anyOf(
    aBoolean,
    check('{ window, gain, coverage }', (value) => hasShape(value, ENOUGH)),
  ),
} as const satisfies Record<keyof CrawlOrderOptions, Check>;

function isWhole(value: unknown): value is number {
  return Number.isInteger(value);
}

function hasShape(value: unknown, shape: Record<string, Check>): boolean {
  return anObject.accepts(value) && findProblems('', value, shape).length === 0;
}

/** Options that are fine alone and wrong together. */
export function findOrderConflicts(owner: string, { order, query, scorers, enough }: CrawlOrderOptions): string[] {
  const conflicts: string[] = [];
  if (order !== undefined && order !== 'best-first' && scorers !== undefined) {
    conflicts.push(`${owner} option "scorers" needs "order" to be "best-first"`);
  }
  if (query === undefined && scorers?.keywords) {
    conflicts.push(`${owner} option "scorers.keywords" needs a "query"`);
  }
  if (query === undefined && enough !== undefined && enough !== false) {
    conflicts.push(`${owner} option "enough" needs a "query"`);
  }
  return conflicts;
}

/** With defaults. */
export function orderOptions({ order, query, scorers, enough = false }: CrawlOrderOptions) {
  const isScored = query !== undefined || scorers !== undefined;
  return {
    order: order ?? (isScored ? ('best-first' as const) : ('bfs' as const)),
    query,
    scorers: Object.freeze({ ...(scorers ?? (query === undefined ? { depth: 1 } : { keywords: 1 })) }) as Scorers,
    enough:
      enough === false
        ? undefined
        : Object.freeze({ window: 50, gain: 0.01, coverage: 0.6, ...(enough === true ? {} : enough) }),
  };
}
