// Every format of document through every way in: extractContent, one scrape, `orcrawl crawl` and pods read the same text.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import PDFDocument from 'pdfkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { extractContent, WebCrawler } from '../../src/index.js';
import { findPage } from '../../src/store/content/reading.js';
import { orcrawlHere } from '../support/cli-here.js';
import { temporaryFolder } from '../support/crawl.js';
import { docxFile, epubFile, odtFile, pptxFile, RTF, xlsxFile } from '../support/office-files.js';
import { lastLine, podsTrial } from '../support/pods-trial.js';
import { serveSite, type Site } from '../support/site.js';
import { MAIN, startNode } from './cli-process.js';

const OFFICE = 'application/vnd.openxmlformats-officedocument';
const FEED =
  '<rss version="2.0"><channel><title>Harbour</title><item><title>Slipway open</title><description>Boats may land.</description></item></channel></rss>';
const ATOM =
  '<feed xmlns="http://www.w3.org/2005/Atom"><title>Harbour</title><entry><title>Crane open</title><content>Boats are lifted.</content></entry></feed>';

/** By name: the type and the bytes. */
const files = new Map<string, readonly [type: string, body: Buffer]>([
  ['words.docx', [`${OFFICE}.wordprocessingml.document`, docxFile()]],
  ['words.odt', ['application/vnd.oasis.opendocument.text', odtFile()]],
  ['sheet.xlsx', [`${OFFICE}.spreadsheetml.sheet`, xlsxFile()]],
  ['slides.pptx', [`${OFFICE}.presentationml.presentation`, pptxFile()]],
  ['book.epub', ['application/epub+zip', epubFile()]],
  ['words.rtf', ['application/rtf', Buffer.from(RTF, 'latin1')]],
  ['table.csv', ['text/csv', Buffer.from('Mooring,Metres\nBridge,12')]],
  ['notes.txt', ['text/plain', Buffer.from('Notes of the harbour master.\n\nThe crane is broken until Monday.')]],
  ['data.json', ['application/json', Buffer.from('{"title":"Moorings","bridge":12}')]],
  ['feed.rss', ['application/rss+xml', Buffer.from(FEED)]],
  ['feed.atom', ['application/atom+xml', Buffer.from(ATOM)]],
]);
const names = [...files.keys(), 'report.pdf'];

let site: Site;
/** By name: the words of the document, as extractContent gives them. */
const wanted = new Map<string, string[]>();
const wordsOf = (text: string): string[] => text.match(/\p{L}{3,}/gu) ?? [];

beforeAll(async () => {
  const report = await new Promise<Buffer>((resolve) => {
    const document = new PDFDocument({ info: { Title: 'The report' } });
    const pieces: Buffer[] = [];
    document.on('data', (piece: Buffer) => pieces.push(piece));
    document.on('end', () => resolve(Buffer.concat(pieces)));
    document.text('Words of the report, long enough to be a paragraph of its own.').end();
  });
  files.set('report.pdf', ['application/pdf', report]);
  site = await serveSite(
    Object.fromEntries(
      [...files].map(([name, [type, body]]) => [
        `/${name}`,
        (_: unknown, response: import('node:http').ServerResponse) =>
          void response.writeHead(200, { 'content-type': type }).end(body),
      ]),
    ),
  );
});

afterAll(() => site.close());

it.each(names)('extractContent and a scrape give %s the shape of a page', { timeout: 120_000 }, async (name) => {
  const [contentType, body] = files.get(name)!;
  const url = `${site.url}/${name}`;
  const read = await extractContent(body, { documents: true, contentType, url });
  const page = await extractContent('<title>T</title><p>words', { documents: true, url });
  expect(Object.keys(read).sort()).toEqual(Object.keys(page).sort());
  expect(read.document?.format).toBeTypeOf('string');
  const words = wordsOf(read.text);
  expect(words.length).toBeGreaterThan(1);
  wanted.set(name, words);
  const crawler = await WebCrawler.open();
  const [result, other] = await crawler.runMany([url, `${url}?again`], { documents: true, maxRetries: 0 });
  await crawler.close();
  expect([result!.success, other!.success]).toEqual([true, true]);
  expect(wordsOf(result!.markdown.fit)).toEqual(expect.arrayContaining([...new Set(words)]));
  expect(other!.markdown.fit).toBe(result!.markdown.fit);
  expect(result!.metadata?.['document']).toMatchObject({ format: read.document!.format });
});

it('`orcrawl crawl --documents` writes the same words', { timeout: 120_000 }, async () => {
  const cwd = await temporaryFolder();
  const seeds = names.map((name) => `${site.url}/${name}`);
  const flags = ['--documents', '--format', 'markdown', '--out', 'out', '--delay', '0', '--quiet'];
  const { code, stderr } = await startNode([MAIN, 'crawl', ...seeds, ...flags], { cwd }).ended;
  expect([code, stderr]).toEqual([0, '']);
  const written = new Set(wordsOf(await readFile(path.join(cwd, 'out', 'pages.md'), 'utf8')));
  for (const name of names) expect([name, wanted.get(name)!.filter((word) => !written.has(word))]).toEqual([name, []]);
});

it(
  '`orcrawl scrape` and `orcrawl batch` write the same words of files that are not text',
  { timeout: 240_000 },
  async () => {
    const binary = names.filter((name) => !/\.(csv|txt|json|rss|atom)$/.test(name));
    const cwd = await temporaryFolder();
    await writeFile(path.join(cwd, 'urls.txt'), binary.map((name) => `${site.url}/${name}`).join('\n'));
    const batch = await orcrawlHere(['batch', 'urls.txt', '--quiet'], { cwd });
    expect(batch.code).toBe(0);
    const lines = batch.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { url: string; markdown: unknown });
    for (const name of binary) {
      const { markdown } = lines.find(({ url }) => url.endsWith(`/${name}`))!;
      expect([name, missing(name, JSON.stringify(markdown).replaceAll('\\n', '\n'))]).toEqual([name, []]);
      const scraped = await orcrawlHere(['scrape', `${site.url}/${name}`], { cwd });
      expect([name, scraped.code, missing(name, scraped.stdout)]).toEqual([name, 0, []]);
    }
  },
);

/** The words of a document that a text lacks. */
function missing(name: string, text: string): string[] {
  const there = new Set(wordsOf(text));
  return wanted.get(name)!.filter((word) => !there.has(word));
}

it('pods keep the same words', { timeout: 180_000 }, async () => {
  const seeds = names.map((name) => `${site.url}/${name}`);
  const { run, dataDirs } = await podsTrial({ seeds, more: ['documents: true'] });
  const { code, stdout } = await run().ended;
  expect([code, lastLine(stdout)]).toEqual([0, `${names.length} pages: nothing is left to crawl`]);
  for (const name of names) {
    const text = (await findPage(dataDirs, `${site.url}/${name}`, { having: 'text' }))?.text ?? '';
    const kept = new Set(wordsOf(text));
    expect([name, wanted.get(name)!.filter((word) => !kept.has(word))]).toEqual([name, []]);
  }
});
