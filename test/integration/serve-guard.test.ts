// The address guard of the server: 60 spellings of private addresses in every field that takes a URL, and wherever a page
// can lead. The only address that may be fetched from is 127.0.0.1; a witness at 127.0.0.2 is never asked for anything.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath } from '../support/browser.js';
import { PRIVATE_HOSTS } from '../support/private-hosts.js';
import {
  dataFolder,
  endedAt,
  eventually,
  html,
  type Server as Serving,
  type Site,
  startSite,
} from '../support/serve.js';
import { startServeHere } from '../support/serve-here.js';

const bytes = (text: string): string => Buffer.from(text).toString('latin1');

let site: Site;
let server: Serving;
let witness: Server;
let hosts: string[];
let asked = 0;
let hooks = 0;
let removeData: () => Promise<void>;

beforeAll(async () => {
  witness = createServer((_request, response) => {
    asked++;
    response.end('a secret');
  });
  await new Promise<void>((resolve) => witness.listen(0, '127.0.0.2', resolve));
  const { port } = witness.address() as AddressInfo;
  hosts = PRIVATE_HOSTS.map((host) => `${host}:${port}`);
  site = await startSite((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
    const say = (text: string, type = 'text/html') => response.setHeader('content-type', type).end(text);
    const list = (tag: string) => hosts.map((host) => `<${tag}><loc>http://${host}/${tag}</loc></${tag}>`).join('');
    switch (pathname) {
      case '/':
        return say(html('Home', hosts.map((host) => `<a href="http://${host}/link">x</a>`).join('')));
      case '/robots.txt':
        return say(
          [...hosts.map((host) => `Sitemap: http://${host}/sitemap.xml`), `Sitemap: ${site.url}/index.xml`].join('\n'),
          'text/plain',
        );
      case '/index.xml':
        return say(
          `<sitemapindex>${list('sitemap')}<sitemap><loc>${site.url}/map.xml</loc></sitemap></sitemapindex>`,
          'text/xml',
        );
      case '/map.xml':
        return say(`<urlset>${list('url')}<url><loc>${site.url}/listed</loc></url></urlset>`, 'text/xml');
      case '/to':
        // As servers write it: bytes of UTF-8.
        return void response
          .writeHead(302, { location: bytes(`http://${hosts[Number(searchParams.get('i'))]}/`) })
          .end();
      case '/hook':
        hooks++;
        return void response.writeHead(307, { location: `http://${hosts[0]}/` }).end();
      case '/search':
        return say(
          JSON.stringify({ results: hosts.map((host) => ({ url: `http://${host}/`, title: 'x' })) }),
          'application/json',
        );
      case '/click':
        return say(html('Click', `<a id="go" href="http://${hosts[0]}/">go</a>`));
      default:
        return say(html('Page', `<p>The page at ${pathname}.</p>`));
    }
  });
  const data = await dataFolder();
  removeData = data.remove;
  server = await startServeHere(data.dir, {
    allowPrivate: ['127.0.0.1/32'],
    allowScripts: true,
    searxng: site.url,
    llm: { url: `${site.url}/v1`, model: 'none' },
  });
});
afterAll(async () => {
  await server?.stop();
  await site?.close();
  witness?.close();
  await removeData?.();
});

