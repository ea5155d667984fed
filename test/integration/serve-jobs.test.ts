// Crawls and batches through `orcrawl serve`, by the unmodified SDK: status, pages, watching, cancelling, errors, webhooks.
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Firecrawl from 'firecrawl';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { Simweb } from '../../src/testing/index.js';
import { otherNode } from '../support/other-node.js';
import {
  dataFolder,
  endedAt,
  eventually,
  html,
  LOOPBACK,
  type ServerProcess,
  type Site,
  startServe,
  startSite,
} from '../support/serve.js';

let web: Simweb;
let site: Site;
let server: ServerProcess;
let sdk: Firecrawl;
let removeData: () => Promise<void>;
const hooked: { path: string; signature: string; body: string }[] = [];
let hookStatus = 200;

beforeAll(async () => {
  web = await Simweb.start({ hosts: 1, pagesPerHost: 60, pageBytes: 2_000 });
  site = await startSite((request, response, body) => {
    const at = request.url ?? '/';
    if (at.startsWith('/hook')) {
      if (hookStatus === 200)
        hooked.push({ path: at, signature: String(request.headers['x-firecrawl-signature']), body });
      return void response.writeHead(hookStatus).end();
    }
    if (at === '/robots.txt') return void response.end('User-agent: *\nDisallow: /secret\n');
    const wide = at.startsWith('/wide') ? `<p>${'orca '.repeat(60_000)}</p>` : '';
    const links =
      at === '/'
        ? '<a href="/docs/a">a</a><a href="/docs/b?x=1">b</a><a href="/blog/c">c</a><a href="/secret">s</a><a href="/broken">d</a><a href="http://localhost:1/">e</a>'
        : '';
    if (at === '/broken') return void response.destroy();
    const answer = () =>
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(html(`Page ${at}`, `<p>This is the page at ${at} and it says a few words.</p>${links}${wide}`));
    if (at.startsWith('/late')) setTimeout(answer, 800);
    else answer();
  });
  const data = await dataFolder();
  removeData = data.remove;
  server = await startServe(data.dir, [...LOOPBACK]);
  sdk = new Firecrawl({ apiKey: server.token, apiUrl: server.url });
}, 120_000);
afterAll(async () => {
  await server?.stop();
  await site?.close();
  await web?.close();
  await removeData?.();
});

const urlsOf = (documents: readonly { metadata?: Record<string, unknown> }[]) =>
  documents.map(({ metadata }) => String(metadata?.sourceURL));

describe('crawl', () => {
  it('crawls a site for the SDK and gives each page once', async () => {
    const job = await sdk.crawl(web.url(0), { limit: 100, pollInterval: 1, scrapeOptions: { formats: ['links'] } });
    expect(job.status).toBe('completed');
    const urls = urlsOf(job.data);
    expect(new Set(urls).size).toBe(urls.length);
    expect(urls.length).toBe(60);
    expect([job.completed, job.total]).toEqual([60, 60]);
  });

  it('follows the rules of the request, obeys robots.txt and tells what failed', async () => {
    const job = await sdk.crawl(`${site.url}/`, {
      excludePaths: ['^/blog'],
      ignoreQueryParameters: true,
      sitemap: 'skip',
      pollInterval: 1,
    });
    expect(urlsOf(job.data).sort()).toEqual([`${site.url}/`, `${site.url}/docs/a`, `${site.url}/docs/b`]);
    const { errors, robotsBlocked } = await sdk.getCrawlErrors(job.id!);
    expect(errors).toMatchObject([{ url: `${site.url}/broken`, code: expect.any(String), error: expect.any(String) }]);
    expect(robotsBlocked).toEqual([`${site.url}/secret`]);
    const only = await sdk.crawl(`${site.url}/`, {
      includePaths: ['^/docs/a$'],
      sitemap: 'skip',
      pollInterval: 1,
      maxDiscoveryDepth: 1,
    });
    expect(urlsOf(only.data).sort()).toEqual([`${site.url}/`, `${site.url}/docs/a`]);
    const slow = await server.ask('POST', '/v2/crawl', { url: `${site.url}/`, includePaths: ['^(a+)\\1$'] });
    expect(slow).toMatchObject({ status: 400, json: { error: expect.stringContaining('refers back') } });
  });

  it('lists what runs, and cancels it', async () => {
    const { id } = await sdk.startCrawl(web.url(0), { limit: 60, delay: 1 });
    await eventually(
      async () => (await sdk.getActiveCrawls()).crawls.some((crawl) => crawl.id === id),
      'the crawl is active',
    );
    await eventually(async () => (await sdk.getCrawlStatus(id)).completed > 0, 'a page is there');
    expect(await sdk.cancelCrawl(id)).toBe(true);
    const job = await sdk.getCrawlStatus(id);
    expect(job.status).toBe('cancelled');
    expect(job.completed).toBeLessThan(60);
    expect((await sdk.getActiveCrawls()).crawls.filter((crawl) => crawl.id === id)).toEqual([]);
    const count = web.served();
    await new Promise((resume) => setTimeout(resume, 2_500));
    expect(web.served() - count).toBeLessThanOrEqual(1);
    expect((await server.ask('GET', '/v2/crawl/00000000-0000-0000-0000-000000000000')).status).toBe(404);
  });

  it('takes pictures of the pages of a crawl in a browser', async () => {
    const job = await sdk.crawl(`${site.url}/`, {
      limit: 2,
      sitemap: 'skip',
      pollInterval: 1,
      scrapeOptions: { formats: ['markdown', 'screenshot'], waitFor: 50 },
    });
    expect(job.status).toBe('completed');
    expect(job.data).toHaveLength(2);
    for (const page of job.data) expect(page.screenshot).toMatch(/^data:image\/png;base64,/);
  });
});

