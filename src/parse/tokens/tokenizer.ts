// Splits UTF-8 HTML into text, tags and raw content, and tells a sink: the HTML standard's tokenizer without its tokens.
// Promise: one pass, every byte looked at a bounded number of times, no allocation; the sink decides what is decoded.
import type { AttributeList } from './attributes.js';
import {
  BANG,
  CLASS,
  DASH,
  ENDS_TAG_NAME,
  GREATER_THAN,
  IS_LETTER,
  IS_SPACE,
  LESS_THAN,
  RIGHT_BRACKET,
} from '../../base/bytes.js';
import { LOWER, QUESTION_MARK, SLASH, ascii, equalsIgnoringCase, seek, startsIgnoringCase } from '../../base/bytes.js';
import { lookUpTag } from './tags.js';
import { seekAfterSpace, seekNameEnd, wordsOf } from '../words.js';

/** How the content after a start tag is read. */
export const DATA = 0;
/** Text with character references, up to the matching end tag. */
export const ESCAPABLE = 1;
/** Text as it stands, up to the matching end tag. */
export const RAW = 2;
/** Like {@link RAW}, with the escapes that hide `</script>` inside comments. */
export const SCRIPT = 3;
/** Text as it stands, up to the end of the input. */
export const PLAINTEXT = 4;
export type ContentModel = typeof DATA | typeof ESCAPABLE | typeof RAW | typeof SCRIPT | typeof PLAINTEXT;

/** Receives what the tokenizer finds, in order. Ranges are positions in the page's bytes. */
export interface TokenSink {
  /** True while the current element is SVG or MathML: `<![CDATA[` then opens text instead of a comment. */
  readonly inForeignContent: boolean;
  /** By tag number: 1 where {@link startTag} looks at the attributes. Those of other tags are skipped, not noted. */
  readonly readsAttributes: Uint8Array;
  /** Takes text from `from` on: its first byte is text even if it is `<`. Returns where the next `<` stands, or `end`. */
  text(bytes: Buffer, from: number, end: number): number;
  /** Offers text that is nothing but white space; when it is not taken (false), {@link text} gets it. */
  space(from: number, to: number): boolean;
  /** Takes a whole CDATA section's content. */
  characterData(bytes: Buffer, from: number, to: number): void;
  /** Takes a start tag; its attributes are in the list given to {@link tokenize}. Says how to read on. */
  startTag(bytes: Buffer, tag: number, nameFrom: number, nameTo: number): ContentModel;
  endTag(bytes: Buffer, tag: number, nameFrom: number, nameTo: number): void;
  /** Takes the content of the raw element just started. */
  content(bytes: Buffer, from: number, to: number, model: ContentModel): void;
  /** Takes a comment, from after its `<!--` to after its end. */
  comment(bytes: Buffer, from: number, to: number): void;
  /** Takes a doctype or what the standard calls a bogus comment, from after its `<` to its `>` or the end. */
  declaration(bytes: Buffer, from: number, to: number): void;
}

const CDATA_OPEN = ascii('[CDATA[');
const SCRIPT_NAME = ascii('script');

/** Reads the whole of `bytes` into `sink`; `attributes` holds those of the current tag. */
export function tokenize(bytes: Buffer, attributes: AttributeList, sink: TokenSink): void {
  const end = bytes.length;
  const words = wordsOf(bytes);
  let i = 0;
  while (i < end) {
    const byte = bytes[i]!;
    if (byte !== LESS_THAN || i + 1 >= end) {
      // Most text is the indentation of the next tag.
      const after = (CLASS[byte]! & IS_SPACE) === 0 ? i : seekAfterSpace(bytes, words, i + 1, end);
      i =
        after > i && after < end && bytes[after] === LESS_THAN && sink.space(i, after)
          ? after
          : sink.text(bytes, i, end);
      continue;
    }
    const isEndTag = bytes[i + 1] === SLASH;
    const nameFrom = isEndTag ? i + 2 : i + 1;
    if (nameFrom >= end || (CLASS[bytes[nameFrom]!]! & IS_LETTER) === 0) {
      i = afterOtherMarkup(bytes, i, end, sink);
      continue;
    }
    const nameTo = tagNameEnd(bytes, words, nameFrom, end);
    const tag = lookUpTag(bytes, words, nameFrom, nameTo);
    if (nameTo < end && bytes[nameTo] === GREATER_THAN) {
      attributes.clear();
      i = nameTo + 1;
    } else if (!isEndTag && sink.readsAttributes[tag] === 1) {
      i = attributes.read(bytes, words, nameTo, end);
    } else {
      i = attributes.skip(bytes, words, nameTo, end);
    }
    if (i < 0) return;
    if (isEndTag) {
      sink.endTag(bytes, tag, nameFrom, nameTo);
      continue;
    }
    const model = sink.startTag(bytes, tag, nameFrom, nameTo);
    if (model !== DATA) {
      const from = i;
      i = contentEnd(bytes, from, end, model, nameFrom, nameTo);
      sink.content(bytes, from, i, model);
    }
  }
}

/**
 * Takes what a `<` opens that is no tag: a comment, a declaration, or text. Returns the position after it. Apart from the
 * loop, so that the loop stays small enough for its calls to be inlined.
 */
