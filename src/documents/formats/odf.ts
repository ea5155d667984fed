// Reads OpenDocument: text (ODT), sheets (ODS) and presentations (ODP), whose content is written alike.
// Promise: what was deleted under tracked changes is not read; repeated cells and rows are bounded.
import { limitReached, LIMITS } from '../../limits.js';
import type { DocumentFacts, DocumentParts } from '../model.js';
import { DocumentFailure } from '../model.js';
import { addAll, type Block, type Cell, inlineHtml, type Span, writeBlocks } from '../parts/blocks.js';
import { escapeText, writtenHtml } from '../parts/html.js';
import { type Archive, openArchive } from '../parts/zip.js';
import {
  attributeOf,
  childOf,
  descend,
  elementsOf,
  findBelow,
  isElement,
  readXml,
  textBelow,
  type XmlElement,
} from '../parts/xml.js';
import { cellHtml } from './docx.js';
import { dateOf } from './office.js';
import { type OdfStyles, readOdfStyles } from './odf-styles.js';

const SKIPPED = new Set(
  'tracked-changes sequence-decls variable-decls forms settings notes annotation annotation-end change scripts'.split(
    ' ',
  ),
);

export function readOdf(bytes: Uint8Array): DocumentParts {
  const archive = openArchive(bytes);
  const manifest = archive.text('META-INF/manifest.xml') ?? '';
  if (manifest.includes('encryption-data')) {
    throw new DocumentFailure('DOCUMENT_ENCRYPTED', 'the file is protected by a password');
  }
  const text = archive.text('content.xml');
  if (text === undefined) throw new DocumentFailure('DOCUMENT_INVALID', 'the archive has no content.xml');
  const content = childOf(readXml(text), 'document-content');
  const common = childOf(readXml(archive.text('styles.xml') ?? ''), 'document-styles');
  const reader = new Reader(readOdfStyles([common, content]));
  const body = childOf(content, 'body');
  const kind = body && elementsOf(body)[0];
  const blocks = kind ? reader.blocksOf(kind) : [];
  for (const [at, note] of reader.notes.entries()) {
    blocks.push({ kind: 'paragraph', html: `[${at + 1}] ${note}` });
  }
  const facts = { ...factsOf(archive), ...(reader.pages > 0 && { pages: reader.pages }) };
  return { facts, body: writtenHtml((out) => writeBlocks(blocks, out)) };
}

class Reader {
  readonly notes: string[] = [];
  pages = 0;
  #room: number = LIMITS.documentCells.max;
  /** Cells that repeats may still make, more of them with every cell that the file has. */
  #places = 20_000;

  constructor(readonly styles: OdfStyles) {}

