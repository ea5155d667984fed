// Turns link records into the links a caller sees: absolute URL, text, rel.
// Promise: one URL and one short slice per link; references that no URL can be made of are left out, and those past
// what the URLs of one page may come to: a long base is repeated by every relative reference.
import { CLASS, IS_SPACE, LF, TAB, sliceLatin1, sliceUtf8 } from '../../base/bytes.js';
import type { LinkRecords } from './link-records.js';
import type { LinkResolver } from './link-urls.js';
import { tagName, tagNumber } from '../tokens/tags.js';
import type { ValueDecoder } from '../tokens/values.js';
import { collapseSpace } from '../tokens/values.js';

/** An element that refers to another resource. */
export type LinkElement = 'a' | 'area' | 'link' | 'iframe' | 'form' | 'img';

/** A reference from the page to another resource. */
export interface PageLink {
  /** The absolute URL, resolved against the page's `<base>`. */
  readonly url: string;
  /** The anchor's text; for `area` and `img` their `alt`; otherwise empty. */
  readonly text: string;
  /** The `rel` attribute as written, or empty. */
  readonly rel: string;
  /** Which element has the link. */
  readonly element: LinkElement;
}

/**
 * How many characters the URLs of one page may come to. What the page itself wrote out always fits; 8 MiB more are
 * 80,000 relative links with a base of 100 characters, or 140 with one of 60,000.
 */
export function urlCharactersOf(pageBytes: number): number {
  return 8 * 1024 * 1024 + 2 * pageBytes;
}

/** All links of a page, in the order of their tags. */
export function readLinks(
  bytes: Buffer,
  text: Buffer,
  records: LinkRecords,
  resolver: LinkResolver,
  values: ValueDecoder,
): readonly PageLink[] {
  const links: PageLink[] = [];
  let room = urlCharactersOf(bytes.length);
  for (let index = 0; index < records.count; index++) {
    const url = resolver.resolve(bytes, records.hrefFrom(index), records.hrefTo(index));
    if (url === null) continue;
    room -= url.length;
    if (room < 0) break;
    links.push({
      url,
      text:
        readLabel(bytes, records.labelFrom(index), records.labelTo(index), values) || readText(text, records, index),
      rel: readRel(bytes, records, index, values),
      element: tagName(records.element(index)) as LinkElement,
    });
  }
  return links;
}

const ANCHOR = tagNumber('a');

/** The URLs of a page's `a` elements, as {@link readLinks} has them: for callers that need only URLs. */
export function readAnchorUrls(
  bytes: Buffer,
  records: LinkRecords,
  resolver: LinkResolver,
  values: ValueDecoder,
  isKept: ((url: string, rel: string) => boolean) | undefined,
): string[] {
  const urls: string[] = [];
  let room = urlCharactersOf(bytes.length);
  for (let index = 0; index < records.count; index++) {
    const [from, to] = [records.hrefFrom(index), records.hrefTo(index)];
    // An empty one leads to the page itself.
    const url = from === to ? null : resolver.resolve(bytes, from, to);
    if (url === null) continue;
    room -= url.length;
    if (room < 0) break;
    if (records.element(index) !== ANCHOR) continue;
    if (!isKept || isKept(url, readRel(bytes, records, index, values))) urls.push(url);
  }
  return urls;
}

function readRel(bytes: Buffer, records: LinkRecords, index: number, values: ValueDecoder): string {
  const from = records.relFrom(index);
  const to = records.relTo(index);
  return to > from ? values.decode(bytes, from, to, true) : '';
}

function readLabel(bytes: Buffer, from: number, to: number, values: ValueDecoder): string {
  return to > from ? collapseSpace(values.decode(bytes, from, to, true)) : '';
}

function readText(text: Buffer, records: LinkRecords, index: number): string {
  let from = records.textFrom(index);
  let to = records.textTo(index);
  while (from < to && (CLASS[text[from]!]! & IS_SPACE) !== 0) from++;
  while (to > from && (CLASS[text[to - 1]!]! & IS_SPACE) !== 0) to--;
  if (from === to) return '';
  let seen = 0;
  let needsCollapse = false;
  for (let k = from; k < to; k++) {
    const byte = text[k]!;
    seen |= byte;
    if (byte === LF || byte === TAB) needsCollapse = true;
  }
  const value = seen < 0x80 ? sliceLatin1(text, from, to) : sliceUtf8(text, from, to);
  return needsCollapse ? collapseSpace(value) : value;
}
