// The text of a page that shows next to none without its scripts: its posts in JSON-LD, else the prose in the data for
// its scripts, else its title and its longest description.
// Promise: used only where the page itself has nothing to choose from; plain text, bounded, never markup.
import { limitReached, LIMITS } from '../../limits.js';
import type { PageTree } from '../../parse/tree/tree.js';
import { embeddedTexts } from './embedded-data.js';
import type { LinkedData, PageHead } from './metadata.js';
import { typesOf } from './metadata.js';
import { escapeHtml } from '../markdown/clean-html.js';
import { escapeLineStart, escapeText } from '../markdown/inline.js';

/** A page that shows fewer words has only its frame: a title, a spinner, a note that it needs JavaScript. */
const FRAME_WORDS = 60;
/** Posts must outweigh what the page shows by this. */
const POSTS_TIMES = 4;
/** A page whose data holds fewer words of prose is a form, a login or a board of figures. */
const EMBEDDED_WORDS = 60;
const MAX_POSTS = LIMITS.standInPosts.max;
const MAX_CHARS = LIMITS.standInCharacters.max;
/** What stands in is seldom all of the text: on the three given pages that need it, F1 is 0.12 to 0.17. */
export const STAND_IN_CONFIDENCE = 0.1;

const POST_TYPES = /Article|Posting$|^(?:Question|Answer|Comment|Message|Report|Review|Recipe)$/;
/** Where a post names those that answer it, in the order of reading. */
const REPLIES = ['mainEntity', 'acceptedAnswer', 'suggestedAnswer', 'comment', 'hasPart'];
/** References that such texts hold after the page's own are decoded. */
const CHARACTERS: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
};

const countWords = (text: string): number => text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;

/** The lines that stand in for the content of a page on which `shownWords` words are shown; `null` where none are needed. */
export function standInLines(tree: PageTree, head: PageHead, shownWords: number): readonly string[] | null {
  if (shownWords >= FRAME_WORDS) return null;
  const isEnough = (lines: readonly string[], least: number): boolean =>
    lines.length > 0 && countWords(lines.join(' ')) > Math.max(shownWords * POSTS_TIMES, least);
  const posts = postTexts(head.entities);
  if (isEnough(posts, 20)) return posts;
  const embedded = embeddedTexts(tree).flatMap((text) => linesOf(text.slice(0, MAX_CHARS)));
  if (isEnough(embedded, EMBEDDED_WORDS)) return embedded;
  if (shownWords > 0) return null;
  let longest = '';
  for (const name of ['description', 'og:description', 'twitter:description']) {
    const given = head.meta.get(name) ?? '';
    if (given.length > longest.length) longest = given;
  }
  if (longest === '') return null;
  const title = head.meta.get('og:title') ?? '';
  return [...(longest.includes(title) ? [] : linesOf(title)), ...linesOf(longest)];
}

function postTexts(entities: readonly LinkedData[]): string[] {
  const lines: string[] = [];
  const seen = new Set<unknown>();
  const known = new Set<string>();
  let chars = 0;
  const visit = (value: unknown, depth: number): void => {
    if (depth > 8 || seen.size >= MAX_POSTS || chars > MAX_CHARS) return;
    if (Array.isArray(value)) {
      for (const one of value.slice(0, MAX_POSTS)) visit(one, depth + 1);
      return;
    }
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    const post = value as LinkedData;
    const body = post['articleBody'] ?? post['text'];
    if (typeof body === 'string' && typesOf(post).some((type) => POST_TYPES.test(type)) && !known.has(body)) {
      known.add(body);
      chars += body.length;
      for (const line of linesOf(body.slice(0, MAX_CHARS))) lines.push(line);
    }
    for (const name of REPLIES) visit(post[name], depth + 1);
  };
  for (const entity of entities) visit(entity, 0);
  if (seen.size >= MAX_POSTS) limitReached('standInPosts');
  if (chars > MAX_CHARS) limitReached('standInCharacters');
  return lines;
}

/** Some sites put markup into such texts: its tags go, its blocks become lines. */
function linesOf(text: string): string[] {
  return text
    .replace(/<\/?(?:p|br|div|li|ul|ol|pre|blockquote|h[1-6]|tr|table)\b[^<>]*>/gi, '\n')
    .replace(/<\/?[a-z][^<>]*>/gi, '')
    .replace(
      /&(?:#(\d{1,6})|(amp|lt|gt|quot|apos|nbsp|hellip|[nm]dash|[lr][sd]quo));/g,
      (whole: string, code?: string, name?: string) =>
        name === undefined ? characterOf(Number(code)) : (CHARACTERS[name] ?? whole),
    )
    .split(/[\n\r]+/)
    .map((line) => line.replace(/[\s\u00a0]+/g, ' ').trim())
    .filter((line) => line !== '');
}

const characterOf = (code: number): string =>
  code >= 32 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : ' ';

export const standInHtml = (lines: readonly string[]): string =>
  lines.map((line) => `<p>${escapeHtml(line)}</p>`).join('\n');

export const standInMarkdown = (lines: readonly string[]): string =>
  lines.map((line) => escapeLineStart(escapeText(line))).join('\n\n');
