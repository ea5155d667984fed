// Documents in their processes: hostile files harm only themselves, and fail with a code.
import { once } from 'node:events';
import { createDeflate, deflateSync } from 'node:zlib';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { zip } from '../support/zip.js';
import { docxFile } from '../support/office-files.js';
import { CrawlError } from '../../src/errors.js';
import { readDocument } from '../../src/documents/documents.js';

// Loading a process from source takes seconds on a busy machine.
const patient = { timeout: 120_000 };

async function codeOf(reading: Promise<unknown>): Promise<string> {
  const error = await reading.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof CrawlError ? error.code : String(error);
}

describe('documents in processes of their own', patient, () => {
  it('are read, several at once', async () => {
    const copies = await Promise.all(Array.from({ length: 6 }, () => readDocument(docxFile(), 'docx')));
    for (const { html, facts } of copies) {
      expect(html.toString()).toContain('<strong>dialects</strong>');
      expect(facts.title).toBe('Orcas of the North');
    }
  });

  it('fail with their code and their address', async () => {
    const reading = readDocument(Buffer.from('no zip'), 'docx', { url: 'https://example.com/a.docx' });
    await expect(reading).rejects.toThrow(/^https:\/\/example\.com\/a\.docx: the file is not a complete ZIP archive$/);
    expect(await codeOf(readDocument(Buffer.from('no zip'), 'docx'))).toBe('DOCUMENT_INVALID');
  });

  it('that cannot be handed to a process fail alone, also when they waited for it', async () => {
    const odd = Object as unknown as 'docx';
    const [first, waited, other] = await Promise.all([
      codeOf(readDocument(docxFile(), odd)),
      Promise.all(Array.from({ length: 6 }, () => codeOf(readDocument(docxFile(), odd)))),
      readDocument(docxFile(), 'docx'),
    ]);
    expect([first, ...waited]).toEqual(Array.from({ length: 7 }, () => 'DOCUMENT_INVALID'));
    expect(other.facts.author).toBe('A. Whale');
  });

  it('that take too long cost themselves only', async () => {
    const [late, other] = await Promise.all([
      codeOf(readDocument(slowFile(), 'xlsx', {}, { timeMs: 1 })),
      readDocument(docxFile(), 'docx'),
    ]);
    expect(late).toBe('DOCUMENT_LIMIT');
    expect(other.facts.author).toBe('A. Whale');
  });

  it('that need too much memory cost themselves only', async () => {
    const many = zip({ 'content.xml': `<a>${'<b/>'.repeat(1_900_000)}</a>` });
    const limits = { heapMegabytes: 64 };
    expect(await codeOf(readDocument(many, 'odt', {}, limits))).toBe('DOCUMENT_LIMIT');
    expect((await readDocument(docxFile(), 'docx')).facts.format).toBe('docx');
  });

  it('that hold more lines than V8 has room for in an array end their process, not ours', async () => {
    // 95 million line ends after a character of two bytes: split, they end a whole process at once, whatever the limits of a thread are.
    const lines = zip({
      'word/document.xml': `<w:document><w:body><w:p><w:r><w:t>\u4e00${'\n'.repeat(95_000_000)}</w:t></w:r></w:p></w:body></w:document>`,
    });
    expect(lines.length).toBeLessThan(200_000);
    expect(await codeOf(readDocument(lines, 'docx', {}, { timeMs: 110_000 }))).toBe('DOCUMENT_LIMIT');
    expect((await readDocument(docxFile(), 'docx')).facts.format).toBe('docx');
  });

  it('that take long do not hold up the others: these get a further process', async () => {
    const processes = () => process.getActiveResourcesInfo().filter((name) => name === 'ProcessWrap').length;
    const before = processes();
    const held = Promise.allSettled([1, 2, 3].map(() => readDocument(slowFile(), 'xlsx', {}, { slowMs: 0 })));
    await vi.waitFor(() => expect(processes()).toBeGreaterThanOrEqual(before + 2), { timeout: 60_000 });
    // On a busy machine they may take more than their time.
    await held;
  });

  it('a PDF that unpacks to more than memory allows is stopped before it does', async () => {
    const bomb = await pdfBomb();
    expect(bomb.length).toBeLessThan(100_000);
    let highest = 0;
    const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss())), 20);
    const before = process.memoryUsage.rss();
    await expect(readDocument(bomb, 'pdf')).rejects.toThrow(/unpacks to more than 256 MB/);
    clearInterval(watch);
    expect(highest - before).toBeLessThan(1_200 * 1024 * 1024);
  });

  it('an endless PDF ends', async () => {
    const endless = pdfOf(['<</Type/Catalog/Pages 2 0 R>>', '<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>']);
    expect(await codeOf(readDocument(endless, 'pdf', {}, { timeMs: 10_000 }))).toMatch(/^DOCUMENT_/);
  });

  afterAll(async () => {
    // The next one gets a process: nothing is left over from those that were ended.
    expect((await readDocument(Buffer.from('a,b\n1,2'), 'csv')).html.toString()).toContain('<td>1</td>');
  });
});

/** 230,000 cells in a file of 10 KB: not hostile enough to end. */
function slowFile(): Buffer {
  const row = `<row>${'<c t="str"><v>x</v></c>'.repeat(190)}</row>`;
  return zip({
    '_rels/.rels': '',
    'xl/workbook.xml': '<workbook><sheets><sheet name="a" r:id="a"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="a" Type="x/worksheet" Target="s.xml"/></Relationships>',
    'xl/s.xml': `<worksheet><sheetData>${row.repeat(1_200)}</sheetData></worksheet>`,
  });
}

/** A PDF of these objects, numbered from 1; the first is its root. */
function pdfOf(objects: readonly (string | Buffer)[]): Buffer {
  const pieces: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  const places: number[] = [];
  let at = pieces[0]!.length;
  for (const [n, object] of objects.entries()) {
    places.push(at);
    const piece = Buffer.concat([
      Buffer.from(`${n + 1} 0 obj\n`),
      Buffer.from(object as string),
      Buffer.from('\nendobj\n'),
    ]);
    pieces.push(piece);
    at += piece.length;
  }
  const lines = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  const end = `xref\n0 ${size}\n0000000000 65535 f \n${lines}trailer\n<</Size ${size}/Root 1 0 R>>\nstartxref\n${at}\n%%EOF`;
  return Buffer.concat([...pieces, Buffer.from(end)]);
}

/** A page whose content is packed twice: some kilobytes become more than half a gigabyte. */
async function pdfBomb(): Promise<Buffer> {
  const packer = createDeflate({ level: 9 });
  const pieces: Buffer[] = [];
  packer.on('data', (piece: Buffer) => pieces.push(piece));
  const blanks = Buffer.alloc(8 * 1024 * 1024, ' ');
  for (let n = 0; n < 80; n++) if (!packer.write(blanks)) await once(packer, 'drain');
  packer.end();
  await once(packer, 'end');
  const stream = deflateSync(Buffer.concat(pieces), { level: 9 });
  const content = Buffer.concat([
    Buffer.from(`<</Length ${stream.length}/Filter[/FlateDecode/FlateDecode]>>\nstream\n`),
    stream,
    Buffer.from('\nendstream'),
  ]);
  return pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R>>',
    content,
  ]);
}
