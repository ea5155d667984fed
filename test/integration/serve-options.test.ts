// Options of a scrape that Firecrawl's clients send: advertisements, documents, stored pages, without a browser.
import PDFDocument from 'pdfkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dataFolder, html, type Server, type Site, startSite } from '../support/serve.js';
import { startServeHere } from '../support/serve-here.js';

let site: Site;
let server: Server;
let data: Awaited<ReturnType<typeof dataFolder>>;
let fetched = 0;

const TEXT = 'The river rises in spring and falls in autumn, as every year. '.repeat(12);
const ADS = `<ins class="adsbygoogle">Buy boots</ins><div class="cookie-banner">We value your privacy</div>`;

function pdf(): Promise<Buffer> {
  return new Promise((resolve) => {
    const file = new PDFDocument();
    const parts: Buffer[] = [];
    file.on('data', (part: Buffer) => parts.push(part)).on('end', () => resolve(Buffer.concat(parts)));
    file.text('A report about rivers.');
    file.end();
  });
}

beforeAll(async () => {
  const bytes = await pdf();
  site = await startSite((request, response) => {
    if (request.url === '/report.pdf') {
      return void response.writeHead(200, { 'content-type': 'application/pdf' }).end(bytes);
    }
    if (request.url?.startsWith('/stored')) fetched++;
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(html('Rivers', `<p>${TEXT}</p>${ADS}<p>${TEXT}</p>`));
  });
  data = await dataFolder();
  server = await startServeHere(data.dir, { allowPrivate: ['127.0.0.0/8'] });
}, 120_000);
afterAll(async () => {
  await server?.stop();
  await site?.close();
  await data?.remove();
});

const scrape = (path: string, options: object = {}) =>
  server.ask('POST', '/v2/scrape', { url: site.url + path, fastMode: true, onlyMainContent: false, ...options });

describe('options of a scrape', () => {
  it('leaves out advertisements and cookie notices with blockAds', async () => {
    expect((await scrape('/')).json.data.markdown).toContain('Buy boots');
    const { markdown } = (await scrape('/', { blockAds: true })).json.data;
    expect(markdown).toContain('The river rises');
    expect(markdown).not.toMatch(/boots|privacy/);
  });

  it('reads a PDF unless no parser is named', async () => {
    const read = { data: { markdown: expect.stringContaining('A report about rivers.') } };
    expect((await scrape('/report.pdf')).json).toMatchObject(read);
    expect((await scrape('/report.pdf', { parsers: ['pdf'] })).json).toMatchObject(read);
    const unread = (await scrape('/report.pdf', { parsers: [] })).json;
    expect(unread.data?.markdown ?? '').not.toContain('about rivers');
    expect((await scrape('/report.pdf', { parsers: ['docx'] })).status).toBe(400);
  });

  it('answers minAge from the cache alone', async () => {
    const missing = await scrape('/stored', { minAge: 1 });
    expect([missing.status, missing.json.code, fetched]).toEqual([404, 'CACHE_MISS', 0]);
    await scrape('/stored', { storeInCache: true });
    expect(fetched).toBe(1);
    const tooNew = await scrape('/stored', { minAge: 3_600_000 });
    expect([tooNew.status, tooNew.json.code]).toEqual([404, 'CACHE_MISS']);
    const stored = await scrape('/stored', { minAge: 1 });
    expect([stored.status, stored.json.data?.metadata.cacheState, fetched]).toEqual([200, 'hit', 1]);
  });
});
