// The text of a paragraph of markdown as spans: links, emphasis, code, line breaks.
// Promise: one pass; what opens and never closes is text; marks nest to a bounded depth.
import type { Span } from '../parts/blocks.js';

/** Addresses by the names that a text gives them, in lower case. */
export type Definitions = ReadonlyMap<string, string>;

type Style = 'bold' | 'italic' | 'struck';

/** Ends of a link's text: its address, or its name. */
const ADDRESS =
  /^\(\s{0,5}<?([^\s()<>]{0,3000}(?:\([^\s()<>]{0,1000}\)[^\s()<>]{0,1000}){0,3})>?(?:\s{1,5}["'(][^"')]{0,500}["')])?\s{0,5}\)/;
const NAME = /^\[([^\]]{0,200})\]/;
const AUTOLINK = /^<(https?:\/\/[^\s<>]{1,3000}|[\w.+-]{1,64}@[\w.-]{1,200})>/;
const TAG = /^<(?:\/?[a-z][^<>]{0,2000}|!--[^<>]{0,2000}--)>/i;
const BARE = /^https?:\/\/[^\s<>"'`[\]{}|\\^]{1,2000}/;
const SPECIAL = /[\\`![\]<*_~\nh]/g;
const MAX_OPEN = 50;

interface OpenMark {
  readonly mark: string;
  /** The place among the spans from which on it counts. */
  readonly at: number;
  /** Stands for it, and gets its text when it does not close. */
  readonly sign: MutableSpan;
}

interface MutableSpan {
  text: string;
  bold?: boolean;
  italic?: boolean;
  struck?: boolean;
  href?: string;
}

export function inlineSpans(
  source: string,
  definitions: Definitions,
  address: (href: string) => string | undefined,
): Span[] {
  const spans: MutableSpan[] = [];
  const marks: OpenMark[] = [];
  const brackets: { at: number; from: number; isImage: boolean; sign: MutableSpan }[] = [];
  const ticks = tickRuns(source);
  let at = 0;
  const push = (text: string): MutableSpan => {
    const span: MutableSpan = { text };
    spans.push(span);
    return span;
  };
  const take = (length: number): void => {
    push(source.slice(at, at + length));
    at += length;
  };
  while (at < source.length) {
    SPECIAL.lastIndex = at;
    const next = SPECIAL.exec(source)?.index ?? source.length;
    if (next > at) take(next - at);
    if (at >= source.length) break;
    const char = source[at]!;
    if (char === '\\') {
      const escaped = source[at + 1];
      if (escaped === undefined || escaped === '\n') push(escaped === undefined ? '' : '\n');
      else push(/[!-/:-@[-`{-~]/.test(escaped) ? escaped : `\\${escaped}`);
      at += 2;
    } else if (char === '\n') {
      push(' ');
      at++;
    } else if (char === '`') {
      const run = runAt(source, at);
      const end = ticks.closeOf(at, run);
      if (end === undefined) take(run);
      else {
        push(source.slice(at + run, end).replace(/\n/g, ' '));
        at = end + run;
      }
    } else if (char === '[' || (char === '!' && source[at + 1] === '[')) {
      const isImage = char === '!';
      if (brackets.length < MAX_OPEN) brackets.push({ sign: push(''), at: spans.length, from: at, isImage });
      else push(isImage ? '![' : '[');
      at += isImage ? 2 : 1;
    } else if (char === ']') {
      at = closeBracket(at);
    } else if (char === '<') {
      const rest = source.slice(at, at + 3_100);
      const link = AUTOLINK.exec(rest);
      const tag = link ? null : TAG.exec(rest);
      if (link) spans.push({ text: link[1]!, href: link[1]!.includes('://') ? link[1]! : `mailto:${link[1]!}` });
      if (tag && /^<br\b/i.test(tag[0])) push('\n');
      if (link || tag) at += (link ?? tag)![0].length;
      else take(1);
    } else if (char === 'h') {
      const isStart = at === 0 || !/[\p{L}\p{N}(]/u.test(source[at - 1]!);
      const bare = isStart ? BARE.exec(source.slice(at, at + 2_100))?.[0].replace(/[.,;:!?)]{1,9}$/, '') : undefined;
      if (bare === undefined || brackets.length > 0) take(1);
      else {
        spans.push({ text: bare, href: bare });
        at += bare.length;
      }
    } else if (char === '!') take(1);
    else at = mark(at, char);
  }
  // What opened and did not close stays as it was written.
  for (const { sign, mark: text } of marks) sign.text = text;
  for (const { sign, isImage } of brackets) sign.text = isImage ? '![' : '[';
  return spans.filter(({ text }) => text !== '');

  function closeBracket(place: number): number {
    const open = brackets.pop();
    if (!open) {
      push(']');
      return place + 1;
    }
    const rest = source.slice(place + 1, place + 6_000);
    const inline = ADDRESS.exec(rest);
    const named = inline ? null : NAME.exec(rest);
    const name = (named?.[1] || source.slice(open.from + (open.isImage ? 2 : 1), place).slice(0, 200)).toLowerCase();
    const href = inline?.[1] ?? definitions.get(name);
    if (href === undefined) {
      open.sign.text = open.isImage ? '![' : '[';
      push(']');
      return place + 1;
    }
    const target = address(href);
    // Pictures are left out, as elsewhere in documents; their words are not.
    if (!open.isImage && target !== undefined) for (const span of spans.slice(open.at)) span.href ??= target;
    return place + 1 + (inline ?? named ?? [''])[0].length;
  }

  function mark(place: number, char: string): number {
    const run = runAt(source, place, 3);
    const before = source[place - 1] ?? ' ';
    const after = source[place + run] ?? ' ';
    const isWord = char === '_' && /[\p{L}\p{N}]/u.test(before) && /[\p{L}\p{N}]/u.test(after);
    const text = char.repeat(run);
    const canClose = !/\s/.test(before) && !isWord;
    const canOpen = !/\s/.test(after) && !isWord;
    const last = marks.at(-1);
    if (canClose && last?.mark === text) {
      marks.pop();
      for (const style of stylesOf(text)) for (const span of spans.slice(last.at)) span[style] = true;
    } else if (canOpen && stylesOf(text).length > 0 && marks.length < MAX_OPEN)
      marks.push({ sign: push(''), mark: text, at: spans.length });
    else push(text);
    return place + run;
  }
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
