// Reads a PDF: pages to drawings, drawings to lines and tables, those to blocks in reading order.
// Promise: a file without any text has its own code, since only reading its pictures would help; so has one with a password.
import { limitReached, LIMITS } from '../../limits.js';
import { DocumentFailure, type DocumentHeading, type DocumentParts } from '../model.js';
import { type Block, writeBlocks } from '../parts/blocks.js';
import { wordsOf, writtenHtml } from '../parts/html.js';
import { blocksOf, type DocumentLook, wordAtStart } from './blocks.js';
import { bodySizeOf, type Draft, draftsOf, pitchesOf } from './drafts.js';
import { withoutFurniture } from './furniture.js';
import { interpretPage } from './interpret.js';
import { type Laid, layOut, type PageLines, readPageLines } from './layout.js';
import { openPdf } from './source.js';

export async function readPdf(bytes: Uint8Array): Promise<DocumentParts> {
  const source = await openPdf(bytes);
  try {
    const pages: PageLines[] = [];
    const count = Math.min(source.pages, LIMITS.documentPages.max);
    if (count < source.pages) limitReached('documentPages');
    let broken: unknown;
    for (let number = 1; number <= count; number++) {
      try {
        pages.push(readPageLines(interpretPage(await source.page(number), source.numbers)));
      } catch (error) {
        if (error instanceof DocumentFailure) throw error;
        // A page that cannot be read does not cost the others.
        broken = error;
        pages.push({ height: 0, lines: [], tables: [] });
      }
    }
    if (pages.every(({ lines, tables }) => lines.length + tables.length === 0)) {
      if (broken !== undefined) throw broken;
      throw new DocumentFailure(
        'DOCUMENT_NO_TEXT',
        `its ${source.pages} page${source.pages === 1 ? ' has' : 's have'} no text: a scan, which only text recognition can read`,
      );
    }
    const blocks = readBlocks(pages, String(source.info.Producer ?? ''));
    return {
      facts: { ...factsOf(source.info), pages: source.pages, headings: headingsOf(blocks) },
      body: writtenHtml((out) => writeBlocks(blocks, out)),
    };
  } finally {
    await source.close().catch(() => undefined);
  }
}

/** The blocks of a document, from the lines and tables of its pages. */
export function readBlocks(pages: readonly PageLines[], producer: string): Block[] {
  const kept = withoutFurniture(pages);
  const columns = pages.map((page, at) => layOut(page, kept[at]!));
  const pitches = pitchesOf(columns.flat());
  const counting = { last: 0 };
  const drafts: Draft[] = columns.flatMap((page, at) =>
    page.flatMap((column) => draftsOf(column, at + 1, pitches, counting)),
  );
  const all = columns.flat(2);
  const lines = all.filter((laid) => laid.kind === 'line');
  const look: DocumentLook = {
    bodySize: bodySizeOf(lines),
    // Browsers end lines at hyphens that are there; others put them there.
    dividesWords: !/skia|chrom|safari|firefox|cairo/i.test(producer),
    vocabulary: vocabularyOf(all),
  };
  return blocksOf(drafts, look);
}

/** The words that no line divides: all but the last and first of lines. */
function vocabularyOf(all: readonly Laid[]): Set<string> {
  const words = new Set<string>();
  for (const laid of all) {
    if (laid.kind !== 'line') continue;
    for (const { text } of laid.words.slice(0, -1)) {
      if (words.size >= 200_000) return words;
      words.add(wordAtStart(text.replace(/^[("'\u201c]/, '')));
    }
  }
  return words;
}

const MAX_HEADINGS = 5_000;

function headingsOf(blocks: readonly Block[]): DocumentHeading[] {
  const headings: DocumentHeading[] = [];
  for (const block of blocks) {
    if (block.kind !== 'heading' || headings.length >= MAX_HEADINGS) continue;
    const text = wordsOf(block.html);
    headings.push({ level: block.level, text, page: block.page ?? 1 });
  }
  return headings;
}

function factsOf(info: Readonly<Record<string, unknown>>): DocumentParts['facts'] {
  const value = (name: string) => {
    const text = info[name];
    return typeof text === 'string' && text.trim() !== '' ? text.trim().slice(0, 2_000) : null;
  };
  const title = value('Title');
  // What programs write when nobody gave a title: the name of a file.
  const isName =
    title !== null &&
    /^(?:untitled|microsoft \w+ - |.{0,200}\.(?:docx?|pptx?|xlsx?|odt|tex|dvi|indd|pdf|html?)$)/i.test(title);
  return {
    title: isName ? null : title,
    author: value('Author'),
    description: value('Subject'),
    keywords: value('Keywords'),
    language: value('Language'),
    createdAt: dateOf(value('CreationDate')),
    modifiedAt: dateOf(value('ModDate')),
  };
}

/** `D:20261116135302+01'00'` as ISO 8601. */
function dateOf(text: string | null): string | null {
  const parts = /^(?:D:)?(\d{4})(\d{2})?(\d{2})?(\d{2})?(\d{2})?(\d{2})?(?:([Z+-])(?:(\d{2})'?(\d{2})?)?)?/.exec(
    text ?? '',
  );
  if (!parts) return null;
  const [
    ,
    year,
    month = '01',
    day = '01',
    hour = '00',
    minute = '00',
    second = '00',
    sign,
    hours = '00',
    minutes = '00',
  ] = parts;
  const zone = sign === undefined || sign === 'Z' ? 'Z' : `${sign}${hours}:${minutes}`;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`;
  return Number.isNaN(Date.parse(iso)) ? null : iso;
}
