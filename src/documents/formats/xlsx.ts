// Reads XLSX: every visible sheet is a heading and a table, as far as cells are filled.
// Promise: cells are counted against a limit; dates are written as ISO 8601, whatever their number format.
import { limitReached, LIMITS } from '../../limits.js';
import type { DocumentParts } from '../model.js';
import { type Block, type Cell, inlineHtml, writeBlocks } from '../parts/blocks.js';
import { escapeText, writtenHtml } from '../parts/html.js';
import type { Archive } from '../parts/zip.js';
import { attributeNamed, attributeOf, childOf, elementsOf, readXml, textBelow, type XmlElement } from '../parts/xml.js';
import { corePropertiesOf, mainPart, openOffice, relationsOf } from './office.js';

export function readXlsx(bytes: Uint8Array): DocumentParts {
  const archive = openOffice(bytes);
  const part = mainPart(archive, 'xl/workbook.xml');
  const relations = relationsOf(archive, part);
  const book = childOf(readXml(archive.text(part) ?? ''), 'workbook');
  const uses1904 = ['1', 'true'].includes(attributeOf(childOf(book, 'workbookPr'), 'date1904') ?? '');
  const context: Book = {
    strings: stringsOf(archive.text(relations.byType.get('sharedStrings')?.[0] ?? '')),
    isDate: dateStylesOf(archive.text(relations.byType.get('styles')?.[0] ?? '')),
    dayZero: uses1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30),
    room: LIMITS.documentCells.max,
    characters: LIMITS.documentCharacters.max,
  };
  const blocks: Block[] = [];
  let pages = 0;
  for (const sheet of elementsOf(childOf(book, 'sheets') ?? readXml(''))) {
    const file = relations.byId.get(attributeNamed(sheet, 'r:id') ?? '');
    if (file === undefined || (attributeOf(sheet, 'state') ?? 'visible') !== 'visible') continue;
    const text = archive.text(file);
    if (text === undefined) continue;
    pages++;
    blocks.push({ kind: 'heading', level: 2, html: escapeText(attributeOf(sheet, 'name') ?? ''), page: pages });
    const rows = rowsOf(childOf(readXml(text), 'worksheet'), context, archive, file);
    if (rows.length > 0) blocks.push({ kind: 'table', rows, page: pages });
  }
  return { facts: { ...corePropertiesOf(archive), pages }, body: writtenHtml((out) => writeBlocks(blocks, out)) };
}

interface Book {
  readonly strings: readonly string[];
  readonly isDate: (style: number) => boolean;
  /** Milliseconds at the day that has the number 0. */
  readonly dayZero: number;
  /** Cells that may still be read, and what they may say together: many cells may share one long text. */
  room: number;
  characters: number;
}

function rowsOf(sheet: XmlElement | undefined, book: Book, archive: Archive, file: string): Cell[][] {
  const data = childOf(sheet, 'sheetData');
  if (!data) return [];
  const links = linksOf(sheet!, archive, file);
  const spans = mergesOf(sheet!);
  const filled = new Map<number, Map<number, string>>();
  let lastColumn = -1;
  let rowAt = -1;
  for (const row of elementsOf(data)) {
    rowAt = indexOr(attributeOf(row, 'r'), rowAt + 1);
    const cells = new Map<number, string>();
    let column = -1;
    for (const cell of elementsOf(row)) {
      if (cell.local !== 'c') continue;
      const reference = attributeOf(cell, 'r');
      column = reference === undefined ? column + 1 : columnOf(reference);
      if (column >= LIMITS.tableColumns.max) continue;
      const text = valueOf(cell, book);
      if (text === '') continue;
      if (book.room-- <= 0 || (book.characters -= text.length) < 0) {
        limitReached(book.characters < 0 ? 'documentCharacters' : 'documentCells');
        return tableOf(filled, lastColumn, spans);
      }
      cells.set(column, inlineHtml([{ text, href: links.get(reference ?? '') }]));
      lastColumn = Math.max(lastColumn, column);
    }
    // Rows without a word are not written, however many there are.
    if (cells.size > 0) filled.set(rowAt, cells);
  }
  return tableOf(filled, lastColumn, spans);
}

function tableOf(
  filled: ReadonlyMap<number, ReadonlyMap<number, string>>,
  lastColumn: number,
  spans: ReadonlyMap<string, { columns: number }>,
): Cell[][] {
  const rows: Cell[][] = [];
  let count = 0;
  for (const cells of filled.values()) count += cells.size;
  // A sheet may have one cell per row, far to the right: blanks are written one by one in proportion to what is filled.
  let room = LEAST_PLACES + LIMITS.tablePlaces.max * count;
  for (const [at, cells] of filled) {
    const row: Cell[] = [];
    if (room < 0) pushSparse(row, cells, rows.length === 0);
    else {
      for (let column = 0; column <= lastColumn;) {
        const columns = Math.min(spans.get(`${at} ${column}`)?.columns ?? 1, lastColumn - column + 1);
        row.push({ html: cells.get(column) ?? '', isHeader: rows.length === 0, columns });
        column += columns;
      }
      if ((room -= row.length) < 0) limitReached('tablePlaces');
    }
    rows.push(row);
  }
  return rows;
}

