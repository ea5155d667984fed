// Detects a body's encoding and decodes it: BOM, then header, then `meta`, then a UTF-8 check.
// Promise: any label and any bytes give a string (or UTF-8) without throwing; the names are the Encoding standard's.
import { isAscii, isUtf8 } from 'node:buffer';
import { asBuffer, sliceLatin1, sliceUtf8 } from '../../base/bytes.js';
import { mediaTypeOf } from '../../base/media-type.js';
import { decodeLegacy, encodingForLabel } from './labels.js';
import { declaredEncoding } from './prescan.js';

/** How an encoding was found, strongest evidence first. */
export type EncodingSource = 'bom' | 'header' | 'meta' | 'content' | 'default';

/** What {@link detectEncoding} found. */
export interface DetectedEncoding {
  /** The encoding's name in lower case, as `TextDecoder.encoding` spells it. */
  readonly name: string;
  readonly source: EncodingSource;
  /** Length of the byte order mark, which is not part of the text. */
  readonly bomBytes: number;
}

/** Legacy text without a label is most often this, and it decodes any byte. */
const FALLBACK = 'windows-1252';
/** The standard looks at 1,024 bytes; a browser also obeys a `meta` it meets later, so we look on when nothing was found. */
const LATE_PRESCAN_BYTES = 64 * 1024;

/**
 * Finds the encoding of a body.
 *
 * @example
 * detectEncoding(bytes, 'text/html; charset=shift_jis'); // { name: 'shift_jis', source: 'header', bomBytes: 0 }
 */
export function detectEncoding(body: Uint8Array, contentType?: string | null): DetectedEncoding {
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return { name: 'utf-8', source: 'bom', bomBytes: 3 };
  if (body[0] === 0xfe && body[1] === 0xff) return { name: 'utf-16be', source: 'bom', bomBytes: 2 };
  if (body[0] === 0xff && body[1] === 0xfe) return { name: 'utf-16le', source: 'bom', bomBytes: 2 };
  const labelled = encodingForLabel(charsetOf(contentType));
  if (labelled !== null) return { name: labelled, source: 'header', bomBytes: 0 };
  const kind = mediaTypeOf(contentType);
  if (/[/+]json$/.test(kind)) return { name: 'utf-8', source: 'default', bomBytes: 0 };
  if (kind === '' || /html|xml$/.test(kind)) {
    const declared = declaredEncoding(body, 1024) ?? declaredEncoding(body, LATE_PRESCAN_BYTES);
    if (declared !== null) return { name: declared, source: 'meta', bomBytes: 0 };
  }
  // A body cut off in the middle of a character is still UTF-8.
  if (isUtf8(body) || isUtf8(withoutCutCharacter(body))) return { name: 'utf-8', source: 'content', bomBytes: 0 };
  return { name: FALLBACK, source: 'default', bomBytes: 0 };
}

/**
 * Decodes a body. An unknown label is treated as none: UTF-8 when the bytes are, else windows-1252.
 *
 * @example
 * decodeBody(bytes, detectEncoding(bytes, headers['content-type']));
 */
export function decodeBody(body: Uint8Array, encoding: DetectedEncoding | string): string {
  const bytes = asBuffer(body);
  const name = encodingOf(bytes, encoding);
  const start = bomLength(bytes, name);
  if (isAsciiSafe(name) && isAscii(bytes)) return sliceLatin1(bytes, 0, bytes.length);
  if (name === 'utf-8' && isUtf8(bytes)) return sliceUtf8(bytes, start, bytes.length);
  return decodeLegacy(start === 0 ? bytes : bytes.subarray(start), name);
}

/** The body as valid UTF-8 without BOM: itself when it already is, a transcoded copy when not. Labels as in {@link decodeBody}. */
export function toUtf8(body: Uint8Array, encoding: DetectedEncoding | string): Buffer {
  const bytes = asBuffer(body);
  const name = encodingOf(bytes, encoding);
  const bomBytes = bomLength(bytes, name);
  const content = bomBytes === 0 ? bytes : bytes.subarray(bomBytes);
  if (name === 'utf-8' ? isUtf8(content) : isAsciiSafe(name) && isAscii(content)) return content;
  return Buffer.from(decodeLegacy(content, name), 'utf8');
}

function encodingOf(bytes: Buffer, encoding: DetectedEncoding | string): string {
  if (typeof encoding !== 'string') return encoding.name;
  return encodingForLabel(encoding) ?? (isUtf8(bytes) ? 'utf-8' : FALLBACK);
}

/** The charset parameter of a Content-Type, or `undefined`. */
function charsetOf(contentType: string | null | undefined): string | undefined {
  const match = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^;\s]*))/i.exec(contentType?.slice(0, 1024) ?? '');
  return match === null ? undefined : (match[1] ?? match[2] ?? match[3]);
}

/** True when ASCII bytes mean ASCII characters, which they do not in UTF-16, ISO-2022-JP and `replacement`. */
function isAsciiSafe(name: string): boolean {
  return name !== 'utf-16le' && name !== 'utf-16be' && name !== 'iso-2022-jp' && name !== 'replacement';
}

function bomLength(bytes: Uint8Array, name: string): number {
  if (name === 'utf-8') return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  if (name === 'utf-16le') return bytes[0] === 0xff && bytes[1] === 0xfe ? 2 : 0;
  if (name === 'utf-16be') return bytes[0] === 0xfe && bytes[1] === 0xff ? 2 : 0;
  return 0;
}

/** Drops a trailing lead byte whose continuation is missing. */
function withoutCutCharacter(body: Uint8Array): Uint8Array {
  for (let back = 1; back <= 3 && back <= body.length; back++) {
    const byte = body[body.length - back]!;
    if (byte >= 0xc0) return body.subarray(0, body.length - back);
    if (byte < 0x80) break;
  }
  return body;
}
