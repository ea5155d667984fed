// Cuts markdown into chunks for retrieval: along headings first, then by size, with some overlap.
// Promise: chunks cover the whole text in order, offsets point into it, ids stay the same while a chunk's text does.
import { createHash } from 'node:crypto';
import { aWholeNumber, checkOptions, optionError } from '../../option-checks.js';

/** How long chunks are, how much they overlap, and where they are cut. */
export interface ChunkOptions {
  /** The most characters of a chunk; 2,000 by default. */
  readonly maxChars?: number | undefined;
  /** Characters that a chunk repeats from the one before it, in the same section; 200 by default. */
  readonly overlapChars?: number | undefined;
  /** Headings down to this level begin a chunk; 3 by default. */
  readonly headingLevel?: number | undefined;
}

/** A piece of a document. */
export interface Chunk {
  /** Stands for the chunk's headings and text; repeated ones are numbered. */
  readonly id: string;
  /** Markdown; it begins with up to `overlapChars` of the chunk before it. */
  readonly text: string;
  /** The headings that the chunk stands under, outermost first. */
  readonly headings: readonly string[];
  /** Where `text` stands in the document: `document.slice(from, to) === text`. */
  readonly from: number;
  /** The place after its last character. */
  readonly to: number;
}

const SHAPE = {
  maxChars: aWholeNumber({ from: 100, to: 1_000_000 }),
  overlapChars: aWholeNumber({ from: 0, to: 500_000 }),
  headingLevel: aWholeNumber({ from: 0, to: 6 }),
};

interface Section {
  readonly from: number;
  readonly to: number;
  readonly headings: readonly string[];
}

/**
 * Cuts a markdown document into chunks.
 *
 * @example
 * for (const { id, headings, text } of chunkMarkdown('# Title\n\nText', { maxChars: 1500 })) console.log(id, headings, text);
 */
export function chunkMarkdown(markdown: string, options: ChunkOptions = {}): Chunk[] {
  checkOptions('chunkMarkdown', options, SHAPE);
  const { maxChars = 2_000, overlapChars = 200, headingLevel = 3 } = options;
  if (overlapChars * 2 > maxChars)
    throw optionError(['chunkMarkdown option "overlapChars" must be at most half of maxChars']);
  const chunks: Chunk[] = [];
  const used = new Map<string, number>();
  for (const section of sectionsOf(markdown, headingLevel)) {
    for (const [from, to] of pieces(markdown, section, maxChars, overlapChars)) {
      const text = markdown.slice(from, to);
      const hash = createHash('sha256')
        .update(`${section.headings.join('\n')}\n\n${text}`)
        .digest('hex')
        .slice(0, 16);
      const repeat = used.get(hash) ?? 0;
      used.set(hash, repeat + 1);
      chunks.push({ id: repeat === 0 ? hash : `${hash}-${repeat + 1}`, text, headings: section.headings, from, to });
    }
  }
  return chunks;
}

/** Sections from heading to heading, white space at their ends left out. */
function sectionsOf(markdown: string, deepest: number): Section[] {
  const sections: Section[] = [];
  let open: { level: number; text: string }[] = [];
  let from = 0;
  let fence = '';
  const end = (to: number): void => {
    const [start, stop] = trimmed(markdown, from, to);
    if (start < stop) sections.push({ from: start, to: stop, headings: open.map(({ text }) => text) });
    from = to;
  };
  for (let at = 0; at < markdown.length;) {
    const newline = markdown.indexOf('\n', at);
    const lineEnd = newline < 0 ? markdown.length : newline;
    const line = markdown.slice(at, Math.min(lineEnd, at + 1_000));
    const mark = /^\s*(?:>\s*|[-*+]\s+|\d+[.)]\s+)*(`{3,})/.exec(line)?.[1];
    if (mark !== undefined && fence === '') fence = mark;
    else if (fence !== '' && mark !== undefined && mark.length >= fence.length && line.trim().endsWith(mark))
      fence = '';
    const heading = fence === '' && mark === undefined ? /^(#{1,6}) (.*)$/.exec(line) : null;
    if (heading !== null && heading[1]!.length <= deepest) {
      end(at);
      const level = heading[1]!.length;
      open = [...open.filter((outer) => outer.level < level), { level, text: plain(heading[2]!) }];
    }
    at = lineEnd + 1;
  }
  end(markdown.length);
  return sections;
}

/** A heading as its words: links by their text, no markers. An escaped bracket begins no link, and is passed once. */
function plain(text: string): string {
  return text
    .replace(/\\.|!?\[((?:[^[\]\\]|\\.)*)\]\((?:[^()\\]|\\.)*\)/gs, (all: string, label?: string) => label ?? all)
    .replace(/\\([^\p{L}\p{N}\s])/gu, '$1')
    .replace(/[*`]+/g, '')
    .trim();
}

/** Ranges of at most `maxChars`, cut at the best place, each beginning up to `overlap` before the last one's end. */
function pieces(markdown: string, { from, to }: Section, maxChars: number, overlap: number): [number, number][] {
  const ranges: [number, number][] = [];
  let start = from;
  while (to - start > maxChars) {
    const cut = cutBefore(markdown, start + Math.floor(maxChars / 2), start + maxChars);
    const [first, last] = trimmed(markdown, start, cut);
    if (first < last) ranges.push([first, last]);
    const next = overlap === 0 ? cut : wordStart(markdown, Math.max(start + 1, cut - overlap), cut);
    start = Math.max(start + 1, next);
  }
  const [first, last] = trimmed(markdown, start, to);
  if (first < last) ranges.push([first, last]);
  return ranges;
}

/** The best place to cut in `[low, high]`: a paragraph, a line, a sentence, a word. */
function cutBefore(markdown: string, low: number, high: number): number {
  const window = markdown.slice(low, high);
  for (const separator of ['\n\n', '\n', '. ', ' ']) {
    const at = window.lastIndexOf(separator);
    if (at >= 0) return low + at + separator.length;
  }
  // Not in the middle of a character.
  const code = markdown.charCodeAt(high);
  return code >= 0xdc00 && code <= 0xdfff ? high - 1 : high;
}

function wordStart(markdown: string, from: number, limit: number): number {
  const space = markdown.slice(from, limit).search(/\s/);
  return space < 0 ? limit : from + space + 1;
}

function trimmed(markdown: string, from: number, to: number): [number, number] {
  let [start, end] = [from, to];
  while (start < end && /\s/.test(markdown[start]!)) start++;
  while (end > start && /\s/.test(markdown[end - 1]!)) end--;
  return [start, end];
}
