// Parses stored records for `orcrawl get` and findPage.
// Promise: incomplete or foreign bytes (a torn tail, another file) give undefined, never half a page.
import { gunzipSync } from 'node:zlib';

export interface ParsedRecord {
  readonly type: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly block: Buffer;
}

export interface ParsedResponse {
  readonly statusCode: number;
  readonly statusText: string;
  /** Names in lower case; repeated ones joined by ", ", `set-cookie` by a newline. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Far above any page: bodies end at `max_content_length`. */
const MAX_RECORD_BYTES = 1024 * 1024 * 1024;
const HEAD_END = '\r\n\r\n';

/** The record of one gzip member, or undefined if incomplete. */
export function readGzippedRecord(member: Uint8Array): ParsedRecord | undefined {
  try {
    return parseRecord(gunzipSync(member, { maxOutputLength: MAX_RECORD_BYTES }));
  } catch {
    return undefined;
  }
}

export function parseRecord(bytes: Buffer): ParsedRecord | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const [version, ...lines] = bytes.toString('utf8', 0, headEnd).split('\r\n');
  if (!version?.startsWith('WARC/1.')) return undefined;
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  const blockBytes = Number(headers.get('content-length') ?? NaN);
  const from = headEnd + HEAD_END.length;
  if (bytes.length !== from + blockBytes + HEAD_END.length) return undefined;
  return { type: headers.get('warc-type') ?? '', headers, block: bytes.subarray(from, from + blockBytes) };
}

/** The block of a `response` record. */
export function parseResponse(block: Buffer): ParsedResponse | undefined {
  const headEnd = block.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = block.toString('latin1', 0, headEnd).split('\r\n');
  const [, status, statusText = ''] = /^HTTP\/[\d.]+ (\d{3})(?: (.*))?$/.exec(statusLine) ?? [];
  if (status === undefined) return undefined;
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}${name === 'set-cookie' ? '\n' : ', '}${value}`);
  }
  const body = block.subarray(headEnd + HEAD_END.length);
  return { statusCode: Number(status), statusText, headers: Object.fromEntries(headers), body };
}
