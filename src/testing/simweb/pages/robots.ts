// robots.txt, sitemaps and feeds of each synthetic host, made from the map on request.
// Sitemaps list exactly the pages that answer 200 in the end and that robots.txt allows.
import { gzipSync } from 'node:zlib';
import type { Exchange, FlatHeaders } from '../exchange.js';
import type { PageChanges } from '../changes.js';
import type { SimwebPlan } from '../knobs.js';
import type { SiteMap } from './map.js';
import type { PageMaker } from './pages.js';

const TEXT: FlatHeaders = ['content-type', 'text/plain; charset=utf-8'];
const XML: FlatHeaders = ['content-type', 'application/xml; charset=utf-8'];
const FEED_ITEMS = 20;
/** Feeds name the newest of so many pages. */
const FEED_PAGES = 1_000;

const listed = (map: SiteMap, host: number, page: number): boolean => {
  const kind = map.kind(host, page);
  return kind === 'page' || kind === 'recovering';
};

/** The text of a host's robots.txt. */
export function robotsText(plan: SimwebPlan, map: SiteMap, host: number): string {
  const knobs = map.host(host).robots ?? {};
  if (knobs.body !== undefined) return knobs.body;
  const lines = ['User-agent: *'];
  for (const path of knobs.disallow ?? ['/private/']) lines.push(`Disallow: ${path}`);
  if (knobs.crawlDelaySecs !== undefined) lines.push(`Crawl-delay: ${knobs.crawlDelaySecs}`);
  if (plan.sitemaps) lines.push('', `Sitemap: ${map.origin(host)}/sitemap.xml`);
  return `${lines.join('\n')}\n`;
}

export interface SiteFiles {
  /** Answers if the path is one of robots.txt, a sitemap or a feed. */
  answer(exchange: Exchange): boolean;
}

export interface SiteFileParts {
  readonly plan: SimwebPlan;
  readonly map: SiteMap;
  readonly pages: PageMaker;
  readonly changes: PageChanges;
}

export function createSiteFiles({ plan, map, pages, changes }: SiteFileParts): SiteFiles {
  /** When it last changed, in milliseconds since 1970; undefined if it never did. */
  const changedAt = (host: number, page: number): number | undefined =>
    changes.momentsOf(host, page, Date.now()).at(-1);

  /** What is said of when a page last changed. */
  function saidOf(host: number, page: number): Date | undefined {
    const { lastmod } = plan.changes;
    if (lastmod === 'none') return undefined;
    if (lastmod === 'now') return new Date();
    const atMs = lastmod === 'true' ? changedAt(host, page) : undefined;
    return atMs === undefined ? pages.lastModified(host, page, 0) : new Date(atMs);
  }

  /** A page that never changed has a day, as most sitemaps say. */
  function lastmodOf(host: number, page: number): string {
    const text = saidOf(host, page)?.toISOString();
    if (text === undefined) return '';
    return `<lastmod>${text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text}</lastmod>`;
  }

  const suffix = plan.sitemaps?.gzip ? '.xml.gz' : '.xml';
  const perFile = plan.sitemaps?.perFile ?? 1;
  const files = Math.ceil(plan.pagesPerHost / perFile);

  function index(host: number): string {
    let out =
      '<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n';
    for (let file = 0; file < files; file++) {
      out += `<sitemap><loc>${map.origin(host)}/sitemaps/${file}${suffix}</loc></sitemap>\n`;
    }
    return `${out}</sitemapindex>\n`;
  }

  function urlSet(host: number, file: number): string {
    let out = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n';
    for (let page = file * perFile; page < Math.min((file + 1) * perFile, plan.pagesPerHost); page++) {
      if (!listed(map, host, page)) continue;
      out += `<url><loc>${map.origin(host)}${map.path(page)}</loc>${lastmodOf(host, page)}</url>\n`;
    }
    return `${out}</urlset>\n`;
  }

  function textList(host: number): string {
    let out = '';
    for (let page = 0; page < Math.min(perFile, plan.pagesPerHost); page++) {
      if (listed(map, host, page)) out += `${map.origin(host)}${map.path(page)}\n`;
    }
    return out;
  }

  /** Those that changed last come first, then the others in order. */
  function newest(host: number): { title: string; url: string; said: Date | undefined }[] {
    const found: { page: number; atMs: number }[] = [];
    for (let page = 0; page < Math.min(FEED_PAGES, plan.pagesPerHost); page++) {
      if (listed(map, host, page)) found.push({ page, atMs: changedAt(host, page) ?? 0 });
    }
    found.sort((a, b) => b.atMs - a.atMs);
    return found.slice(0, FEED_ITEMS).map(({ page }) => ({
      title: pages.title(host, page),
      url: `${map.origin(host)}${map.path(page)}`,
      said: saidOf(host, page),
    }));
  }

  function rss(host: number): string {
    let out = `<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel><title>Site ${host}</title>\n`;
    for (const { title, url, said } of newest(host)) {
      const date = said ? `<pubDate>${said.toUTCString()}</pubDate>` : '';
      out += `<item><title>${title}</title><link>${url}</link>${date}</item>\n`;
    }
    return `${out}</channel></rss>\n`;
  }

  function atom(host: number): string {
    let out = `<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom"><title>Site ${host}</title>\n`;
    for (const { title, url, said } of newest(host)) {
      const date = said ? `<updated>${said.toISOString()}</updated>` : '';
      out += `<entry><title>${title}</title><link href="${url}"/><id>${url}</id>${date}</entry>\n`;
    }
    return `${out}</feed>\n`;
  }

  function answerRobots(exchange: Exchange): void {
    const knobs = map.host(exchange.host).robots;
    if (!knobs) return exchange.send(404, TEXT, 'no rules here\n');
    if (knobs.location !== undefined) return exchange.send(knobs.status ?? 302, ['location', knobs.location]);
    exchange.send(knobs.status ?? 200, TEXT, robotsText(plan, map, exchange.host));
  }

  function answer(exchange: Exchange): boolean {
    const { path, host } = exchange;
    if (path === '/robots.txt') {
      answerRobots(exchange);
      return true;
    }
    if (!plan.sitemaps) return false;
    const file = /^\/sitemaps\/(\d+)(\.xml(?:\.gz)?)$/.exec(path);
    if (path === '/sitemap.xml') exchange.send(200, XML, index(host));
    else if (path === '/sitemap.txt') exchange.send(200, TEXT, textList(host));
    else if (path === '/feed.xml') exchange.send(200, ['content-type', 'application/rss+xml'], rss(host));
    else if (path === '/atom.xml') exchange.send(200, ['content-type', 'application/atom+xml'], atom(host));
    else if (!file || file[2] !== suffix || Number(file[1]) >= files) return false;
    else if (suffix === '.xml') exchange.send(200, XML, urlSet(host, Number(file[1])));
    else
      exchange.send(200, ['content-type', 'application/gzip'], gzipSync(urlSet(host, Number(file[1])), { level: 1 }));
    return true;
  }

  return { answer };
}
