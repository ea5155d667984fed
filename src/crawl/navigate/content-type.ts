// What kind of thing a response is: its media type and, for text, its encoding.
import { bytesOf, type Capture } from '../../fetch/engine.js';
import { detectEncoding } from '../../parse/encoding/encoding.js';

export interface ContentType {
  readonly type: string;
  readonly charset: string | undefined;
}

const BYTES = 'application/octet-stream';
const MARKUP = new Set(['text/html', 'application/xhtml+xml', 'text/xml', 'application/xml']);

/** Headers that were read before: a web says the same few over and over. */
const recent = new Map<string, ContentType>();
const MOST_KEPT = 256;
const LONGEST_KEPT = 100;

/** Media type and charset of a response; without a declared type, judged by its first byte. */
export function contentTypeOf(capture: Capture): ContentType {
  const header = headerOf(capture);
  if (!header) return { type: sniffed(bytesOf(capture)), charset: undefined };
  const known = recent.get(header);
  if (known) return known;
  const read = readHeader(header);
  if (recent.size < MOST_KEPT && header.length <= LONGEST_KEPT) recent.set(header, read);
  return read;
}

function readHeader(header: string): ContentType {
  const [type = '', ...parameters] = header.split(';');
  const charset = parameters
    .map((parameter) => parameter.trim().split('=', 2))
    .find(([name]) => name?.toLowerCase() === 'charset')?.[1];
  const media = type.trim().toLowerCase();
  // What is not `type/subtype` says nothing: bytes.
  const known = media.includes('/') ? media : BYTES;
  return { type: known, charset: charset?.trim().replace(/^"|"$/g, '') };
}

export function headerOf(capture: Pick<Capture, 'headers'>): string | undefined {
  const header = capture.headers['content-type'];
  return Array.isArray(header) ? header[0] : header;
}

function sniffed(body: Buffer): string {
  const start = body.subarray(0, 512).toString('latin1').trimStart();
  if (start.startsWith('{') || start.startsWith('[')) return 'application/json';
  return start === '' || start.startsWith('<') ? 'text/html' : BYTES;
}

export function isMarkup(type: string): boolean {
  return MARKUP.has(type) || type.endsWith('+xml');
}

export function isXml(type: string): boolean {
  return type !== 'text/html' && isMarkup(type);
}

export function isJson(type: string): boolean {
  return type === 'application/json' || type.endsWith('+json');
}

/** HTML, XML, JSON and what the user added; `image/*` and the like accept a family. */
export function acceptsType(type: string, additional: readonly string[]): boolean {
  if (isMarkup(type) || isJson(type)) return true;
  return additional.some(
    (pattern) =>
      pattern === '*/*' || pattern === type || (pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1))),
  );
}

/** The content type that decides the decoding: forced, the response's own, or suggested. */
export function decodingHeader(
  capture: Capture,
  encodings: { forceResponseEncoding?: string; suggestResponseEncoding?: string },
): string {
  const { type, charset } = contentTypeOf(capture);
  const chosen = encodings.forceResponseEncoding ?? charset ?? encodings.suggestResponseEncoding;
  return chosen === undefined ? type : `${type}; charset=${chosen}`;
}

/** Node's name for the encoding of a response, as Crawlee's `contentType.encoding` has it. */
export function encodingName(body: Buffer, header: string): BufferEncoding {
  return detectEncoding(body, header).name.toLowerCase() as BufferEncoding;
}
