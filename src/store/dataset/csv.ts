// Items as comma-separated values (RFC 4180), one row an item.
// Promise: any item reads back cell by cell with a CSV reader. Text that a spreadsheet would take for a formula gets an
// apostrophe in front, unless cells are to stay raw; nothing else in a cell is altered but its quotes.
import type { Dictionary } from '../../request/request.js';

/**
 * One row with its line end.
 *
 * @example
 * csvRow(['a', 'say "hi", twice']); // 'a,"say ""hi"", twice"\n'
 */
export function csvRow(cells: readonly unknown[], isRaw = false): string {
  // A row of one empty cell would be a blank line, which readers skip.
  if (cells.length === 1 && cellText(cells[0]) === '') return '""\n';
  return `${cells.map((cell) => csvCell(cell, isRaw)).join(',')}\n`;
}

/** The cells of an item under these columns. */
export function cellsOf(item: Dictionary, columns: readonly string[]): unknown[] {
  return columns.map((column) => (Object.hasOwn(item, column) ? item[column] : undefined));
}

/** What makes spreadsheets run a text: these at its start, some also in full width. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

function csvCell(value: unknown, isRaw: boolean): string {
  const plain = cellText(value);
  const text = !isRaw && typeof value === 'string' && FORMULA.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? (JSON.stringify(value) ?? '') : String(value);
}
