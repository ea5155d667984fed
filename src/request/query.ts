// The query of a unique key, for common queries: sorted by name, `utm_*` removed, encoded like `URLSearchParams`.
// Promise: exactly the result of that class, or undefined for unusual queries.

/** A character that `URLSearchParams` writes as it is (a plus is a space to it, and a space is written as a plus). */
const SAME = 1;
/** A character that the URL parser leaves alone in a query and `URLSearchParams` escapes. */
const ESCAPED = 2;
const KIND = new Uint8Array(128);
for (const character of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789*-._+') {
  KIND[character.charCodeAt(0)] = SAME;
}
for (const character of '%~!$(),;:@/?=') KIND[character.charCodeAt(0)] = ESCAPED;

/** What `URLSearchParams` writes for each ASCII character. */
const WRITTEN = Array.from({ length: 128 }, (_, code) =>
  new URLSearchParams([['', String.fromCharCode(code)]]).toString().slice(1),
);
const AMPERSAND = '&';
const PERCENT = 37;

/** `?` and the sorted query in `text[from, to)`, or '' when nothing is left of it; undefined when it is unusual. */
export function sortedPlainQuery(text: string, from: number, to: number): string | undefined {
  const pairs: Pair[] = [];
  let isSorted = true;
  // The next one at or after `at`; looked for once, since a query may have many pairs and no other equals sign.
  let equals = from - 1;
  for (let at = from; at < to;) {
    let end = text.indexOf(AMPERSAND, at);
    if (end < 0 || end > to) end = to;
    if (end > at) {
      if (equals < at) equals = text.indexOf('=', at);
      if (equals < 0) equals = to;
      const nameEnd = Math.min(equals, end);
      const name = written(text, at, nameEnd);
      const value = nameEnd < end ? written(text, nameEnd + 1, end) : '';
      if (name === undefined || value === undefined) return undefined;
      if (!name.startsWith('utm_')) {
        if (pairs.length > 0 && pairs[pairs.length - 1]!.name > name) isSorted = false;
        pairs.push({ name, text: `${name}=${value}` });
      }
    }
    at = end + 1;
  }
  if (pairs.length === 0) return '';
  if (pairs.length === 1) return `?${pairs[0]!.text}`;
  // Names are sorted as they read unescaped.
  for (const { name } of pairs) if (name.includes('%') || name.includes('+')) return undefined;
  // Stable: equal names keep their order.
  if (!isSorted) pairs.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  let query = '?';
  for (const pair of pairs) query += query.length === 1 ? pair.text : AMPERSAND + pair.text;
  return query;
}

interface Pair {
  readonly name: string;
  readonly text: string;
}

/** The spelling of a name or value; undefined when the parser would change it or it is not ASCII. */
function written(text: string, from: number, to: number): string | undefined {
  let done = '';
  let copied = from;
  for (let at = from; at < to;) {
    const code = text.charCodeAt(at);
    const kind = code < 128 ? KIND[code]! : 0;
    if (kind === 0) return undefined;
    if (kind === SAME) {
      at++;
      continue;
    }
    const escaped = code === PERCENT ? hexByte(text, at + 1, to) : -1;
    if (escaped > 127) return undefined;
    done += text.slice(copied, at) + WRITTEN[escaped < 0 ? code : escaped]!;
    at += escaped < 0 ? 1 : 3;
    copied = at;
  }
  return copied === from ? text.slice(from, to) : done + text.slice(copied, to);
}

/** The byte of two hexadecimal digits at `at`, or -1. */
function hexByte(text: string, at: number, to: number): number {
  if (at + 2 > to) return -1;
  const high = hexDigit(text.charCodeAt(at));
  const low = hexDigit(text.charCodeAt(at + 1));
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