describe('private addresses', () => {
  it('are refused in 60 spellings in every field that takes a URL', async () => {
    expect(hosts.length).toBeGreaterThanOrEqual(60);
    const home = `${site.url}/`;
    const prompt = 'what is it?';
    const monitor = (targets: object[]) => ({ name: 'x', schedule: { text: 'daily' }, targets });
    for (const host of hosts) {
      const url = `http://${host}/`;
      const tries: [string, unknown][] = [
        ['/v2/scrape', { url }],
        ['/v1/scrape', { url }],
        ['/v2/crawl', { url }],
        ['/v2/crawl', { url: home, webhook: url }],
        ['/v2/crawl/params-preview', { url, prompt }],
        ['/v2/map', { url }],
        ['/v2/batch/scrape', { urls: [home, url] }],
        ['/v2/batch/scrape', { urls: [home], webhook: { url } }],
        ['/v2/extract', { urls: [url], prompt }],
        ['/v2/extract', { urls: [home], prompt, webhook: url }],
        ['/v2/monitor', monitor([{ type: 'scrape', urls: [home, url] }])],
        ['/v2/monitor', monitor([{ type: 'crawl', url }])],
        ['/v2/monitor', { ...monitor([{ type: 'crawl', url: home }]), webhook: { url } }],
      ];
      for (const [where, body] of tries) {
        const { status, json } = await server.ask('POST', where, body);
        expect([where, url, status, json.code]).toEqual([where, url, 403, 'ADDRESS_REFUSED']);
      }
      expect((await server.ask('GET', `/read/${url}`)).status).toBe(403);
    }
    expect(asked).toBe(0);
  }, 300_000);

  it('are refused behind a redirect of a page and of a webhook', async () => {
    for (let i = 0; i < hosts.length; i++) {
      const answer = await server.ask('POST', '/v2/scrape', { url: `${site.url}/to?i=${i}` });
      expect([hosts[i], answer.status, answer.json.code]).toEqual([hosts[i], 403, 'ADDRESS_REFUSED']);
    }
    const batch = await server.ask('POST', '/v2/batch/scrape', {
      urls: [`${site.url}/listed`],
      webhook: `${site.url}/hook`,
    });
    await endedAt(server, `/v2/batch/scrape/${batch.json.id}`);
    expect(hooks).toBeGreaterThan(0);
    expect(asked).toBe(0);
  }, 300_000);

  it('are not fetched by the checks of a monitor', async () => {
    const made = await server.ask('POST', '/v2/monitor', {
      name: 'x',
      schedule: { text: 'daily' },
      targets: [
        { type: 'scrape', urls: hosts.map((_, i) => `${site.url}/to?i=${i}`) },
        { type: 'crawl', url: `${site.url}/`, crawlOptions: { allowExternalLinks: true } },
      ],
      webhook: { url: `${site.url}/hook` },
    });
    const hooksBefore = hooks;
    const where = `/v2/monitor/${made.json.data.id}`;
    const { id } = (await server.ask('POST', `${where}/run`, {})).json.data;
    await eventually(
      async () => (await server.ask('GET', `${where}/checks/${id}`)).json.data.status === 'partial',
      'the check ends',
    );
    const { summary } = (await server.ask('GET', `${where}/checks/${id}`)).json.data;
    // Besides those, links to private hosts that the crawl found.
    expect(summary.error).toBeGreaterThanOrEqual(hosts.length);
    expect(summary).toMatchObject({ new: 2, same: 0, changed: 0, removed: 0 });
    await eventually(async () => hooks > hooksBefore, 'the webhook is asked');
    expect(asked).toBe(0);
  }, 300_000);

  it('are not fetched when robots.txt, sitemaps or links name them', async () => {
    const map = await server.ask('POST', '/v2/map', { url: site.url });
    expect(map.json.links.map(({ url }: { url: string }) => url)).toContain(`${site.url}/listed`);
    const crawl = await server.ask('POST', '/v2/crawl', { url: `${site.url}/`, allowExternalLinks: true, limit: 500 });
    const { data } = await endedAt(server, `/v2/crawl/${crawl.json.id}`);
    const urls = (data as { metadata: { sourceURL: string } }[]).map(({ metadata }) => metadata.sourceURL).sort();
    expect(urls).toEqual([`${site.url}/`, `${site.url}/listed`]);
    expect(asked).toBe(0);
  }, 300_000);

  it('are not scraped when a search finds them', async () => {
    const { json } = await server.ask('POST', '/v2/search', {
      query: 'secrets',
      limit: 100,
      scrapeOptions: { formats: ['markdown'] },
    });
    expect(json.data.web).toHaveLength(hosts.length);
    for (const hit of json.data.web)
      expect(hit).toMatchObject({ metadata: { error: expect.stringContaining('not a public') } });
    expect(asked).toBe(0);
  });

  it.skipIf(browserPath === undefined)(
    'are not reached by actions and scripts in a browser',
    async () => {
      const script = `(async () => { for (const host of ${JSON.stringify(hosts)}) await fetch('http://' + host, { mode: 'no-cors' }).catch(() => 0); })()`;
      await server.ask('POST', '/v2/scrape', {
        url: `${site.url}/click`,
        formats: ['rawHtml'],
        actions: [
          { type: 'executeJavascript', script },
          { type: 'click', selector: '#go' },
          { type: 'wait', milliseconds: 500 },
          { type: 'scrape' },
        ],
      });
      expect(asked).toBe(0);
    },
    120_000,
  );
});

