// Writes WARC/1.1 records (ISO 28500:2017): the form of stored pages in a segment.
// Promise: every record is one gzip member with exact lengths and digests, whatever a server put into its headers.
import { hash, randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';

/** Why a record is truncated; the words are from the standard. */
export type Truncation = 'length' | 'time' | 'disconnect' | 'unspecified';

/** An HTTP response as it goes into a `response` record. */
export interface RawResponse {
  readonly statusCode: number;
  /** The reason phrase; the usual one of the status unless given. */
  readonly statusText?: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
  /** Whether `body` still has the Content-Encoding that the headers name. Never chunked. */
  readonly bodyIs: 'as-received' | 'decoded';
  readonly ipAddress?: string;
  readonly truncated?: Truncation;
}

/** An uncompressed record, and its digest for the index. */
export interface WarcRecord {
  readonly bytes: Buffer;
  /** SHA-1 of the payload in base 32. */
  readonly digest: string;
}

interface RecordHead {
  readonly targetUri: string;
  readonly dateMs: number;
  /** A UUID; a random one unless given. */
  readonly recordId?: string;
}

/** The first record of a file: who wrote it, in which form. */
export function warcinfoRecord(options: {
  readonly filename: string;
  readonly dateMs: number;
  readonly fields: Readonly<Record<string, string>>;
  readonly recordId?: string;
}): WarcRecord {
  const lines = Object.entries(options.fields).map(([name, value]) => `${name}: ${oneLine(value)}\r\n`);
  const block = Buffer.from(lines.join(''));
  const digest = sha1Base32(block);
  const head = [
    ...commonHead('warcinfo', options.dateMs, options.recordId),
    `WARC-Filename: ${oneLine(options.filename)}`,
    `WARC-Block-Digest: sha1:${digest}`,
    'Content-Type: application/warc-fields',
  ];
  return { bytes: assemble(head, [block]), digest };
}

/** The text of a page. */
export function conversionRecord(
  options: RecordHead & {
    readonly text: Uint8Array;
    /** The id of the `response` record that the text was made from. */
    readonly refersTo?: string;
    readonly truncated?: Truncation;
  },
): WarcRecord {
  const digest = sha1Base32(options.text);
  const head = [
    ...commonHead('conversion', options.dateMs, options.recordId),
    `WARC-Target-URI: ${oneWord(options.targetUri)}`,
  ];
  if (options.refersTo !== undefined) head.push(`WARC-Refers-To: <urn:uuid:${options.refersTo}>`);
  if (options.truncated !== undefined) head.push(`WARC-Truncated: ${options.truncated}`);
  head.push(`WARC-Block-Digest: sha1:${digest}`, 'Content-Type: text/plain');
  return { bytes: assemble(head, [options.text]), digest };
}

/** A response: status line, headers and body. */
export function responseRecord(options: RecordHead & { readonly response: RawResponse }): WarcRecord {
  const { response } = options;
  const httpHead = httpHeadOf(response);
  const digest = sha1Base32(response.body);
  const head = [
    ...commonHead('response', options.dateMs, options.recordId),
    `WARC-Target-URI: ${oneWord(options.targetUri)}`,
  ];
  if (response.ipAddress !== undefined) head.push(`WARC-IP-Address: ${oneWord(response.ipAddress)}`);
  if (response.truncated !== undefined) head.push(`WARC-Truncated: ${response.truncated}`);
  head.push(
    `WARC-Payload-Digest: sha1:${digest}`,
    `WARC-Block-Digest: sha1:${sha1Base32(Buffer.concat([httpHead, response.body]))}`,
    'Content-Type: application/http; msgtype=response',
  );
  return { bytes: assemble(head, [httpHead, response.body]), digest };
}

/** Why a body is not stored again: it has the digest of a stored one, or the server said that it has not changed. */
export type RevisitReason = 'identical-payload-digest' | 'server-not-modified';

/** The stored response that a revisit stands for. */
export interface StoredOriginal {
  /** SHA-1 of its body in base 32. */
  readonly digest: string;
  readonly fetchedAtMs: number;
}

/** A visit that found what is stored already: status line and headers, no body. */
export function revisitRecord(
  options: RecordHead & {
    readonly reason: RevisitReason;
    readonly original: StoredOriginal;
    readonly response: Omit<RawResponse, 'body' | 'bodyIs' | 'truncated'>;
  },
): WarcRecord {
  const { reason, original, response, targetUri } = options;
  const httpHead = httpHeadOf({ ...response, body: NO_BODY, bodyIs: 'as-received' }, false);
  const head = [
    ...commonHead('revisit', options.dateMs, options.recordId),
    `WARC-Target-URI: ${oneWord(targetUri)}`,
    `WARC-Profile: http://netpreserve.org/warc/1.1/revisit/${reason}`,
    `WARC-Refers-To-Target-URI: ${oneWord(targetUri)}`,
    `WARC-Refers-To-Date: ${new Date(original.fetchedAtMs).toISOString()}`,
    // Of the body that it stands for, not of this record.
    `WARC-Payload-Digest: sha1:${original.digest}`,
    `WARC-Block-Digest: sha1:${sha1Base32(httpHead)}`,
    'Content-Type: application/http; msgtype=response',
  ];
  return { bytes: assemble(head, [httpHead]), digest: original.digest };
}

const NO_BODY = Buffer.alloc(0);

/** A new record id, for a record that another one will refer to. */
export const newRecordId = (): string => randomUUID();

function commonHead(type: string, dateMs: number, recordId = newRecordId()): string[] {
  const date = new Date(dateMs).toISOString();
  return ['WARC/1.1', `WARC-Type: ${type}`, `WARC-Record-ID: <urn:uuid:${recordId}>`, `WARC-Date: ${date}`];
}

const RECORD_END = Buffer.from('\r\n\r\n');

function assemble(head: readonly string[], block: readonly Uint8Array[]): Buffer {
  const blockBytes = block.reduce((sum, part) => sum + part.length, 0);
  const start = Buffer.from(`${head.join('\r\n')}\r\nContent-Length: ${blockBytes}\r\n\r\n`);
  return Buffer.concat([start, ...block, RECORD_END]);
}

/**
 * The head of the response, adjusted to the stored body: not chunked, maybe not compressed, with its actual length.
 * The server's own values are kept under an `X-Crawler-` name. Where no body is stored the head stays as it was.
 */
function httpHeadOf({ statusCode, statusText, headers, body, bodyIs }: RawResponse, hasBody = true): Buffer {
  const lines = [`HTTP/1.1 ${statusCode} ${oneLine(statusText ?? STATUS_CODES[statusCode] ?? '')}`.trimEnd()];
  let hasLength = false;
  for (const [name, values] of Object.entries(headers)) {
    if (values === undefined || !HEADER_NAME.test(name)) continue;
    const lower = name.toLowerCase();
    for (const value of typeof values === 'string' ? [values] : values) {
      let kept = name;
      if (!hasBody) kept = name;
      else if (lower === 'content-length' && value.trim() === String(body.length)) hasLength = true;
      else if (NO_LONGER_TRUE.has(lower) || (lower === 'content-encoding' && bodyIs === 'decoded')) {
        kept = `X-Crawler-${name}`;
      }
      lines.push(`${kept}: ${oneLine(value)}`);
    }
  }
  if (!hasLength && hasBody) lines.push(`Content-Length: ${body.length}`);
  const text = `${lines.join('\r\n')}\r\n\r\n`;
  // Header bytes above ASCII were read as Latin-1; anything else can only come from a caller's own text.
  return Buffer.from(text, BEYOND_LATIN1.test(text) ? 'utf8' : 'latin1');
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const NO_LONGER_TRUE = new Set(['transfer-encoding', 'content-length']);
const BEYOND_LATIN1 = /[^\x00-\xff]/;

/** Prevents server text from starting a new line. */
function oneLine(text: string): string {
  return CONTROL.test(text) ? text.replace(/[\x00-\x1f\x7f]+/g, ' ') : text;
}

/** A URL as a header value. */
export function oneWord(text: string): string {
  return SPACE_OR_CONTROL.test(text) ? text.replace(/[\x00-\x20\x7f]/g, encodeURIComponent) : text;
}

const CONTROL = /[\x00-\x1f\x7f]/;
const SPACE_OR_CONTROL = /[\x00-\x20\x7f]/;

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** SHA-1 in base 32 (32 characters, no padding): the form in which archives write digests. */
export function sha1Base32(bytes: Uint8Array): string {
  const digest = hash('sha1', bytes, 'buffer');
  let text = '';
  // Five bytes are eight letters, and twenty divide by five.
  for (let at = 0; at < 20; at += 5) {
    const high = digest[at]! * 0x1000000 + digest[at + 1]! * 0x10000 + digest[at + 2]! * 0x100 + digest[at + 3]!;
    const low = digest[at + 4]!;
    for (let shift = 27; shift >= 2; shift -= 5) text += BASE32[(high >>> shift) & 31];
    text += BASE32[((high & 3) << 3) | (low >>> 5)];
    text += BASE32[low & 31];
  }
  return text;
}

/** Compressing more than this at once would block the loop for several milliseconds. */
const ASYNC_BYTES = 256 * 1024;
const gzipLater = promisify(gzip);

/** A record as one gzip member: a buffer if small, else a promise. */
export function gzipRecord(bytes: Buffer, level: number): Buffer | Promise<Buffer> {
  return bytes.length > ASYNC_BYTES ? gzipLater(bytes, { level }) : gzipSync(bytes, { level });
}
