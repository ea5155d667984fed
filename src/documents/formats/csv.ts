// Reads CSV and TSV as a table whose first row names the columns.
// Promise: one pass; quotes as RFC 4180 has them, and a quote that never ends costs only its cell's structure.
import { limitReached, LIMITS } from '../../limits.js';
import type { DocumentParts } from '../model.js';
import { type Cell, writeBlocks } from '../parts/blocks.js';
import { escapeText, linkStart, writtenHtml } from '../parts/html.js';

export function readCsv(text: string): DocumentParts {
  const records = recordsOf(text.startsWith('\ufeff') ? text.slice(1) : text);
  const rows = records.map((record, at) =>
    record.map((value): Cell => ({ html: cellOf(value.trim()), isHeader: at === 0 })),
  );
  return { facts: {}, body: writtenHtml((out) => writeBlocks([{ kind: 'table', rows }], out)) };
}

function cellOf(value: string): string {
  const html = escapeText(value).replace(/\r?\n/g, '<br>');
  const link = /\s/.test(value) ? undefined : linkStart(value);
  return link === undefined ? html : `${link}${html}</a>`;
}

/** Rows of cells, as far as the limits allow. */
export function recordsOf(text: string): string[][] {
  const delimiter = delimiterOf(text);
  const records: string[][] = [];
  let record: string[] = [];
  let cells = 0;
  let at = 0;
  while (at < text.length) {
    let value: string;
    if (text[at] === '"') {
      let pieces = '';
      let from = at + 1;
      for (;;) {
        const quote = text.indexOf('"', from);
        pieces += text.slice(from, quote < 0 ? undefined : quote);
        if (quote < 0) {
          at = text.length;
          break;
        }
        if (text[quote + 1] !== '"') {
          at = quote + 1;
          break;
        }
        pieces += '"';
        from = quote + 2;
      }
      const rest = endOfCell(text, at, delimiter);
      value = pieces + text.slice(at, rest).replace(/\r$/, '');
      at = rest;
    } else {
      const end = endOfCell(text, at, delimiter);
      value = text.slice(at, end);
      if (value.endsWith('\r')) value = value.slice(0, -1);
      at = end;
    }
    if (record.length < LIMITS.tableColumns.max) record.push(value);
    const isEndOfRow = text[at] !== delimiter;
    at++;
    if (++cells >= LIMITS.documentCells.max) {
      limitReached('documentCells');
      break;
    }
    if (!isEndOfRow) {
      // A delimiter at the very end has an empty cell after it.
      if (at >= text.length) record.push('');
      continue;
    }
    if (record.length > 1 || record[0]!.trim() !== '') records.push(record);
    record = [];
  }
  if (record.length > 1 || (record[0] ?? '').trim() !== '') records.push(record);
  return records;
}

function endOfCell(text: string, from: number, delimiter: string): number {
  let at = from;
  while (at < text.length && text[at] !== delimiter && text[at] !== '\n') at++;
  return at;
}

/** The delimiter that the first lines agree on. */
function delimiterOf(text: string): string {
  const lines = text.slice(0, 20_000).split('\n', 10);
  const counts = [',', ';', '\t', '|'].map((delimiter) => {
    const perLine = lines.filter((line) => line.trim() !== '').map((line) => outsideQuotes(line, delimiter));
    return { delimiter, least: Math.min(...perLine), total: perLine.reduce((sum, count) => sum + count, 0) };
  });
  counts.sort((a, b) => b.least - a.least || b.total - a.total);
  return counts[0]!.delimiter;
}

function outsideQuotes(line: string, delimiter: string): number {
  let count = 0;
  let isQuoted = false;
  for (const character of line) {
    if (character === '"') isQuoted = !isQuoted;
    else if (character === delimiter && !isQuoted) count++;
  }
  return count;
}
