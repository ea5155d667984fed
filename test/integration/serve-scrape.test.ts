// Scrapes through `orcrawl serve`, by the unmodified SDK and by plain HTTP: formats, actions, reader, map, locks, clean stop.
import { connect } from 'node:net';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import Firecrawl, { FirecrawlAppV1 } from 'firecrawl';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ask,
  dataFolder,
  eventually,
  html,
  LOOPBACK,
  type ServerProcess,
  type Site,
  startServe,
  startSite,
} from '../support/serve.js';

let site: Site;
let server: ServerProcess;
let sdk: Firecrawl;
let removeData: () => Promise<void>;
let visits = 0;

beforeAll(async () => {
  site = await startSite((request, response) => {
    const at = new URL(request.url ?? '/', 'http://x');
    const say = (status: number, text: string, type = 'text/html; charset=utf-8') =>
      response.writeHead(status, { 'content-type': type }).end(text);
    switch (at.pathname) {
      case '/':
        return say(
          200,
          html(
            'Home',
            '<p>Welcome to the home page of orcas, who hunt in pods and sing.</p><a href="/prices">Prices of tickets</a><a href="/about">About</a><img src="/orca.png" alt="an orca"><img src="data:image/png;base64,AAAA" alt="inline">',
          ),
        );
      case '/prices':
        return say(200, html('Prices', '<p>A ticket costs 12 euros for adults and six euros for children.</p>'));
      case '/about':
        return say(200, html('About', '<p>We watch whales.</p>'));
      case '/counter':
        return say(200, html('Counter', `<p>Visit number ${++visits} of this page.</p>`));
      case '/click':
        return say(
          200,
          html(
            'Click',
            `<p id="out">before</p><input id="in"><button onclick="document.getElementById('out').textContent='clicked '+document.getElementById('in').value">go</button>`,
          ),
        );
      case '/slow':
        return void setTimeout(
          () => say(200, html('Slow', `<p>${'This page comes late and says many words. '.repeat(40)}</p>`)),
          2_000,
        );
      case '/gone':
        return say(404, html('Gone', '<p>There is nothing here.</p>'));
      case '/headers':
        return say(200, JSON.stringify(request.headers), 'application/json');
      case '/to-private':
        return void response.writeHead(302, { location: 'http://10.0.0.1/secret' }).end();
      default:
        return say(404, 'none');
    }
  });
  const data = await dataFolder();
  removeData = data.remove;
  server = await startServe(data.dir, [...LOOPBACK, '--allow-scripts']);
  sdk = new Firecrawl({ apiKey: server.token, apiUrl: server.url });
}, 120_000);
afterAll(async () => {
  await server?.stop();
  await site?.close();
  await removeData?.();
});

