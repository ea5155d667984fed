// The order of a crawl at work: which priority a found link gets, and when a query has its answer.
// Promise: the page is read only when its first link is scored, and once.
import type { Priority } from '../../request/request.js';
import type { PageContent } from '../../parse/page.js';
import type { ResolvedOptions } from '../options/options.js';
import type { Time } from '../time.js';
import { createEnough, type Enough } from './enough.js';
import { createQuery } from './query.js';
import { priorityOf, scorerOf } from './scorers.js';

/** What is known of the page a link was found on. */
export interface LinkSource {
  readonly url: string;
  /** Missing where nothing was fetched or scanned. */
  readonly content?: Pick<PageContent, 'title' | 'text' | 'links'> | undefined;
}

export type PriorityOfLink = (url: string, depth: number) => Priority;

/** How found links are queued. */
export interface LinkOrder {
  /** The first link of the newest page comes first. */
  readonly isDepthFirst: boolean;
  /** The priority of each link of a page. Only of a best-first crawl. */
  readonly prioritiesOn?: (page: LinkSource) => PriorityOfLink;
}

/** Undefined for breadth first, which is how a frontier works by itself. */
export function createLinkOrder(options: OrderSettings, time: Pick<Time, 'wallMs'>): LinkOrder | undefined {
  switch (options.order) {
    case 'bfs':
      return undefined;
    case 'dfs':
      return { isDepthFirst: true };
    case 'best-first':
      return { isDepthFirst: false, prioritiesOn: createPriorities(options, time) };
    default:
      return options.order satisfies never;
  }
}

export type OrderSettings = Pick<ResolvedOptions, 'order' | 'query' | 'scorers'>;

function createPriorities({ query: text, scorers }: OrderSettings, time: Pick<Time, 'wallMs'>) {
  const query = text === undefined ? undefined : createQuery(text);
  const score = scorerOf(scorers, query, () => time.wallMs());
  return (source: LinkSource): PriorityOfLink => {
    let texts: Map<string, string> | undefined;
    let page = { url: source.url, relevance: 0 };
    return (url, depth) => {
      if (!texts) {
        const { content } = source;
        texts = textsOf(content?.links ?? []);
        page = { url: source.url, relevance: query && content ? query.relevance(content.title, content.text) : 0 };
      }
      return priorityOf(score({ url, text: texts.get(url) ?? '', depth, page }));
    };
  };
}

/** A menu, a picture and a headline may lead to one page: all they say counts. */
function textsOf(links: PageContent['links']): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { url, text } of links) {
    const before = texts.get(url);
    if (before === undefined) texts.set(url, text.slice(0, 200));
    else if (before.length < 200) texts.set(url, `${before} ${text.slice(0, 200)}`);
  }
  return texts;
}

/** Undefined where a crawl goes on for as long as there is something to visit. */
export function enoughOf({ query, enough }: Pick<ResolvedOptions, 'query' | 'enough'>): Enough | undefined {
  return query === undefined || !enough ? undefined : createEnough(createQuery(query), enough);
}