  blocksOf(parent: XmlElement, blocks: Block[] = []): Block[] {
    for (const element of elementsOf(parent)) {
      if (SKIPPED.has(element.local)) continue;
      switch (element.name) {
        case 'text:h': {
          const level = Number(attributeOf(element, 'outline-level') ?? 1) || 1;
          blocks.push({ kind: 'heading', level, html: this.#inline(element, true, blocks) });
          break;
        }
        case 'text:p': {
          const isTitle = this.styles.isTitle(attributeOf(element, 'style-name'));
          const at = blocks.length;
          const html = this.#inline(element, isTitle, blocks);
          const block: Block = isTitle ? { kind: 'heading', level: 1, html } : { kind: 'paragraph', html };
          // Before the boxes that are anchored to it.
          blocks.splice(at, 0, block);
          break;
        }
        case 'text:list':
          this.#list(element, 0, undefined, blocks);
          break;
        case 'table:table':
          addAll(blocks, this.#table(element));
          break;
        case 'draw:page':
          addAll(blocks, this.#slide(element));
          break;
        default:
          this.blocksOf(element, blocks);
      }
    }
    return blocks;
  }

  #slide(slide: XmlElement): Block[] {
    this.pages++;
    const page = this.pages;
    const frames = elementsOf(slide).filter((frame) => frame.local !== 'notes');
    const isTitle = (frame: XmlElement) => attributeOf(frame, 'class') === 'title';
    const ordered = [...frames.filter(isTitle), ...frames.filter((frame) => !isTitle(frame))];
    return ordered.flatMap((frame) => {
      const inner = this.blocksOf(frame);
      if (!isTitle(frame)) return inner.map((block) => ({ ...block, page }));
      const html = inner.map((block) => ('html' in block ? block.html : '')).join(' ');
      return [{ kind: 'heading' as const, level: 2, html, page }];
    });
  }

  #list(list: XmlElement, level: number, outer: string | undefined, blocks: Block[]): void {
    const name = attributeOf(list, 'style-name') ?? outer;
    const isOrdered = this.styles.isOrdered(name, level);
    for (const item of elementsOf(list)) {
      if (item.local !== 'list-item' && item.local !== 'list-header') continue;
      let html = '';
      for (const child of elementsOf(item)) {
        if (child.local === 'list') {
          if (html !== '') blocks.push({ kind: 'item', level, isOrdered, html });
          html = '';
          this.#list(child, level + 1, name, blocks);
        } else if (child.name === 'text:h') {
          // A numbered heading stands in a list of its own.
          this.blocksOf({ ...item, children: [child] }, blocks);
        } else {
          const inner = this.#inline(child, false, blocks);
          html += html === '' ? inner : `<br>${inner}`;
        }
      }
      if (html !== '') blocks.push({ kind: 'item', level, isOrdered, html });
    }
  }

  /** The text of a paragraph; what is anchored in it goes to `blocks`. */
  #inline(paragraph: XmlElement, isHeading: boolean, blocks: Block[]): string {
    const spans: Span[] = [];
    this.#spans(paragraph, {}, spans, blocks);
    return inlineHtml(isHeading ? spans.map((span) => ({ ...span, bold: false })) : spans).trim();
  }

  #spans(parent: XmlElement, marks: Omit<Span, 'text'>, spans: Span[], blocks: Block[]): void {
    for (const child of parent.children) {
      // Blanks in a row are one: real ones are elements.
      if (!isElement(child)) {
        spans.push({ ...marks, text: child.replace(/[\t\n\r ]+/g, ' ') });
        continue;
      }
      switch (child.name) {
        case 'text:s':
          spans.push({ ...marks, text: ' '.repeat(Math.min(Number(attributeOf(child, 'c') ?? 1) || 1, 100)) });
          break;
        case 'text:tab':
          spans.push({ ...marks, text: '\t' });
          break;
        case 'text:line-break':
          spans.push({ ...marks, text: '\n' });
          break;
        case 'text:a':
          this.#spans(child, { ...marks, href: attributeOf(child, 'href') }, spans, blocks);
          break;
        case 'text:span':
          this.#spans(child, { ...marks, ...this.styles.marksOf(attributeOf(child, 'style-name')) }, spans, blocks);
          break;
        case 'text:note': {
          const note = childOf(child, 'note-body');
          this.notes.push(note ? cellHtml(this.blocksOf(note)) : '');
          spans.push({ text: `[${this.notes.length}]`, script: 'sup' });
          break;
        }
        case 'draw:frame':
        case 'draw:custom-shape':
        case 'draw:g':
          this.blocksOf(child, blocks);
          break;
        default:
          if (!SKIPPED.has(child.local)) this.#spans(child, marks, spans, blocks);
      }
    }
  }

