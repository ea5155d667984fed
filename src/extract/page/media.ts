// Where an image's picture really is: pages that load images late keep it beside a placeholder.
// Promise: an absolute, fetchable address or null; never inline data.
import type { PageTree } from '../../parse/tree/tree.js';
import { hasLongTag } from './elements.js';
import type { PageUrls } from './page-urls.js';

const LATE = ['data-src', 'data-original', 'data-lazy-src', 'data-srcset', 'data-lazy', 'data-url'];

/** Addresses that count visits. */
const TRACKER =
  /^https?:\/\/[^/]*(?:facebook\.com\/tr\b|doubleclick\.net|scorecardresearch\.com|quantserve\.com|google-analytics\.com|\bpixel\.|\.adsrvr\.|analytics\.|b\.scorecard|sb\.score|amazon-adsystem\.com)/i;
/** An address with a place that a script never filled in: the time or a number against caches, of an advert or a template. */
const UNFILLED =
  /\[(?:timestamp|cache_?bust(?:er|ing)|random(?:_?number)?)\]|(?:\{|%7b){2}|%%[a-z_]{3,40}%%|\$(?:\{|%7b)/i;
/** What old pages call the picture of nothing that holds a cell open. */
const SPACER =
  /(?:^|\/)(?:spacer|clear|blank|transparent|trans|shim|1x1|dot_clear|clear_?(?:dot|pixel))\.gif(?:$|[?#])/i;
const ICON_PIXELS = 32;
/** A picture as large as a letter is a sign for a reader, whatever its words. */
const SIGN_PIXELS = 16;
const MAX_NAMES = 400;
const AVATAR = /avatar|userpic/i;
const AVATAR_ALT = /^(?:user |profile )?avatar$|['’]s (?:avatar|profile (?:picture|photo))$/i;
const EMOTICON = /(?:^|[\s_-])(?:emoji|emoticon|smile?y|smilies)(?:$|[\s_-])/i;
const EMOTICON_PATH = /\/(?:emojis?|emoticons?|smileys?|smilies)\//i;
const MAX_EMOTICON = 40;

/** Whether an `img` shows nothing to a reader: a dot that counts visits, a small sign, a face beside a name. */
function isDecoration(tree: PageTree, node: number): boolean {
  const width = sizeOf(tree, node, 'width');
  const height = sizeOf(tree, node, 'height');
  if (width <= SIGN_PIXELS && height <= SIGN_PIXELS) return true;
  const alt = (tree.attribute(node, 'alt') ?? '').slice(0, MAX_NAMES).trim();
  if (width <= ICON_PIXELS && height <= ICON_PIXELS && alt === '') return true;
  return AVATAR_ALT.test(alt) || AVATAR.test(namesOf(tree, node)) || AVATAR.test(namesOf(tree, tree.parent[node]!));
}

function namesOf(tree: PageTree, node: number): string {
  return hasLongTag(tree, node) ? '' : (tree.attribute(node, 'class') ?? '').slice(0, MAX_NAMES);
}

/** The words that stand for an `img` which is part of a sentence: its names or its folder say smiley. Else `null`. */
export function emoticonOf(tree: PageTree, node: number): string | null {
  const isNamed = EMOTICON.test(namesOf(tree, node));
  if (!isNamed && !EMOTICON_PATH.test((tree.attribute(node, 'src') ?? '').slice(0, MAX_NAMES))) return null;
  const alt = (tree.attribute(node, 'alt') ?? '').trim();
  return alt === '' || alt.length > MAX_EMOTICON ? null : alt;
}

function sizeOf(tree: PageTree, node: number, name: string): number {
  const size = Number.parseInt(tree.attribute(node, name) ?? '', 10);
  return Number.isNaN(size) ? Number.POSITIVE_INFINITY : size;
}

/** The address of an `img`; `null` if it is not a picture. */
export function imageSource(tree: PageTree, node: number, urls: PageUrls): string | null {
  if (isDecoration(tree, node)) return null;
  const url = addressOf(tree, node, urls);
  return url === null || TRACKER.test(url) || SPACER.test(url) || UNFILLED.test(url) ? null : url;
}

function addressOf(tree: PageTree, node: number, urls: PageUrls): string | null {
  const source = tree.attributeRange(node, 'src');
  if (source !== null && !isPlaceholder(tree, source.from, source.to)) {
    const url = urls.read(node, 'src');
    if (url !== null) return url;
  }
  for (const attribute of LATE) {
    const value = tree.attribute(node, attribute);
    const url = value === null ? null : urls.resolve(firstCandidate(value));
    if (url !== null) return url;
  }
  const set = tree.attribute(node, 'srcset');
  return set === null ? null : urls.resolve(firstCandidate(set));
}

/** Of a `srcset`, the first address; of a plain address, itself. */
function firstCandidate(value: string): string {
  return value.trim().slice(0, 4_096).split(/\s+/, 1)[0]!.replace(/,$/, '');
}

function isPlaceholder(tree: PageTree, from: number, to: number): boolean {
  return from === to || (to - from > 5 && /^data:/i.test(tree.raw(from, from + 5)));
}