describe('batch', () => {
  it('scrapes a list once per idempotency key, names invalid URLs, and takes more', async () => {
    const urls = [...Array.from({ length: 5 }, (_, page) => `${site.url}/late${page}`), 'ht!tp://nonsense'];
    const options = { ignoreInvalidURLs: true, idempotencyKey: 'once', options: { formats: ['markdown' as const] } };
    const first = await sdk.startBatchScrape(urls, options);
    const second = await sdk.startBatchScrape(urls, options);
    expect(second.id).toBe(first.id);
    expect(first.invalidURLs).toEqual(['ht!tp://nonsense']);
    await sdk.startBatchScrape([`${site.url}/more`], { appendToId: first.id });
    const lines = `{"appendToId":"${first.id}"}\n${site.url}/yet-more\n`;
    const asLines = { 'content-type': 'application/x-ndjson' };
    expect((await server.ask('POST', '/v2/batch/scrape', lines, asLines)).json.id).toBe(first.id);
    const job = await endedAt(server, `/v2/batch/scrape/${first.id}`);
    expect([job.status, job.completed, job.total]).toEqual(['completed', 7, 7]);
    expect(urlsOf(job.data)).toEqual(expect.arrayContaining([`${site.url}/more`, `${site.url}/yet-more`]));
    const refused = await server.ask('POST', '/v2/batch/scrape', { urls });
    expect(refused).toMatchObject({ status: 400, json: { error: expect.stringContaining('urls[5]') } });
  });

  it('takes a list of any length as JSON lines', async () => {
    const lines = [
      '{"formats":["links"]}',
      ...Array.from({ length: 1_050 }, (_, page) => JSON.stringify(`${site.url}/p${page}`)),
    ];
    const { json } = await server.ask('POST', '/v2/batch/scrape', lines.join('\n'), {
      'content-type': 'application/x-ndjson',
    });
    const job = await endedAt(server, `/v2/batch/scrape/${json.id}`, 180_000);
    expect([job.status, job.completed]).toEqual(['completed', 1_050]);
    expect(job.data).toHaveLength(1_000);
    expect(job.next).toContain('skip=1000');
  }, 240_000);

  it('gives more than 20 MB in pages of at most 10 MB', async () => {
    const urls = Array.from({ length: 75 }, (_, page) => `${site.url}/wide${page}`);
    const job = await sdk.batchScrape(urls, { options: { formats: ['rawHtml'] }, pollInterval: 1 });
    expect(job.data).toHaveLength(75);
    expect(new Set(urlsOf(job.data)).size).toBe(75);
    expect(job.data.reduce((sum, page) => sum + page.rawHtml!.length, 0)).toBeGreaterThan(20e6);
    const first = await server.ask('GET', `/v2/batch/scrape/${job.id}`);
    expect(first.text.length).toBeLessThanOrEqual(10e6);
    expect(first.json.next).toMatch(new RegExp(`^${server.url}/v2/batch/scrape/`));
  }, 240_000);
});

