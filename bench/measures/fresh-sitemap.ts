// Hints of a million pages: sitemaps of 50,000 URLs each, streamed into what an update or a watch knows of a site.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { readHintLists } from '../../src/crawl/storage/hint-lists.js';
import { createSiteHints } from '../../src/fresh/hints/site-hints.js';
import { createPageMemory } from '../../src/fresh/memory/memory.js';
import { newPage } from '../../src/fresh/memory/new-page.js';
import { fingerprintOf } from '../../src/request/fingerprint.js';
import { normalizeUrl } from '../../src/request/url.js';
import type { Figure } from '../measure.js';

const PAGES = Number(process.env.FRESH_PAGES ?? 1_000_000);
const PER_FILE = 50_000;
const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';
/** The page that each second one says changed after its visit. */
const VISITED = Date.UTC(2026, 5, 1);
const lastmodOf = (page: number): string => new Date(VISITED + (page % 2 === 0 ? 1 : -1) * 86_400_000).toISOString();

/** Files are made while they are sent. */
async function startSite() {
  const server = createServer(({ url = '' }, response) => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    if (url === '/robots.txt') return response.end(`Sitemap: ${origin}/all.xml\n`);
    response.setHeader('content-type', 'application/xml');
    if (url === '/all.xml') {
      const files = Array.from({ length: Math.ceil(PAGES / PER_FILE) }, (_, n) => n);
      const lines = files.map((n) => `<sitemap><loc>${origin}/${n}.xml</loc></sitemap>`);
      return response.end(`<sitemapindex ${NAMESPACE}>${lines.join('')}</sitemapindex>`);
    }
    const first = Number(url.slice(1, -4)) * PER_FILE;
    return Readable.from(fileOf(origin, first, Math.min(PAGES, first + PER_FILE))).pipe(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, close: () => void (server.closeAllConnections(), server.close()) };
}

function* fileOf(origin: string, first: number, end: number): Generator<string> {
  yield `<urlset ${NAMESPACE}>`;
  for (let page = first; page < end; page += 500) {
    const urls = Array.from({ length: Math.min(500, end - page) }, (_, n) => page + n);
    yield urls
      .map((n) => `<url><loc>${origin}/pages/${n}.html</loc><lastmod>${lastmodOf(n)}</lastmod></url>\n`)
      .join('');
  }
  yield '</urlset>';
}

export async function measure(): Promise<Figure[]> {
  const site = await startSite();
  const hints = createSiteHints(createPageMemory(), () => Math.floor(Date.now() / 1000));
  const before = process.memoryUsage.rss();
  const cpu = process.cpuUsage();
  let most = before;
  let listed = 0;
  try {
    await readHintLists({
      origins: [site.origin],
      take(entries) {
        for (const { url, lastmod } of entries) hints.list(fingerprintOf(normalizeUrl(url)), lastmod);
        listed += entries.length;
        most = Math.max(most, process.memoryUsage.rss());
      },
    });
  } finally {
    site.close();
  }
  const { user, system } = process.cpuUsage(cpu);
  let urgent = 0;
  for (let page = 0; page < PAGES; page++) {
    const url = `${site.origin}/pages/${page}.html`;
    const known = { page: newPage(VISITED / 1000, 200), names: { url } };
    if (hints.isUrgent(fingerprintOf(normalizeUrl(url)), known)) urgent++;
  }
  return [
    { what: 'URLs of sitemaps that were read', measured: String(listed), goal: String(PAGES) },
    {
      what: 'pages that are said to have changed since their visit',
      measured: String(urgent),
      goal: String(PAGES / 2),
    },
    {
      what: 'memory at most, with all hints and the server that streams them',
      measured: `${Math.round((most - before) / 2 ** 20)} MB more`,
      goal: 'reported',
    },
    {
      what: 'CPU per URL, the server included',
      measured: `${((user + system) / PAGES).toFixed(1)} µs`,
      goal: 'reported',
    },
  ];
}