  #table(table: XmlElement): Block[] {
    const rows: Cell[][] = [];
    let columns = 0;
    const isSheet = attributeOf(table, 'name') !== undefined && attributeOf(table, 'is-sub-table') === undefined;
    for (const { row, isHeader } of rowsOf(table, false)) {
      const cells = this.#row(row, isHeader);
      const used = lastFilled(cells) + 1;
      columns = Math.max(columns, used);
      // Sheets repeat an empty row a million times; a filled one is repeated on purpose.
      const times = used === 0 ? 1 : Math.min(Number(attributeOf(row, 'number-rows-repeated') ?? 1) || 1, 1000);
      for (let n = 0; n < times && this.#room > 0; n++) {
        rows.push(cells);
        if (n > 0) this.#take(used);
      }
      if (this.#room <= 0) break;
    }
    while (rows.length > 0 && lastFilled(rows.at(-1)!) < 0) rows.pop();
    const filled = rows.filter((row) => !isSheet || lastFilled(row) >= 0).map((row) => row.slice(0, columns));
    if (filled.length > 0 && !filled.some((row) => row.some(({ isHeader }) => isHeader)))
      filled[0] = filled[0]!.map((cell) => ({ ...cell, isHeader: true }));
    const name = this.styles.isSpreadsheet ? attributeOf(table, 'name') : undefined;
    if (name === undefined) return filled.length > 0 ? [{ kind: 'table', rows: filled }] : [];
    const page = ++this.pages;
    const heading: Block = { kind: 'heading', level: 2, html: escapeText(name), page };
    return filled.length > 0 ? [heading, { kind: 'table', rows: filled, page }] : [heading];
  }

  #take(cells: number): void {
    if (this.#room > 0 && this.#room <= cells) limitReached('documentCells');
    this.#room -= cells;
  }

  /** How often a cell is written: a file may say "200 times" in every row, of nothing. */
  #repeats(said: number): number {
    this.#places += LIMITS.tablePlaces.max;
    const times = Math.min(said, LIMITS.tableColumns.max);
    if (this.#places < times) {
      limitReached('tablePlaces');
      return 1;
    }
    this.#places -= times;
    return times;
  }

  #row(row: XmlElement, isHeader: boolean): Cell[] {
    const cells: Cell[] = [];
    for (const cell of elementsOf(row)) {
      if (cell.local !== 'table-cell') continue;
      const html = cellHtml(this.blocksOf(cell));
      const times = this.#repeats(Number(attributeOf(cell, 'number-columns-repeated') ?? 1) || 1);
      const columns = Number(attributeOf(cell, 'number-columns-spanned') ?? 1) || 1;
      const down = Number(attributeOf(cell, 'number-rows-spanned') ?? 1) || 1;
      for (let n = 0; n < times && cells.length < LIMITS.tableColumns.max; n++) {
        if (html !== '') this.#take(1);
        cells.push({ html, isHeader, columns, rows: down });
      }
    }
    return cells;
  }
}

function rowsOf(parent: XmlElement, isHeader: boolean): { row: XmlElement; isHeader: boolean }[] {
  return elementsOf(parent).flatMap((child) => {
    if (child.local === 'table-row') return [{ row: child, isHeader }];
    const isGroup = ['table-header-rows', 'table-rows', 'table-row-group'].includes(child.local);
    return isGroup ? rowsOf(child, isHeader || child.local === 'table-header-rows') : [];
  });
}

function lastFilled(cells: readonly Cell[]): number {
  for (let at = cells.length - 1; at >= 0; at--) if (cells[at]!.html !== '') return at;
  return -1;
}

function factsOf(archive: Archive): Partial<DocumentFacts> {
  const meta = descend(readXml(archive.text('meta.xml') ?? ''), 'document-meta', 'meta');
  const value = (local: string) => textBelow(childOf(meta, local)).trim() || null;
  const pages = Number(attributeOf(meta && findBelow(meta, 'document-statistic'), 'page-count'));
  return {
    title: value('title'),
    author: value('initial-creator') ?? value('creator'),
    description: value('description') ?? value('subject'),
    keywords: value('keyword'),
    language: value('language'),
    createdAt: dateOf(value('creation-date')),
    modifiedAt: dateOf(value('date')),
    pages: Number.isInteger(pages) && pages > 0 ? pages : null,
  };
}