describe('scrape', () => {
  it('gives every format of plain pages to the SDK', async () => {
    const page = await sdk.scrape(`${site.url}/`, {
      formats: [
        'markdown',
        'html',
        'rawHtml',
        'links',
        'images',
        { type: 'attributes', selectors: [{ selector: 'img', attribute: 'alt' }] } as never,
      ],
    });
    expect(page.markdown).toContain('hunt in pods');
    expect(page.markdown).not.toContain('base64,AAAA');
    expect(page.html).toContain('<h1>Home</h1>');
    expect(page.rawHtml).toContain('<!doctype html>');
    expect(page.links).toEqual([`${site.url}/prices`, `${site.url}/about`]);
    expect(page.images).toContain(`${site.url}/orca.png`);
    expect(page.attributes).toEqual([{ selector: 'img', attribute: 'alt', values: ['an orca', 'inline'] }]);
    expect(page.metadata).toMatchObject({
      title: 'Home',
      description: 'About Home',
      language: 'en',
      ogTitle: 'Home',
      sourceURL: `${site.url}/`,
      url: `${site.url}/`,
      statusCode: 200,
      cacheState: 'miss',
    });
  });

  it('runs actions in a browser and takes pictures', async () => {
    const page = await sdk.scrape(`${site.url}/click`, {
      formats: ['markdown', { type: 'screenshot', fullPage: true, quality: 60, viewport: { width: 400, height: 300 } }],
      actions: [
        { type: 'click', selector: '#in' },
        { type: 'write', text: 'orca' },
        { type: 'press', key: 'Tab' },
        { type: 'click', selector: 'button' },
        { type: 'wait', milliseconds: 50 },
        { type: 'scroll', direction: 'down' },
        { type: 'scrape' },
        { type: 'screenshot' },
        { type: 'executeJavascript', script: 'document.title + 1' },
        { type: 'pdf', format: 'A4' },
      ],
    });
    expect(page.markdown).toContain('clicked orca');
    expect(Buffer.from(page.screenshot!.split(',')[1]!, 'base64').subarray(0, 2).toString('hex')).toBe('ffd8');
    const actions = page.actions as Record<string, never[]>;
    expect(actions.scrapes).toMatchObject([
      { url: `${site.url}/click`, html: expect.stringContaining('clicked orca') },
    ]);
    expect(actions.javascriptReturns).toEqual([{ type: 'string', value: 'Click1' }]);
    expect(Buffer.from(actions.pdfs![0]!, 'base64').subarray(0, 4).toString()).toBe('%PDF');
    expect(actions.screenshots).toHaveLength(1);
  });

  it('fails a scrape whose action fails', async () => {
    const answer = await server.ask('POST', '/v2/scrape', {
      url: `${site.url}/click`,
      timeout: 4_000,
      actions: [
        { type: 'wait', milliseconds: 1 },
        { type: 'wait', selector: '#never' },
      ],
    });
    expect([408, 422]).toContain(answer.status);
    expect(answer.json).toMatchObject({ success: false });
  });

  it('answers a page that says 404 as a page, and what never came as an error', async () => {
    const gone = await server.ask('POST', '/v2/scrape', { url: `${site.url}/gone` });
    expect(gone.json).toMatchObject({
      success: true,
      data: { metadata: { statusCode: 404, error: expect.any(String) } },
    });
    const refused = await server.ask('POST', '/v2/scrape', { url: 'http://127.0.0.1:1/' });
    expect(refused).toMatchObject({ status: 500, json: { success: false, code: 'CONNECT_REFUSED' } });
    const slow = await server.ask('POST', '/v2/scrape', { url: `${site.url}/slow`, timeout: 500 });
    expect(slow).toMatchObject({ status: 408, json: { code: 'FETCH_TIMEOUT' } });
  });

  it('uses a stored page when the request says how old it may be', async () => {
    const options = { url: `${site.url}/counter`, maxAge: 60_000 };
    const first = (await server.ask('POST', '/v2/scrape', options)).json.data;
    const second = (await server.ask('POST', '/v2/scrape', options)).json.data;
    const fresh = (await server.ask('POST', '/v2/scrape', { url: options.url })).json.data;
    expect(second.markdown).toBe(first.markdown);
    expect([first.metadata.cacheState, second.metadata.cacheState]).toEqual(['miss', 'hit']);
    expect(fresh.markdown).not.toBe(first.markdown);
  });

  it('tracks what changed since the last time', async () => {
    const body = {
      url: `${site.url}/counter`,
      formats: [{ type: 'changeTracking', modes: ['git-diff'], tag: 'test' }],
    };
    const first = (await server.ask('POST', '/v2/scrape', body)).json.data.changeTracking;
    const second = (await server.ask('POST', '/v2/scrape', body)).json.data.changeTracking;
    expect(first).toMatchObject({ changeStatus: 'new', previousScrapeAt: null });
    expect(second).toMatchObject({
      changeStatus: 'changed',
      diff: { text: expect.stringMatching(/^@@[^]*^-.*Visit number[^]*^\+.*Visit number/m) },
    });
  });

  it('sends headers, chooses elements and refuses what it does not know', async () => {
    const sent = await server.ask('POST', '/v2/scrape', {
      url: `${site.url}/headers`,
      headers: { 'X-Test': 'yes' },
      location: { languages: ['de-CH'] },
    });
    expect(sent.json.data.markdown).toContain('"x-test":"yes"');
    expect(sent.json.data.markdown).toContain('de-CH');
    const chosen = await server.ask('POST', '/v2/scrape', { url: `${site.url}/`, includeTags: ['h1'] });
    expect(chosen.json.data.markdown.trim()).toBe('# Home');
    const without = await server.ask('POST', '/v2/scrape', {
      url: `${site.url}/`,
      excludeTags: ['p'],
      onlyMainContent: false,
    });
    expect(without.json.data.markdown).not.toContain('pods');
    const wrong = await server.ask('POST', '/v2/scrape', { url: `${site.url}/`, formatz: [] });
    expect(wrong).toMatchObject({ status: 400, json: { success: false, error: expect.stringContaining('formatz') } });
    for (const formats of [['summary'], [{ type: 'json', prompt: 'x' }], [{ type: 'question', question: 'x' }]]) {
      const model = await server.ask('POST', '/v2/scrape', { url: `${site.url}/`, formats });
      expect(model).toMatchObject({ status: 400, json: { error: expect.stringContaining('--llm-url') } });
    }
    expect(await server.ask('POST', '/v2/search', { query: 'x' })).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining('--searxng') },
    });
  });

  it("serves the SDK's older classes, too", async () => {
    const old = new FirecrawlAppV1({ apiKey: server.token, apiUrl: server.url });
    const page = (await old.scrapeUrl(`${site.url}/`, { formats: ['markdown', 'links'] })) as {
      success: boolean;
      markdown?: string;
      links?: string[];
    };
    expect(page).toMatchObject({
      success: true,
      markdown: expect.stringContaining('pods'),
      links: [`${site.url}/prices`, `${site.url}/about`],
    });
    const map = (await old.mapUrl(`${site.url}/`, {})) as { links?: string[] };
    expect(map.links).toContain(`${site.url}/prices`);
    const crawl = (await old.crawlUrl(`${site.url}/`, { limit: 3, scrapeOptions: { formats: ['markdown'] } }, 1)) as {
      status: string;
      data: unknown[];
    };
    expect([crawl.status, crawl.data.length]).toEqual(['completed', 3]);
    const batch = (await old.batchScrapeUrls([`${site.url}/`, `${site.url}/about`], { formats: ['markdown'] }, 1)) as {
      status: string;
      data: unknown[];
    };
    expect([batch.status, batch.data.length]).toEqual(['completed', 2]);
  });
});

