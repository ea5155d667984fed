// POST /v2/search and /v1/search: through a SearXNG server that the operator named; its hits are scraped when asked for.
// Promise: only that server is asked, and only public addresses are scraped.
import { withSiteFiles } from '../../crawl/polite/site-files.js';
import type { App } from '../app.js';
import { ApiError, setting } from '../errors.js';
import { checked, parseJson } from '../http/body.js';
import type { Call, Handle } from '../http/router.js';
import type { ScrapeOptions } from './schemas.js';
import { searchBody } from './schemas.js';
import { scrapeFor } from './scrape.js';

export interface Hit {
  readonly url: string;
  readonly title: string;
  readonly description: string;
  readonly position: number;
  readonly category?: string;
}

const MAX_ANSWER_BYTES = 4_000_000;
const DEFAULT_LIMIT = 5;

export function searchRoute(app: App, version: string): Handle {
  return async (call) => {
    const body = checked(searchBody, await call.json());
    const wanted = (body.sources ?? ['web']).map((source) => (typeof source === 'string' ? source : source.type));
    const data: Record<string, unknown> = {};
    for (const source of wanted) {
      const hits = await searchFor(app, call, body.query, { ...body, source });
      data[source] = body.scrapeOptions ? await scraped(app, call, hits, body.scrapeOptions) : hits;
    }
    return { json: { success: true, data: version === 'v1' ? (data.web ?? []) : data } };
  };
}

interface SearchWish {
  readonly limit?: number | undefined;
  readonly lang?: string | undefined;
  readonly includeDomains?: readonly string[] | undefined;
  readonly excludeDomains?: readonly string[] | undefined;
  readonly timeout?: number | undefined;
  readonly source?: string;
}

export async function searchFor(
  app: App,
  { signal }: Pick<Call, 'signal'>,
  query: string,
  wish: SearchWish,
): Promise<Hit[]> {
  if (!app.searxng) throw setting('A search engine', '--searxng URL');
  const {
    limit = DEFAULT_LIMIT,
    includeDomains = [],
    excludeDomains = [],
    lang,
    timeout = 30_000,
    source = 'web',
  } = wish;
  const sites = includeDomains.map((domain) => `site:${domain}`).join(' OR ');
  const url = new URL(`${app.searxng.replace(/\/+$/, '')}/search`);
  url.searchParams.set(
    'q',
    [query, sites, ...excludeDomains.map((domain) => `-site:${domain}`)].filter(Boolean).join(' '),
  );
  url.searchParams.set('format', 'json');
  if (lang) url.searchParams.set('language', lang);
  url.searchParams.set('categories', CATEGORIES[source] ?? 'general');
  const text = await withSiteFiles([app.searxng], { signal }, (visit) =>
    visit({ url: url.href, timeoutMs: timeout, maxBodyBytes: MAX_ANSWER_BYTES }, async ({ statusCode, body }) => {
      if (statusCode !== 200) {
        const message = `The search engine answered ${statusCode}. Does its settings.yml allow the format json?`;
        throw new ApiError(500, message, 'SEARCH_FAILED');
      }
      return body.toString('utf8');
    }),
  );
  const { results = [] } = parseJson(text) as { results?: { url?: string; title?: string; content?: string }[] };
  return results
    .filter((hit) => /^https?:\/\//.test(hit.url ?? ''))
    .slice(0, limit)
    .map((hit, index) => ({
      url: hit.url!,
      title: hit.title ?? '',
      description: hit.content ?? '',
      position: index + 1,
    }));
}

const CATEGORIES: Readonly<Record<string, string>> = { web: 'general', news: 'news', images: 'images' };

async function scraped(app: App, call: Call, hits: readonly Hit[], options: ScrapeOptions): Promise<unknown[]> {
  return Promise.all(
    hits.map(async (hit) => {
      try {
        return { ...hit, ...(await scrapeFor(app, call, app.targets.check(hit.url, 'url'), options)) };
      } catch (error) {
        return { ...hit, metadata: { sourceURL: hit.url, error: (error as Error).message } };
      }
    }),
  );
}
