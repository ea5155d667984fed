// What a link is worth before it is fetched: scorers of -1 to 1, their weighted mean, and the priority it gives.
// 0 is "nothing known", and its priority is the ordinary one: most links stay in the cheap line of their domain.
import { percentDecoded } from '../../request/percent-decoded.js';
import type { Priority } from '../../request/request.js';
import type { LinkScorer, Scorers } from './options.js';
import type { Query } from './query.js';

/** How much of a page's relevance its links inherit. */
const INHERITED = 0.45;
const DAY_MS = 86_400_000;
const HALF_LIFE_DAYS = 180;

/** Words of the query in the link's text or URL; and a page about the query leads to others. */
export function keywordScorer(query: Query): LinkScorer {
  return ({ url, text, page }) => {
    const own = query.share(`${text} ${wordsOfUrl(url)}`);
    return own + (1 - own) * INHERITED * page.relevance;
  };
}

/** Short paths are overviews: nothing up to two segments, then worse with each further one. */
export const depthScorer: LinkScorer = ({ url }) => {
  const segments = new URL(url).pathname.split('/', 20).filter((segment) => segment !== '').length;
  return Math.max(-1, Math.min(0.3, 0.3 * (2 - segments)));
};

/** A date in the URL: today is 1, half a year ago 0, long ago -1. Without one nothing is known. */
export function freshnessScorer(nowMs: () => number): LinkScorer {
  return ({ url, text }) => {
    const dateMs = dateIn(url) ?? dateIn(text);
    if (dateMs === undefined) return 0;
    const days = Math.max(0, (nowMs() - dateMs) / DAY_MS);
    return 2 * 2 ** (-days / HALF_LIFE_DAYS) - 1;
  };
}

const DATE = /(?<!\d)(20\d\d|19\d\d)[/_.-](0?[1-9]|1[0-2])(?:[/_.-](0?[1-9]|[12]\d|3[01]))?(?!\d)/;

function dateIn(text: string): number | undefined {
  const found = DATE.exec(text.slice(0, 2_000));
  return found ? Date.UTC(Number(found[1]), Number(found[2]) - 1, Number(found[3] ?? 1)) : undefined;
}

/** One scorer of several, by their weights. */
export function scorerOf(scorers: Scorers, query: Query | undefined, nowMs: () => number): LinkScorer {
  const { keywords = 0, depth = 0, freshness = 0, custom } = scorers;
  const parts: [weight: number, score: LinkScorer][] = [
    [query ? keywords : 0, query ? keywordScorer(query) : depthScorer],
    [depth, depthScorer],
    [freshness, freshnessScorer(nowMs)],
    [custom ? 1 : 0, custom ?? depthScorer],
  ];
  const used = parts.filter(([weight]) => weight > 0);
  const total = used.reduce((sum, [weight]) => sum + weight, 0) || 1;
  return (link) => used.reduce((sum, [weight, score]) => sum + weight * within(score(link)), 0) / total;
}

/** Whatever a function of the user returns. */
function within(score: number): number {
  return Number.isFinite(score) ? Math.max(-1, Math.min(1, score)) : 0;
}

/** The frontier has five priorities, two of them for what is better than ordinary. */
export function priorityOf(score: number): Priority {
  if (score >= 0.5) return 2;
  if (score >= 0.12) return 1;
  if (score > -0.12) return 0;
  return score > -0.5 ? -1 : -2;
}

function wordsOfUrl(url: string): string {
  return percentDecoded(url.slice(url.indexOf('/', url.indexOf('//') + 2)).slice(0, 2_000));
}