function afterOtherMarkup(bytes: Buffer, at: number, end: number, sink: TokenSink): number {
  const next = bytes[at + 1]!;
  if (next === BANG) {
    if (at + 3 < end && bytes[at + 2] === DASH && bytes[at + 3] === DASH) {
      const after = commentEnd(bytes, at + 4, end);
      sink.comment(bytes, at + 4, after);
      return after;
    }
    if (sink.inForeignContent && isCdata(bytes, at + 2, end)) {
      const from = at + 9;
      const to = cdataEnd(bytes, from, end);
      sink.characterData(bytes, from, to);
      return to + 3;
    }
    return afterDeclaration(bytes, at, end, sink);
  }
  if (next === QUESTION_MARK || (next === SLASH && at + 2 < end)) return afterDeclaration(bytes, at, end, sink);
  return sink.text(bytes, at, end);
}

function afterDeclaration(bytes: Buffer, at: number, end: number, sink: TokenSink): number {
  const to = seek(bytes, GREATER_THAN, at + 2, end);
  sink.declaration(bytes, at + 1, to);
  return to + 1;
}

/** Position after the tag name that starts at `from`. */
function tagNameEnd(bytes: Buffer, words: DataView, from: number, end: number): number {
  let to = seekNameEnd(bytes, words, from, end);
  while (to < end && (CLASS[bytes[to]!]! & ENDS_TAG_NAME) === 0) to = seekNameEnd(bytes, words, to + 1, end);
  return to;
}

/** Position after the comment whose content starts at `from`: `>` and `->` close at once, `-->` and `--!>` later. */
function commentEnd(bytes: Buffer, from: number, end: number): number {
  if (from < end && bytes[from] === GREATER_THAN) return from + 1;
  if (from + 1 < end && bytes[from] === DASH && bytes[from + 1] === GREATER_THAN) return from + 2;
  for (let at = seek(bytes, GREATER_THAN, from, end); at < end; at = seek(bytes, GREATER_THAN, at + 1, end)) {
    const dashes = bytes[at - 1] === BANG ? at - 1 : at;
    if (dashes - 2 >= from && bytes[dashes - 1] === DASH && bytes[dashes - 2] === DASH) return at + 1;
  }
  return end;
}

/** CDATA is the one keyword that HTML compares with its case. */
function isCdata(bytes: Buffer, from: number, end: number): boolean {
  if (from + CDATA_OPEN.length > end) return false;
  for (let k = 0; k < CDATA_OPEN.length; k++) if (bytes[from + k] !== CDATA_OPEN[k]) return false;
  return true;
}

function cdataEnd(bytes: Buffer, from: number, end: number): number {
  for (let at = seek(bytes, GREATER_THAN, from, end); at < end; at = seek(bytes, GREATER_THAN, at + 1, end)) {
    if (at - 2 >= from && bytes[at - 1] === RIGHT_BRACKET && bytes[at - 2] === RIGHT_BRACKET) return at - 2;
  }
  return end;
}

/** Position of the `</name` that ends the raw content starting at `from`, or `end`. */
function contentEnd(
  bytes: Buffer,
  from: number,
  end: number,
  model: ContentModel,
  nameFrom: number,
  nameTo: number,
): number {
  if (model === PLAINTEXT) return end;
  if (model === SCRIPT) return scriptEnd(bytes, from, end);
  const length = nameTo - nameFrom;
  for (let at = seek(bytes, LESS_THAN, from, end); at < end; at = seek(bytes, LESS_THAN, at + 1, end)) {
    const after = at + 2 + length;
    if (after >= end) break;
    if (bytes[at + 1] !== SLASH || (CLASS[bytes[after]!]! & ENDS_TAG_NAME) === 0) continue;
    let k = 0;
    while (k < length && LOWER[bytes[at + 2 + k]!] === LOWER[bytes[nameFrom + k]!]) k++;
    if (k === length) return at;
  }
  return end;
}

/** True when `</script` and a byte that ends a tag name stand at `at`. */
function closesScript(bytes: Buffer, at: number, end: number): boolean {
  const after = at + 2 + SCRIPT_NAME.length;
  return (
    after < end &&
    bytes[at + 1] === SLASH &&
    (CLASS[bytes[after]!]! & ENDS_TAG_NAME) !== 0 &&
    equalsIgnoringCase(bytes, at + 2, after, SCRIPT_NAME)
  );
}

/** Ends a script: inside `<!-- … -->` a `<script>` hides the next `</script>`. */
function scriptEnd(bytes: Buffer, from: number, end: number): number {
  let at = seek(bytes, LESS_THAN, from, end);
  while (at < end) {
    if (closesScript(bytes, at, end)) return at;
    if (at + 3 < end && bytes[at + 1] === BANG && bytes[at + 2] === DASH && bytes[at + 3] === DASH) {
      const resumed = escapedScriptEnd(bytes, at + 2, end);
      if (resumed < 0) return -resumed - 1;
      at = seek(bytes, LESS_THAN, resumed, end);
    } else {
      at = seek(bytes, LESS_THAN, at + 1, end);
    }
  }
  return end;
}

/**
 * Walks a script's `<!--` from its dashes on. Returns the position after `-->` where plain script goes on,
 * or, as `-position - 1`, where the script ends.
 */
function escapedScriptEnd(bytes: Buffer, from: number, end: number): number {
  let hidden = false;
  for (let i = from; i < end; i++) {
    const byte = bytes[i]!;
    if (byte === GREATER_THAN) {
      if (i - 2 >= from && bytes[i - 1] === DASH && bytes[i - 2] === DASH) return i + 1;
    } else if (byte === LESS_THAN) {
      if (closesScript(bytes, i, end)) {
        if (!hidden) return -i - 1;
        hidden = false;
      } else if (!hidden && startsIgnoringCase(bytes, i + 1, end, SCRIPT_NAME)) {
        const after = i + 1 + SCRIPT_NAME.length;
        hidden = after < end && (CLASS[bytes[after]!]! & ENDS_TAG_NAME) !== 0;
      }
    }
  }
  return -end - 1;
}
