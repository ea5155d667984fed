// The text of a paragraph of markdown as spans: links, emphasis, code, line breaks.
// Promise: one pass; what opens and never closes is text; marks nest to a bounded depth, and there are so many at most.
import type { Span } from '../parts/blocks.js';
import { InlineText, type OpenSign } from './markdown-text.js';

/** Addresses by the names that a text gives them, in lower case. */
export type Definitions = ReadonlyMap<string, string>;

type Style = 'bold' | 'italic' | 'struck';

/** Ends of a link's text: its address, or its name. */
const ADDRESS =
  /^\(\s{0,5}<?([^\s()<>]{0,3000}(?:\([^\s()<>]{0,1000}\)[^\s()<>]{0,1000}){0,3})>?(?:\s{1,5}["'(][^"')]{0,500}["')])?\s{0,5}\)/;
const NAME = /\[([^\]]{0,200})\]/y;
const AUTOLINK = /<(https?:\/\/[^\s<>]{1,3000}|[\w.+-]{1,64}@[\w.-]{1,200})>/y;
const TAG = /<(?:\/?[a-z][^<>]{0,2000}|!--[^<>]{0,2000}--)>/iy;
const BARE = /https?:\/\/[^\s<>"'`[\]{}|\\^]{1,2000}/y;
const SPECIAL = /[\\`[\]*_~\n]|!(?=\[)|<(?=[\w.+-]|\/[a-zA-Z]|!--)|h(?=ttps?:\/\/)/g;
const MAX_OPEN = 50;
/** Of one paragraph, which is a MB long at least if it has so many. The rest of it is text. */
const MAX_SPANS = 200_000;

export function inlineSpans(
  source: string,
  definitions: Definitions,
  address: (href: string) => string | undefined,
): Span[] {
  const text = new InlineText(source);
  const marks: OpenSign[] = [];
  const brackets: OpenSign[] = [];
  const ticks = tickRuns(source);
  let at = 0;
  while (at < source.length) {
    if (text.spans >= MAX_SPANS) {
      text.replace(at, source.length, source.slice(at).replaceAll('\n', ' '));
      break;
    }
    SPECIAL.lastIndex = at;
    // Every match has one character. `test` makes no list of it, `exec` would, for each of millions.
    if (!SPECIAL.test(source)) break;
    at = SPECIAL.lastIndex - 1;
    const from = at;
    const char = source[at]!;
    if (char === '\\') {
      const escaped = source[at + 1] ?? '';
      at = Math.min(at + 2, source.length);
      if (escaped === '\n') text.replace(from, at, '\n');
      // The character after it is shown as it stands.
      else if (escaped === '' || /[!-/:-@[-`{-~]/.test(escaped)) text.replace(from, from + 1, '');
    } else if (char === '\n') {
      text.replace(from, ++at, ' ');
    } else if (char === '`') {
      const run = runAt(source, at);
      const end = ticks.closeOf(at, run);
      at = (end ?? at) + run;
      if (end !== undefined) text.replace(from, at, source.slice(from + run, end).replace(/\n/g, ' '));
    } else if (char === '[' || char === '!') {
      const sign = char === '!' ? '![' : '[';
      if (brackets.length < MAX_OPEN) brackets.push(text.open(at, sign));
      at += sign.length;
    } else if (char === ']') {
      at = closeBracket(at);
    } else if (char === '<') {
      const link = matchAt(AUTOLINK, source, at);
      const tag = link ?? matchAt(TAG, source, at);
      at += tag?.[0].length ?? 1;
      if (link)
        text.add(from, at, { text: link[1]!, href: link[1]!.includes('://') ? link[1]! : `mailto:${link[1]!}` });
      else if (tag) text.replace(from, at, /^<br\b/i.test(tag[0]) ? '\n' : '');
    } else if (char === 'h') {
      const isStart = brackets.length === 0 && (at === 0 || !/[\p{L}\p{N}(]/u.test(source[at - 1]!));
      const bare = isStart ? matchAt(BARE, source, at)?.[0].replace(/[.,;:!?)]{1,9}$/, '') : undefined;
      at += bare?.length ?? 1;
      if (bare !== undefined) text.add(from, at, { text: bare, href: bare });
    } else at = mark(at, char);
  }
  return text.end();

  function closeBracket(place: number): number {
    const open = brackets.pop();
    const after = place + 1;
    if (!open) return after;
    const inline = source[after] === '(' ? ADDRESS.exec(source.slice(after, after + 5_999)) : null;
    const named = source[after] === '[' ? matchAt(NAME, source, after) : null;
    const href = inline ? inline[1]! : definitions.size === 0 ? undefined : definitions.get(nameOf(named, open, place));
    if (href === undefined) {
      text.forget(open);
      return after;
    }
    const end = after + (inline ?? named ?? [''])[0].length;
    const target = address(href);
    const inside = text.close(open, place, end);
    // Pictures are left out, as elsewhere in documents; their words are not.
    if (open.sign === '[' && target !== undefined) for (const span of inside) span.href ??= target;
    return end;
  }

  function nameOf(named: RegExpExecArray | null, open: OpenSign, place: number): string {
    const from = open.from + open.sign.length;
    return (named?.[1] || source.slice(from, Math.min(place, from + 200))).toLowerCase();
  }

  function mark(place: number, char: string): number {
    const run = runAt(source, place, 3);
    const before = source[place - 1] ?? ' ';
    const after = source[place + run] ?? ' ';
    const isWord = char === '_' && /[\p{L}\p{N}]/u.test(before) && /[\p{L}\p{N}]/u.test(after);
    const sign = char.repeat(run);
    const canClose = !/\s/.test(before) && !isWord;
    const canOpen = !/\s/.test(after) && !isWord;
    const last = marks.at(-1);
    if (canClose && last?.sign === sign) {
      marks.pop();
      const inside = text.close(last, place, place + run);
      for (const style of stylesOf(sign)) for (const span of inside) span[style] = true;
    } else if (canOpen && stylesOf(sign).length > 0 && marks.length < MAX_OPEN) marks.push(text.open(place, sign));
    return place + run;
  }
}

/** What a pattern with the flag `y` finds at one place: without a copy of the rest, however often it is asked. */
function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

function stylesOf(mark: string): Style[] {
  if (mark[0] === '~') return mark.length === 2 ? ['struck'] : [];
  return mark.length === 1 ? ['italic'] : mark.length === 2 ? ['bold'] : ['bold', 'italic'];
}

function runAt(source: string, at: number, most = Infinity): number {
  let end = at;
  while (end < source.length && end - at < most && source[end] === source[at]) end++;
  return end - at;
}

/** Where runs of backticks stand, by their length: a run closes with the next one that is as long. */
function tickRuns(source: string): { closeOf(at: number, length: number): number | undefined } {
  const places = new Map<number, number[]>();
  for (const { index, 0: run } of source.matchAll(/`+/g)) {
    const list = places.get(run.length);
    if (list) list.push(index);
    else places.set(run.length, [index]);
  }
  const next = new Map<number, number>();
  return {
    closeOf(at, length) {
      const list = places.get(length) ?? [];
      let place = next.get(length) ?? 0;
      while (place < list.length && list[place]! <= at) place++;
      next.set(length, place);
      return list[place];
    },
  };
}
