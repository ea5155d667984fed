// Items as comma-separated values (RFC 4180), one row per item.
// Promise: a CSV reader gets back every cell; nothing in a cell is changed except its quotes.
import type { Dictionary } from '../../request/request.js';

/**
 * One row with its line end.
 *
 * @example
 * csvRow(['a', 'say "hi", twice']); // 'a,"say ""hi"", twice"\n'
 */
export function csvRow(cells: readonly unknown[]): string {
  // A row with one empty cell would be a blank line, which readers skip.
  if (cells.length === 1 && cellText(cells[0]) === '') return '""\n';
  return `${cells.map(csvCell).join(',')}\n`;
}

/** The cells of an item under these columns. */
export function cellsOf(item: Dictionary, columns: readonly string[]): unknown[] {
  return columns.map((column) => (Object.hasOwn(item, column) ? item[column] : undefined));
}

function csvCell(value: unknown): string {
  const text = cellText(value);
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? (JSON.stringify(value) ?? '') : String(value);
}