describe('what clients are told', () => {
  it('names what to use in place of paths that are not served', async () => {
    const paths: [string, string, RegExp][] = [
      ['POST', '/v2/agent', /--llm-url/],
      ['GET', '/v2/agent/x', /\/v2\/extract/],
      ['POST', '/v2/browser', /--allow-scripts/],
      ['POST', '/v2/scrape/x/interact', /"actions"/],
      ['GET', '/v1/monitor', /\/v2\/monitor/],
      ['POST', '/v2/search/research', /--searxng/],
      ['POST', '/v2/parse', /\/v2\/scrape/],
      ['POST', '/v1/deep-research', /--llm-model/],
    ];
    for (const [method, where, hint] of paths) {
      const { status, json } = await server.ask(method, where, method === 'POST' ? {} : undefined);
      expect([where, status, json]).toEqual([
        where,
        404,
        expect.objectContaining({ error: expect.stringMatching(hint) }),
      ]);
    }
  });

  it('names the options that change nothing', async () => {
    const options = { parsers: [{ type: 'pdf', mode: 'fast' }], location: { country: 'DE' } };
    const scrape = await server.ask('POST', '/v2/scrape', { url: `${site.url}/listed`, ...options });
    expect(scrape.json.data.warning).toBe('Without effect on this server: parsers.mode, location.country.');
    const scrapeOptions = { location: { country: 'DE' } };
    const crawl = await server.ask('POST', '/v2/crawl', { url: site.url, limit: 1, scrapeOptions });
    expect(crawl.json.warning).toContain('location.country');
    const batch = await server.ask('POST', '/v2/batch/scrape', { urls: [site.url], zeroDataRetention: true });
    expect(batch.json.warning).toContain('zeroDataRetention');
    expect((await server.ask('POST', '/v2/scrape', { url: `${site.url}/listed` })).json.data.warning).toBeUndefined();
  });

  it('believes X-Forwarded-Proto only where told to', async () => {
    const crawl = { url: site.url, limit: 1 };
    const forwarded = { 'x-forwarded-proto': 'https' };
    expect((await server.ask('POST', '/v2/crawl', crawl, forwarded)).json.url).toMatch(/^http:/);
    const data = await dataFolder();
    const trusting = await startServeHere(data.dir, { allowPrivate: ['127.0.0.1/32'], trustProxy: true });
    expect((await trusting.ask('POST', '/v2/crawl', crawl, forwarded)).json.url).toMatch(/^https:/);
    await trusting.stop();
    await data.remove();
  });

  it('refuses an order that contradicts itself, and crawls best first for a query', async () => {
    const wrong = await server.ask('POST', '/v2/crawl', { url: site.url, enough: true });
    expect(wrong).toMatchObject({ status: 400, json: { error: expect.stringContaining('"query"') } });
    const crawl = await server.ask('POST', '/v2/crawl', { url: site.url, query: 'listed page', enough: true });
    expect(await endedAt(server, `/v2/crawl/${crawl.json.id}`)).toMatchObject({ status: 'completed', completed: 2 });
  });
});