describe('map and reader', () => {
  it('lists the pages of a site, the best match first', async () => {
    const all = await sdk.map(`${site.url}/`);
    expect(all.links.map(({ url }) => url)).toEqual(
      expect.arrayContaining([`${site.url}/`, `${site.url}/prices`, `${site.url}/about`]),
    );
    const found = await sdk.map(`${site.url}/`, { search: 'tickets' });
    expect(found.links[0]).toMatchObject({ url: `${site.url}/prices`, title: 'Prices' });
    expect(found.links.map(({ url }) => url)).not.toContain(`${site.url}/about`);
  });

  it('reads a page as markdown, JSON or clean HTML', async () => {
    const where = `/read/${site.url}/`;
    const markdown = await server.ask('GET', where, undefined, { accept: '*/*' });
    expect(markdown.headers.get('content-type')).toContain('text/markdown');
    expect(markdown.text).toContain('hunt in pods');
    expect((await server.ask('GET', where, undefined, { accept: 'application/json' })).json.data.links).toHaveLength(2);
    const clean = await server.ask('GET', where, undefined, { accept: 'text/html' });
    expect(clean.headers.get('content-security-policy')).toContain('sandbox');
    expect((await server.ask('GET', `${where}?selector=h1`)).text.trim()).toBe('# Home');
    const live = await server.ask('GET', `/read/${site.url}/click?engine=browser&waitFor=10`);
    expect(live.text).toContain('before');
    expect((await server.ask('GET', `${where}?engine=steam`)).status).toBe(400);
  });

  it('describes itself without anything from another host', async () => {
    const { json } = await server.ask('GET', '/openapi.json');
    expect(json.paths['/v2/scrape'].post.requestBody.content['application/json'].schema.properties.url).toBeDefined();
    expect(
      json.paths['/v2/monitor/{id}'].patch.requestBody.content['application/json'].schema.properties.targets,
    ).toBeDefined();
    const docs = await server.ask('GET', '/docs');
    expect(docs.text).toContain('/v2/batch/scrape');
    expect(docs.text).not.toMatch(/(?:src|href)="https?:/);
    expect(docs.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect((await server.ask('GET', '/metrics')).text).toMatch(
      /orcrawl_serve_request_seconds_count\{path="\/docs",status="200"\} \d+/,
    );
  });
});

/** Ways to write addresses that are not public; those of 127/8 are allowed in these tests. */
describe('locks', () => {
  it('answers nobody without the token but at /health, and keeps it in a file of its own', async () => {
    // The console's page at / is the same for everybody and shows nothing without the token: serve-console.test.ts.
    const paths = [
      ['GET', '/docs'],
      ['GET', '/openapi.json'],
      ['GET', '/metrics'],
      ['POST', '/v2/scrape'],
      ['POST', '/v1/crawl'],
      ['POST', '/mcp'],
      ['GET', '/v2/crawl/active'],
      ['GET', `/read/${site.url}/`],
      ['DELETE', '/v2/crawl/x'],
      ['POST', '/v2/monitor'],
      ['GET', '/v2/monitor'],
      ['PATCH', '/v2/monitor/x'],
      ['DELETE', '/v2/monitor/x'],
      ['POST', '/v2/monitor/x/run'],
      ['GET', '/v2/monitor/x/checks'],
      ['GET', '/v2/monitor/x/checks/y'],
      ['GET', '/nothing'],
    ];
    for (const [method, where] of paths) {
      for (const authorization of [
        '',
        'Bearer x',
        `Basic ${server.token}`,
        `Bearer ${server.token}x`,
        `Bearer ${server.token.slice(1)}`,
      ]) {
        const answer = await ask(
          server.url + where!,
          method!,
          method === 'POST' ? {} : undefined,
          authorization ? { authorization } : {},
        );
        expect([where, answer.status]).toEqual([where, 401]);
      }
    }
    expect((await ask(`${server.url}/health`, 'GET', undefined, {})).json).toMatchObject({ status: 'ok' });
    const { mode } = await stat(path.join(server.dataDir, 'token'));
    expect(mode & 0o777).toBe(0o600);
  });

  it('refuses a foreign Host and a foreign Origin', async () => {
    const foreign = await raw(
      server.url,
      `GET /v2/crawl/active HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer ${server.token}\r\nConnection: close\r\n\r\n`,
    );
    expect(foreign).toMatch(/^HTTP\/1\.1 421 /);
    const page = await server.ask('GET', '/v2/crawl/active', undefined, { origin: 'https://evil.example' });
    expect(page).toMatchObject({ status: 403, json: { code: 'ORIGIN_REFUSED' } });
    const monitor = await server.ask('POST', '/v2/monitor', {}, { origin: 'https://evil.example' });
    expect(monitor).toMatchObject({ status: 403, json: { code: 'ORIGIN_REFUSED' } });
  });

  it('bounds bodies, headers and depth', async () => {
    const large = await server.ask('POST', '/v2/scrape', { url: 'x'.repeat(1_100_000) });
    expect(large.status).toBe(413);
    expect((await server.ask('POST', '/v2/scrape', `${'['.repeat(5_000)}${']'.repeat(5_000)}`)).status).toBe(400);
    expect((await server.ask('POST', '/v2/scrape', {})).json.error).toBe('The body is invalid: url: is missing');
    expect((await server.ask('POST', '/v2/scrape', '{"url":')).json).toMatchObject({
      success: false,
      code: 'BAD_REQUEST',
    });
    const many = { urls: Array.from({ length: 10_001 }, () => 'a.example') };
    expect(await server.ask('POST', '/v2/batch/scrape', many)).toMatchObject({
      status: 400,
      json: { error: expect.stringMatching(/urls: at most 10000; .*JSON lines/) as string },
    });
    const huge = await raw(server.url, `GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`);
    expect(huge).toMatch(/^HTTP\/1\.1 4\d\d /);
  });

  it('says no to a public server without a token', async () => {
    const data = await dataFolder();
    await expect(startServe(data.dir, ['--no-auth', '--host', '0.0.0.0'])).rejects.toThrow(/loopback/);
    await data.remove();
  });
});

describe('stopping', () => {
  it('answers what is under way and ends with 0; a second server is refused its folder', async () => {
    const data = await dataFolder();
    const own = await startServe(data.dir);
    await expect(startServe(data.dir)).rejects.toThrow(/already/);
    const answer = own.ask('POST', '/v2/scrape', { url: `${site.url}/slow` });
    await eventually(
      async () => (await own.ask('GET', '/metrics')).text.includes('orcrawl_serve_scrapes{state="active"} 1'),
      'the scrape is under way',
    );
    const end = own.stop();
    // While a request is under way the server says that it stops, and takes nothing new.
    await eventually(async () => (await ask(`${own.url}/health`, 'GET', undefined, {})).status === 503, 'it says so');
    const refused = await own.ask('GET', '/v2/crawl/active');
    expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([503, 5]);
    const upgrade = ['GET /v2/crawl/x HTTP/1.1', `Host: ${new URL(own.url).host}`, 'Connection: Upgrade'];
    const asWatcher = [...upgrade, 'Upgrade: websocket', `Sec-WebSocket-Protocol: ${own.token}`, '', ''].join('\r\n');
    expect(await raw(own.url, asWatcher)).toMatch(/^HTTP\/1\.1 503 [^]*\r\nretry-after: 5\r\n/);
    expect(await answer).toMatchObject({ status: 200, json: { success: true } });
    const { code, stderr } = await end;
    expect(code).toBe(0);
    expect(stderr.split(own.token)).toHaveLength(2);
    await data.remove();
  });
});

function raw(url: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let received = '';
    socket.setEncoding('utf8').on('data', (part: string) => (received += part));
    socket.once('close', () => resolve(received)).once('error', reject);
  });
}
