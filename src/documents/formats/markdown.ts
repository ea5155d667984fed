// Reads markdown, as sites give it to readers that ask for it: headings, paragraphs, lists, tables, code, links, emphasis.
// Promise: one pass over lines, one over the characters of each; addresses become absolute; HTML in it is only its text.
import { createRelativeUrls } from '../../request/url.js';
import type { DocumentParts } from '../model.js';
import { type Block, inlineHtml, writeBlocks } from '../parts/blocks.js';
import { writtenHtml } from '../parts/html.js';
import { inlineSpans, type Definitions } from './markdown-inline.js';

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+|$)/;
const RULE = /^ {0,3}([*_-])/;
/** A line that can only be more of what is open: most lines, which no other pattern needs to look at. */
const GOES_ON = /^\s*[^\s\d`~#=*_+>[-]/;
const ITEM = /^([ \t]{0,40})(?:([-*+])|\d{1,9}[.)])[ \t]+(?=\S)/;
const UNDERLINE = /^ {0,3}(=+|-+)[ \t]*$/;
/** A cell of the line between the head of a table and its rows. */
const DIVIDER_CELL = /^[ \t]*:?-+:?[ \t]*$/;
const DEFINITION = /^ {0,3}\[([^\]]{1,200})\]:[ \t]*<?([^\s<>]{1,3000})/;
const MAX_COLUMNS = 200;
const MAX_DEFINITIONS = 10_000;

export function readMarkdownText(text: string, url?: string): DocumentParts {
  const { facts, lines } = withoutFrontMatter(text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/));
  const definitions = definitionsOf(lines);
  const urls = createRelativeUrls(text.length);
  const address = (href: string): string | undefined => urls.resolve(href, url)?.href;
  const html = (source: string): string => inlineHtml(inlineSpans(source, definitions, address));
  const blocks = blocksOf(lines, html);
  return { facts, body: writtenHtml((out) => writeBlocks(blocks, out)) };
}

/** `title: …` and the like between two lines of three dashes, where the text begins with them. */
function withoutFrontMatter(lines: readonly string[]): { facts: DocumentParts['facts']; lines: readonly string[] } {
  const end = lines[0]?.trimEnd() === '---' ? lines.slice(1, 200).indexOf('---') : -1;
  if (end < 0) return { facts: {}, lines };
  const value = (name: string): string | null => {
    const line = lines.slice(1, end + 1).find((one) => one.toLowerCase().startsWith(`${name}:`));
    const text =
      line
        ?.slice(name.length + 1)
        .trim()
        .slice(0, 2_000) ?? '';
    return text.replace(/^(["'])(.*)\1$/, '$2') || null;
  };
  const facts = { title: value('title'), author: value('author'), description: value('description') };
  return { facts, lines: lines.slice(end + 2) };
}

function definitionsOf(lines: readonly string[]): Definitions {
  const found = new Map<string, string>();
  for (const line of lines) {
    // Most lines have none, and a text may have millions of them.
    const [, name, href] = (line.includes(']:') && DEFINITION.exec(line)) || [];
    if (name !== undefined && found.size < MAX_DEFINITIONS && !found.has(name.toLowerCase()))
      found.set(name.toLowerCase(), href!);
  }
  return found;
}

function blocksOf(lines: readonly string[], html: (source: string) => string): Block[] {
  const blocks: Block[] = [];
  const indents: number[] = [];
  let open: { lines: string[]; item?: { level: number; isOrdered: boolean } } | undefined;
  const flush = (): void => {
    if (!open) return;
    const inner = html(open.lines.join('\n'));
    blocks.push(open.item ? { kind: 'item', ...open.item, html: inner } : { kind: 'paragraph', html: inner });
    open = undefined;
  };
  for (let at = 0; at < lines.length; at++) {
    if (lines[at] === '') {
      flush();
      continue;
    }
    if (open && GOES_ON.test(lines[at]!)) {
      open.lines.push(paragraphLine(lines[at]!));
      continue;
    }
    const line = lines[at]!.replace(/^ {0,3}>[ \t]?(?:>[ \t]?){0,20}/, '');
    const fence = FENCE.exec(line.trimStart())?.[1];
    if (fence !== undefined) {
      flush();
      const from = at + 1;
      const indent = line.length - line.trimStart().length;
      for (at = from; at < lines.length && !isFenceEnd(lines[at]!, fence); at++);
      const code = lines.slice(from, at).map((one) => one.slice(Math.min(indent, one.length - one.trimStart().length)));
      blocks.push({ kind: 'code', text: code.join('\n') });
      continue;
    }
    if (line.trim() === '') {
      flush();
      continue;
    }
    const level = HEADING.exec(line)?.[1]?.length;
    const item = ITEM.exec(line);
    const isIndented = /^(?: {4}|\t)/.test(line) && !open && indents.length === 0;
    if (level !== undefined) {
      flush();
      indents.length = 0;
      blocks.push({
        kind: 'heading',
        level,
        html: html(
          line
            .replace(HEADING, '')
            .replace(/[ \t]#{1,6}[ \t]*$/, '')
            .trim(),
        ),
      });
    } else if (open && !open.item && UNDERLINE.test(line)) {
      const heading = html(open.lines.join('\n'));
      open = undefined;
      blocks.push({ kind: 'heading', level: line.trim().startsWith('=') ? 1 : 2, html: heading });
    } else if (isRule(line) || (DEFINITION.test(line) && !open)) {
      flush();
    } else if (item && !isIndented) {
      flush();
      const indent = item[1]!.replaceAll('\t', '    ').length;
      while (indents.length > 0 && indent < indents.at(-1)!) indents.pop();
      if (indents.length === 0 || indent > indents.at(-1)! + 1) indents.push(indent);
      open = {
        lines: [line.slice(item[0].length).replace(/^\[[ xX]\][ \t]+/, '')],
        item: { level: indents.length - 1, isOrdered: item[2] === undefined },
      };
    } else if (!open && line.includes('|') && isDivider(lines[at + 1] ?? '')) {
      const rows = [line];
      for (at += 2; at < lines.length && lines[at]!.includes('|'); at++) rows.push(lines[at]!);
      at--;
      blocks.push({
        kind: 'table',
        rows: rows.map((row, n) => cellsOf(row).map((cell) => ({ html: html(cell), isHeader: n === 0 }))),
      });
    } else if (isIndented) {
      const last = blocks.at(-1);
      const text = line.replace(/^(?: {4}|\t)/, '');
      if (last?.kind === 'code' && at > 0 && /^(?: {4}|\t)/.test(lines[at - 1]!))
        blocks[blocks.length - 1] = { kind: 'code', text: `${last.text}\n${text}` };
      else blocks.push({ kind: 'code', text });
    } else {
      if (!open && !/^\s/.test(line)) indents.length = 0;
      (open ??= { lines: [] }).lines.push(paragraphLine(line));
    }
  }
  flush();
  return blocks;
}

/** Two blanks at the end of a line are a line break. */
function paragraphLine(line: string): string {
  return line.endsWith('  ') ? `${line.trim()}\\` : line.trim();
}

// Patterns that repeat a group remember every turn of it: a line of some MB is more than they have room for.

function isRule(line: string): boolean {
  const sign = RULE.exec(line)?.[1];
  if (sign === undefined) return false;
  let count = 0;
  for (const char of line.trimStart()) {
    if (char === sign) count++;
    else if (char !== ' ' && char !== '\t') return false;
  }
  return count >= 3;
}

function isDivider(line: string): boolean {
  const cells = line.trim().replace(/^\|/, '').replace(/\|$/, '').split('|');
  return cells.every((cell) => DIVIDER_CELL.test(cell));
}

function isFenceEnd(line: string, fence: string): boolean {
  const text = line.trim();
  return text.length >= fence.length && text === fence[0]!.repeat(text.length);
}

/** The cells of a row; a bar after a backslash is a character. */
function cellsOf(row: string): string[] {
  const text = row.trim().replace(/^\|/, '');
  const cells: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length && cells.length < MAX_COLUMNS; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '|') {
      cells.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  if (text.slice(from).trim() !== '') cells.push(text.slice(from).trim());
  return cells;
}
