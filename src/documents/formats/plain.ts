// Reads plain text and JSON. Text: paragraphs between blank lines, lists, listings as they are. JSON: written with indents.
// Promise: one pass; no character of a listing is lost.
import type { DocumentParts } from '../model.js';
import { DocumentFailure } from '../model.js';
import { addAll, type Block, writeBlocks } from '../parts/blocks.js';
import { escapeText, linkStart, writtenHtml } from '../parts/html.js';
import { isJsonFeed, readJsonFeed } from './feed.js';

export function readText(text: string): DocumentParts {
  const blocks: Block[] = [];
  let lines: string[] = [];
  const flush = (): void => {
    if (lines.length > 0) addAll(blocks, blocksOf(lines));
    lines = [];
  };
  for (const line of text.replace(/^\ufeff/, '').split(/\r\n|\n|\r|\f/)) {
    if (line.trim() === '') flush();
    else lines.push(line);
  }
  flush();
  return { facts: {}, body: writtenHtml((out) => writeBlocks(blocks, out)) };
}

const ITEM = /^\s{0,4}(?:([-*\u2022])|\d{1,3}[.)])\s+(?=\S)/;

function blocksOf(lines: readonly string[]): Block[] {
  if (ITEM.test(lines[0]!)) return itemsOf(lines);
  // Columns and indents are drawn with blanks: those lines stay as they are.
  if (lines.every((line) => /^(?:\t| {2})/.test(line) || /\S {3,}\S|\S\t/.test(line)))
    return [{ kind: 'code', text: lines.join('\n') }];
  // Short lines are verses, addresses, headers: their ends mean something.
  const isShort = lines.length > 1 && lines.every((line) => line.length < 45);
  return [
    {
      kind: 'paragraph',
      html: linked(lines.map((line) => line.trim()).join('\n')).replaceAll('\n', isShort ? '<br>' : '\n'),
    },
  ];
}

function itemsOf(lines: readonly string[]): Block[] {
  const items: { isOrdered: boolean; text: string }[] = [];
  for (const line of lines) {
    const mark = ITEM.exec(line);
    if (mark) items.push({ isOrdered: mark[1] === undefined, text: line.slice(mark[0].length).trim() });
    else items.at(-1)!.text += ` ${line.trim()}`;
  }
  return items.map(({ isOrdered, text }) => ({ kind: 'item', level: 0, isOrdered, html: linked(text) }));
}

const ADDRESS = /\bhttps?:\/\/[^\s<>"'{}|\\^`[\]]{1,2000}/g;

/** Text whose addresses are links. */
export function linked(text: string): string {
  let html = '';
  let from = 0;
  for (const match of text.matchAll(ADDRESS)) {
    // The end of a sentence is not part of it.
    const address = match[0].replace(/[.,;:!?)]{1,9}$/, '');
    const link = linkStart(address);
    if (link === undefined) continue;
    html += `${escapeText(text.slice(from, match.index))}${link}${escapeText(address)}</a>`;
    from = match.index + address.length;
  }
  return html + escapeText(text.slice(from));
}

export function readJson(text: string, url: string | undefined): DocumentParts {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new DocumentFailure('DOCUMENT_INVALID', `the file is not JSON: ${(error as Error).message.slice(0, 200)}`);
  }
  if (isJsonFeed(value)) return readJsonFeed(value, url);
  const { title, name } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const said = [title, name].find((one) => typeof one === 'string' && one.trim() !== '' && one.length < 300);
  const body = writtenHtml((out) =>
    out.tag('<pre><code class="language-json">').text(indented(value, text)).tag('</code></pre>'),
  );
  return { facts: { title: (said as string | undefined)?.trim() ?? null }, body };
}

/** JSON that nests too deep to be written again stays as it came. */
function indented(value: unknown, text: string): string {
  try {
    return JSON.stringify(value, null, 2);
  } catch {
    return text;
  }
}
