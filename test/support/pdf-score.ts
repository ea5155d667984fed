// Compares what was read of a document with its source: words in order, headings, cells of tables.
import { extractTables } from '../../src/crawl/page/extraction.js';
import type { SourceDocument } from './pdf-corpus.js';

export interface DocumentScore {
  /** Share of words that are the same in the same order, of the longer of both. */
  readonly words: number;
  /** F1 of headings by their text. */
  readonly headings: number;
  /** F1 of cells by table, row and column. */
  readonly tables: number;
}

export function scoreDocument(source: SourceDocument, html: string): DocumentScore {
  const expected = source.blocks.flatMap((block) => {
    if (block.kind === 'table') return block.rows.flat().join(' ').split(' ');
    return (block.kind === 'list' ? block.items.join(' ') : block.text).split(' ');
  });
  const body = html.slice(html.indexOf('<body>'));
  const text = body
    .replace(/<\/(?:p|li|h\d|td|th|pre)>|<br>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .replace(/&amp;/g, '&')
    .replace(/&lt;/g, '<');
  const found = text.split(/\s+/).filter((word) => word !== '');
  const common = longestCommon(expected, found);
  return {
    words: common / Math.max(expected.length, found.length),
    headings: f1(
      source.blocks.flatMap((block) => (block.kind === 'heading' ? [block.text] : [])),
      [...body.matchAll(/<h(\d)[^>]*>(.*?)<\/h\1>/g)].map(([, , words]) => words!.replace(/<[^>]*>/g, '')),
    ),
    tables: f1(
      source.blocks.filter((block) => block.kind === 'table').flatMap(({ rows }, at) => cellsOf(rows, at)),
      extractTables(html).flatMap(({ headers, rows }, at) =>
        cellsOf(headers.length > 0 ? [headers, ...rows] : rows, at),
      ),
    ),
  };
}

function cellsOf(rows: readonly (readonly (string | null)[])[], table: number): string[] {
  return rows.flatMap((row, y) => row.map((cell, x) => `${table} ${y} ${x} ${cell ?? ''}`));
}

function f1(expected: readonly string[], found: readonly string[]): number {
  if (expected.length === 0 && found.length === 0) return 1;
  const left = new Map<string, number>();
  for (const one of expected) left.set(one, (left.get(one) ?? 0) + 1);
  let hits = 0;
  for (const one of found) {
    const count = left.get(one) ?? 0;
    if (count > 0) hits++;
    left.set(one, count - 1);
  }
  return (2 * hits) / (expected.length + found.length);
}

/** The length of the longest sequence that both have in common. */
function longestCommon(a: readonly string[], b: readonly string[]): number {
  let above = new Int32Array(b.length + 1);
  for (const word of a) {
    const row = new Int32Array(b.length + 1);
    for (let at = 1; at <= b.length; at++)
      row[at] = word === b[at - 1] ? above[at - 1]! + 1 : Math.max(above[at]!, row[at - 1]!);
    above = row;
  }
  return above[b.length]!;
}