describe('watching', () => {
  it('sends what there is, each document, and the end over a WebSocket that echoes the key', async () => {
    const urls = Array.from({ length: 6 }, (_, page) => `${site.url}/late-ws${page}`);
    const { id } = await sdk.startBatchScrape(urls, { maxConcurrency: 1 });
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/v2/batch/scrape/${id}`, server.token);
    const messages: { type: string; data: { data?: unknown[]; status?: string } }[] = [];
    socket.on('message', (text) => messages.push(JSON.parse(String(text)) as never));
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    expect(socket.protocol).toBe(server.token);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(messages[0]!.type).toBe('catchup');
    expect(messages.at(-1)!.type).toBe('done');
    const documents = messages.filter(({ type }) => type === 'document').length + messages[0]!.data.data!.length;
    expect(documents).toBe(6);
    const stranger = new WebSocket(`${server.url.replace('http', 'ws')}/v2/crawl/${id}`, 'wrong');
    await expect(new Promise((_, reject) => stranger.once('error', reject))).rejects.toThrow(/401/);
  });

  it("serves the SDK's watcher", async () => {
    const { id } = await sdk.startCrawl(web.url(0), { limit: 10 });
    const watcher = sdk.watcher(id, { kind: 'crawl', pollInterval: 1 });
    const documents: unknown[] = [];
    watcher.on('document', (document) => documents.push(document));
    const done = new Promise<{ status: string }>((resolve) => watcher.on('done', resolve));
    await watcher.start();
    expect((await done).status).toBe('completed');
    expect(documents).toHaveLength(10);
  });
});

describe('the SDK as a program', () => {
  const CLIENT = fileURLToPath(new URL('serve-sdk-client.mjs', import.meta.url));
  const run = async (node: string) => {
    const { stdout } = await promisify(execFile)(node, [CLIENT, server.url, server.token, web.url(0)], {
      timeout: 120_000,
    });
    return JSON.parse(stdout) as object;
  };
  const both = {
    crawl: { status: 'completed', documents: 15, unique: 15 },
    batch: { status: 'completed', documents: 5, unique: 5 },
  };

  it('watches jobs on this Node', async () => {
    expect(await run(process.execPath)).toMatchObject(both);
  });

  it('watches jobs over WebSockets on Node 24', async (context) => {
    const program = await otherNode(24);
    if (program instanceof Error) return context.skip(program.message);
    const found = await run(program);
    expect(found).toMatchObject({ ...both, socket: 'function', node: expect.stringMatching(/^v24\./) });
  }, 400_000);
});

describe('webhooks', () => {
  const eventsOf = (where: string) =>
    hooked
      .filter((one) => one.path === where)
      .map(
        ({ body }) =>
          JSON.parse(body) as {
            type: string;
            id: string;
            data: unknown[];
            metadata: object;
            success: boolean;
            webhookId: string;
          },
      );

  it('delivers signed events in order', async () => {
    const { id } = await sdk.startCrawl(web.url(0), {
      limit: 5,
      webhook: { url: `${site.url}/hook/a`, metadata: { mine: 'yes' }, headers: { 'x-own': '1' } },
    });
    await eventually(
      async () => eventsOf('/hook/a').some(({ type }) => type === 'crawl.completed'),
      'the last event came',
    );
    const events = eventsOf('/hook/a');
    expect(events.map(({ type }) => type)).toEqual([
      'crawl.started',
      ...Array.from({ length: 5 }, () => 'crawl.page'),
      'crawl.completed',
    ]);
    expect(events[1]).toMatchObject({
      success: true,
      id,
      metadata: { mine: 'yes' },
      webhookId: expect.any(String),
      data: [{ metadata: { statusCode: 200 } }],
    });
    const secret = (await readFile(path.join(server.dataDir, 'webhook-secret'), 'utf8')).trim();
    const { body, signature } = hooked.find((one) => one.path === '/hook/a')!;
    expect(signature).toBe(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  });

  it('keeps what a failing webhook did not take', async () => {
    hookStatus = 500;
    const { id } = await sdk.startBatchScrape([`${site.url}/x`], {
      webhook: { url: `${site.url}/hook/b`, events: ['completed', 'page'] },
    });
    await endedAt(server, `/v2/batch/scrape/${id}`);
    await new Promise((resume) => setTimeout(resume, 1_500));
    hookStatus = 200;
    expect(eventsOf('/hook/b')).toEqual([]);
    expect((await server.ask('GET', '/metrics')).text).toContain('orcrawl_serve_webhook_events_due 2');
  });
});

describe('the account', () => {
  it('answers what SDKs ask about it', async () => {
    expect(await sdk.getConcurrency()).toMatchObject({ maxConcurrency: 50 });
    expect((await sdk.getCreditUsage()).remainingCredits).toBeGreaterThan(1_000);
    expect((await sdk.getTokenUsage()).remainingTokens).toBeGreaterThan(1_000);
    expect(await sdk.getQueueStatus()).toMatchObject({ success: true, maxConcurrency: 50 });
    expect(await sdk.getCreditUsageHistorical()).toMatchObject({ success: true });
  });
});
