// robots.txt, sitemaps and the feed of each synthetic host, made from the map on request.
// Sitemaps list exactly the pages that answer 200 in the end and that robots.txt allows.
import { gzipSync } from 'node:zlib';
import type { Exchange, FlatHeaders } from '../exchange.js';
import type { SimwebPlan } from '../knobs.js';
import type { SiteMap } from './map.js';
import type { PageMaker } from './pages.js';

const TEXT: FlatHeaders = ['content-type', 'text/plain; charset=utf-8'];
const XML: FlatHeaders = ['content-type', 'application/xml; charset=utf-8'];
const FEED_ITEMS = 20;

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
  /** Answers if the path is one of robots.txt, a sitemap or the feed. */
  answer(exchange: Exchange): boolean;
}

export function createSiteFiles(plan: SimwebPlan, map: SiteMap, pages: PageMaker): SiteFiles {
  const day = (host: number, page: number): string => pages.lastModified(host, page, 0).toISOString().slice(0, 10);
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
      out += `<url><loc>${map.origin(host)}${map.path(page)}</loc><lastmod>${day(host, page)}</lastmod></url>\n`;
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

  function feed(host: number): string {
    let out = `<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel><title>Site ${host}</title>\n`;
    for (let page = 0; page < Math.min(FEED_ITEMS, plan.pagesPerHost); page++) {
      if (!listed(map, host, page)) continue;
      out += `<item><title>${pages.title(host, page)}</title><link>${map.origin(host)}${map.path(page)}</link></item>\n`;
    }
    return `${out}</channel></rss>\n`;
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
    else if (path === '/feed.xml') exchange.send(200, ['content-type', 'application/rss+xml'], feed(host));
    else if (!file || file[2] !== suffix || Number(file[1]) >= files) return false;
    else if (suffix === '.xml') exchange.send(200, XML, urlSet(host, Number(file[1])));
    else
      exchange.send(200, ['content-type', 'application/gzip'], gzipSync(urlSet(host, Number(file[1])), { level: 1 }));
    return true;
  }

  return { answer };
}