const LEAST_PLACES = 20_000;

/** The filled cells of a row, with one wide blank for those in between. */
function pushSparse(row: Cell[], cells: ReadonlyMap<number, string>, isHeader: boolean): void {
  let next = 0;
  for (const [column, html] of [...cells].sort(([a], [b]) => a - b)) {
    if (column > next) row.push({ html: '', isHeader, columns: column - next });
    row.push({ html, isHeader, columns: 1 });
    next = column + 1;
  }
}

function valueOf(cell: XmlElement, book: Book): string {
  const type = attributeOf(cell, 't');
  if (type === 'inlineStr') return stringOf(childOf(cell, 'is'));
  const value = textBelow(childOf(cell, 'v'));
  if (value === '') return '';
  if (type === 's') return book.strings[Number(value)] ?? '';
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
  if (type === 'str' || type === 'e') return value;
  if (type === 'd') return value;
  return book.isDate(Number(attributeOf(cell, 's') ?? 0)) ? dateAt(Number(value), book.dayZero) : shortNumber(value);
}

/** 0.30000000000000004 is 0.3 to whoever looks at the sheet. */
function shortNumber(value: string): string {
  const number = Number(value);
  return Number.isFinite(number) && value.length > 15 ? String(Number(number.toPrecision(15))) : value;
}

const DAY_MS = 86_400_000;

function dateAt(days: number, dayZero: number): string {
  if (!Number.isFinite(days) || Math.abs(days) > 3_000_000) return String(days);
  const iso = new Date(dayZero + Math.round(days * DAY_MS)).toISOString();
  if (days >= 0 && days < 1) return iso.slice(11, 19);
  return iso.endsWith('T00:00:00.000Z') ? iso.slice(0, 10) : iso.slice(0, 19);
}

/** The text of a string and of its parts, without how it is read aloud. */
function stringOf(item: XmlElement | undefined): string {
  let text = '';
  for (const child of item ? elementsOf(item) : []) {
    if (child.local === 't') text += textBelow(child);
    else if (child.local === 'r') text += textBelow(childOf(child, 't'));
  }
  return text;
}

function stringsOf(text: string | undefined): string[] {
  const root = text === undefined ? undefined : childOf(readXml(text), 'sst');
  return root ? elementsOf(root).map(stringOf) : [];
}

/** Number formats of dates that need no words. */
const isDateNumber = (id: number) => (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 58);

function dateStylesOf(text: string | undefined): (style: number) => boolean {
  const root = text === undefined ? undefined : childOf(readXml(text), 'styleSheet');
  const own = new Map<number, boolean>();
  for (const format of elementsOf(childOf(root, 'numFmts') ?? readXml(''))) {
    const code = (attributeOf(format, 'formatCode') ?? '')
      .slice(0, 500)
      .replace(/"[^"]{0,100}"|\\.|\[[^\]]{0,60}\]/g, '');
    own.set(
      Number(attributeOf(format, 'numFmtId')),
      /[ymdhs]/i.test(code) && !/[#0]/.test(code.replace(/s\.0+/gi, '')),
    );
  }
  const styles = elementsOf(childOf(root, 'cellXfs') ?? readXml('')).map((style) => {
    const id = Number(attributeOf(style, 'numFmtId') ?? 0);
    return own.get(id) ?? isDateNumber(id);
  });
  return (style) => styles[style] ?? false;
}

function mergesOf(sheet: XmlElement): Map<string, { columns: number }> {
  const merges = new Map<string, { columns: number }>();
  for (const merge of elementsOf(childOf(sheet, 'mergeCells') ?? readXml(''))) {
    const [from, to] = (attributeOf(merge, 'ref') ?? '').split(':');
    if (!from || !to) continue;
    const columns = columnOf(to) - columnOf(from) + 1;
    // Cells over several rows are written as one and blanks below it: rows stay as they are.
    if (columns > 1) merges.set(`${indexOr(from.replace(/\D/g, ''), 0)} ${columnOf(from)}`, { columns });
  }
  return merges;
}

function linksOf(sheet: XmlElement, archive: Archive, file: string): Map<string, string> {
  const links = new Map<string, string>();
  const list = childOf(sheet, 'hyperlinks');
  if (!list) return links;
  const { byId } = relationsOf(archive, file);
  for (const link of elementsOf(list)) {
    const target = byId.get(attributeNamed(link, 'r:id') ?? '');
    const cell = attributeOf(link, 'ref');
    if (target !== undefined && cell !== undefined) links.set(cell.split(':', 1)[0]!, target);
  }
  return links;
}

/** A row's number as an index from 0. */
function indexOr(number: string | undefined, otherwise: number): number {
  const row = Number(number);
  return Number.isInteger(row) && row > 0 ? row - 1 : otherwise;
}

/** The column of a reference such as `BC12`, from 0. */
function columnOf(reference: string): number {
  let column = 0;
  for (let at = 0; at < reference.length && at < 4; at++) {
    const letter = reference.charCodeAt(at) - 64;
    if (letter < 1 || letter > 26) break;
    column = column * 26 + letter;
  }
  return column - 1;
}
