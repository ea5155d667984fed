// Reads an encoding declaration from the first bytes of a page: `<meta charset>`, its http-equiv form, `<?xml encoding?>`.
// Promise: the HTML standard's prescan, on bytes of unknown encoding, in one pass over what it is allowed to see.
import { AttributeList } from '../tokens/attributes.js';
import {
  CLASS,
  ENDS_TAG_NAME,
  GREATER_THAN,
  IS_LETTER,
  IS_SPACE,
  LESS_THAN,
  SLASH,
  sliceLatin1,
} from '../../base/bytes.js';
import {
  BANG,
  QUESTION_MARK,
  asBuffer,
  ascii,
  equalsIgnoringCase,
  seek,
  startsIgnoringCase,
} from '../../base/bytes.js';
import { encodingForLabel } from './labels.js';
import { wordsOf } from '../words.js';

const META = ascii('meta');
const COMMENT = ascii('<!--');
const XML_DECLARATION = ascii('<?xml');
const HTTP_EQUIV = ascii('http-equiv');
const CONTENT = ascii('content');
const CHARSET = ascii('charset');
const CONTENT_TYPE = ascii('content-type');

/** The encoding declared within the first `limit` bytes, or `null`. */
export function declaredEncoding(body: Uint8Array, limit: number): string | null {
  const bytes = asBuffer(body).subarray(0, limit);
  const end = bytes.length;
  const words = wordsOf(bytes);
  const attributes = new AttributeList();
  let i = 0;
  while ((i = seek(bytes, LESS_THAN, i, end)) < end) {
    const next = i + 1 < end ? bytes[i + 1]! : 0;
    if (startsIgnoringCase(bytes, i, end, COMMENT)) {
      // `<!-->` is a whole comment here: the dashes of the opening may also close it.
      const close = bytes.indexOf('-->', i + 2, 'latin1');
      if (close < 0) break;
      i = close + 3;
    } else if (isMeta(bytes, i, end)) {
      const after = attributes.read(bytes, words, i + 5, end);
      if (after < 0) break;
      const encoding = encodingOfMeta(bytes, attributes);
      if (encoding !== null) return encoding;
      i = after;
    } else if ((CLASS[next]! & IS_LETTER) !== 0 || (next === SLASH && isLetterAt(bytes, i + 2, end))) {
      let nameTo = i + 2;
      while (nameTo < end && (CLASS[bytes[nameTo]!]! & ENDS_TAG_NAME) === 0) nameTo++;
      i = attributes.read(bytes, words, nameTo, end);
      if (i < 0) break;
    } else if (next === BANG || next === SLASH || next === QUESTION_MARK) {
      i = seek(bytes, GREATER_THAN, i, end);
    } else {
      i++;
    }
  }
  return xmlEncoding(bytes);
}

function isLetterAt(bytes: Buffer, at: number, end: number): boolean {
  return at < end && (CLASS[bytes[at]!]! & IS_LETTER) !== 0;
}

function isMeta(bytes: Buffer, at: number, end: number): boolean {
  if (!startsIgnoringCase(bytes, at + 1, end, META) || at + 5 >= end) return false;
  return bytes[at + 5] === SLASH || (CLASS[bytes[at + 5]!]! & IS_SPACE) !== 0;
}

function encodingOfMeta(bytes: Buffer, attributes: AttributeList): string | null {
  const charset = attributes.find(bytes, CHARSET);
  if (charset >= 0) {
    const label = sliceLatin1(bytes, attributes.valueFrom(charset), attributes.valueTo(charset));
    return declared(encodingForLabel(label));
  }
  const content = attributes.find(bytes, CONTENT);
  const pragma = attributes.find(bytes, HTTP_EQUIV);
  if (content < 0 || pragma < 0) return null;
  if (!equalsIgnoringCase(bytes, attributes.valueFrom(pragma), attributes.valueTo(pragma), CONTENT_TYPE)) return null;
  const label = charsetInContent(sliceLatin1(bytes, attributes.valueFrom(content), attributes.valueTo(content)));
  return declared(encodingForLabel(label));
}

/** A page readable as ASCII so far is not in UTF-16, whatever it declares. */
function declared(name: string | null): string | null {
  if (name === 'utf-16le' || name === 'utf-16be') return 'utf-8';
  return name === 'x-user-defined' ? 'windows-1252' : name;
}

/** The label after `charset=` in a `content` attribute: quoted, or up to a space or semicolon. */
function charsetInContent(content: string): string | null {
  const match = /charset[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^"'\t\n\f\r ;][^\t\n\f\r ;]*))/i.exec(
    content,
  );
  return match === null ? null : (match[1] ?? match[2] ?? match[3] ?? null);
}

/** The encoding of an XML declaration at the very start, which HTML obeys after everything else. */
function xmlEncoding(bytes: Buffer): string | null {
  if (!startsIgnoringCase(bytes, 0, bytes.length, XML_DECLARATION)) return null;
  const close = bytes.indexOf(GREATER_THAN);
  if (close < 0) return null;
  const match = /encoding[\x00-\x20]*=[\x00-\x20]*(?:"([^"]*)"|'([^']*)')/.exec(sliceLatin1(bytes, 0, close));
  return match === null ? null : declared(encodingForLabel(match[1] ?? match[2]));
}
