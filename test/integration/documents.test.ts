// Documents through every way in: crawls, batches, extractContent and pods' options give the shape that pages have.
import PDFDocument from 'pdfkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheerioCrawler, extractContent, HttpCrawler, WebCrawler } from '../../src/index.js';
import { memoryConfig, silent } from '../support/crawl.js';
import { docxFile } from '../support/office-files.js';
import { serveSite, type Site } from '../support/site.js';

const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

function pdf(draw: (document: PDFKit.PDFDocument) => void, options: PDFKit.PDFDocumentOptions = {}): Promise<Buffer> {
  return new Promise((resolve) => {
    const document = new PDFDocument({ info: { Title: 'The report', Author: 'A. Whale' }, ...options });
    const pieces: Buffer[] = [];
    document.on('data', (piece: Buffer) => pieces.push(piece));
    document.on('end', () => resolve(Buffer.concat(pieces)));
    draw(document);
    document.end();
  });
}

let site: Site;
let report: Buffer;

beforeAll(async () => {
  const file = (type: string, body: Buffer | string) => (_: unknown, response: import('node:http').ServerResponse) =>
    void response.writeHead(200, { 'content-type': type }).end(body);
  site = await serveSite({
    '/': '<title>Start</title><a href=/report.pdf>pdf</a> <a href=/words.docx>docx</a> <a href=/locked.pdf>locked</a>',
    '/next': '<title>Next</title>',
    '/words.docx': file(DOCX, docxFile()),
    '/hidden': file('application/octet-stream', docxFile()),
    '/table.csv': file('text/csv', 'Pod,Members\nJ,25'),
    '/data.json': file('application/json', '{"title":"T"}'),
    '/broken.docx': file(DOCX, 'no zip'),
    '/report.pdf': (_, response) => void response.writeHead(200, { 'content-type': 'application/pdf' }).end(report),
    '/locked.pdf': (_, response) =>
      void pdf((document) => void document.text('x'), { userPassword: 'secret' }).then((body) =>
        response.writeHead(200, { 'content-type': 'application/pdf' }).end(body),
      ),
  });
  report = await pdf((document) => {
    document.fontSize(24).text('The report').moveDown();
    document.fontSize(11).text('Words of the report, long enough to be a paragraph of its own. ');
    document.text('the next page', { link: `${site.url}/next` });
  });
});

afterAll(() => site.close());

describe('documents', { timeout: 120_000 }, () => {
  it('in a crawl are pages: content, metadata, $ and links, which are followed', async () => {
    const seen = new Map<
      string,
      { title: string; text: string; pages?: number | null; heading?: string; type: string }
    >();
    const failed: string[] = [];
    const crawler = new CheerioCrawler(
      {
        documents: true,
        log: silent,
        async requestHandler({ request, content, $, document, contentType, enqueueLinks }) {
          seen.set(new URL(request.loadedUrl).pathname, {
            title: content.title,
            text: content.main().text,
            pages: document?.pages,
            heading: $('h1').first().text(),
            type: contentType.type,
          });
          if (document) expect(content.metadata.document).toEqual(document);
          await enqueueLinks();
        },
        failedRequestHandler: (_context, error) => void failed.push((error as { code?: string }).code ?? 'none'),
      },
      memoryConfig(),
    );
    await crawler.run([site.url]);
    expect([...seen.keys()].sort()).toEqual(['/', '/next', '/report.pdf', '/words.docx']);
    expect(seen.get('/report.pdf')).toMatchObject({
      title: 'The report',
      pages: 1,
      heading: 'The report',
      type: 'application/pdf',
    });
    expect(seen.get('/report.pdf')!.text).toContain('Words of the report, long enough');
    expect(seen.get('/words.docx')).toMatchObject({ title: 'Orcas of the North', type: DOCX });
    expect(failed).toEqual(['DOCUMENT_ENCRYPTED']);
  });

  it('are refused by their type where nobody asked for them', async () => {
    const codes: unknown[] = [];
    const crawler = new HttpCrawler(
      {
        log: silent,
        requestHandler: () => undefined,
        failedRequestHandler: (_context, error) => void codes.push((error as { code?: string }).code),
      },
      memoryConfig(),
    );
    await crawler.run([`${site.url}/report.pdf`]);
    expect(codes).toEqual(['CONTENT_TYPE']);
  });

  it('in a batch have the fields of a page, or a code', async () => {
    const crawler = await WebCrawler.open();
    const run = (path: string, config = {}) => crawler.run(`${site.url}${path}`, { maxRetries: 0, ...config });
    const result = await run('/report.pdf');
    expect(result.success).toBe(true);
    expect(result.markdown.raw).toContain('# The report');
    expect(result.markdown.fit).toContain('Words of the report');
    expect(result.links.internal.map(({ url }) => url)).toEqual([`${site.url}/next`]);
    expect(result.metadata).toMatchObject({
      title: 'The report',
      document: { format: 'pdf', author: 'A. Whale', pages: 1 },
    });
    expect((await run('/hidden')).success).toBe(true);
    expect(await run('/broken.docx')).toMatchObject({ success: false, errorCode: 'DOCUMENT_INVALID' });
    expect(await run('/locked.pdf')).toMatchObject({ success: false, errorCode: 'DOCUMENT_ENCRYPTED' });
    expect((await run('/report.pdf', { documents: false })).text).toBe('');
    // Text stays text, unless `documents` says otherwise.
    expect((await run('/table.csv')).markdown.raw).toBe('Pod,Members\nJ,25');
    const table = await run('/table.csv', { documents: true });
    expect(table.tables[0]!.headers).toEqual(['Pod', 'Members']);
    await crawler.close();
  });

  it('extractContent gives them the shape of a page', async () => {
    const read = await extractContent(report, { documents: true, contentType: 'application/pdf', url: site.url });
    expect(read).toMatchObject({ title: 'The report', byline: 'A. Whale', document: { format: 'pdf', pages: 1 } });
    expect(read.text).toContain('Words of the report');
    expect(read.markdown).toContain('[the next page]');
    expect(read.links.map(({ url }) => url)).toEqual([`${site.url}/next`]);
    const page = await extractContent('<title>T</title><p>words</p>', { documents: true });
    expect(page).toMatchObject({ title: 'T', document: null });
    await expect(
      extractContent(Buffer.from('x'), { documents: true, contentType: 'application/pdf' }),
    ).rejects.toMatchObject({
      code: 'DOCUMENT_INVALID',
    });
  });
});
