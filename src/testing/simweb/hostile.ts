// Answers that a crawler must survive: bodies that lie, break, never end or swell when unpacked.
// Used by `/_/…` paths and by hosts with a fault; each holds only a small buffer, however much it sends.
import { crc32, deflateRawSync, constants, gzipSync } from 'node:zlib';
import type { Exchange, FlatHeaders } from './exchange.js';
import type { HostFault } from './knobs.js';
import { encodeText } from './pages/charsets.js';

const HTML: FlatHeaders = ['content-type', 'text/html; charset=utf-8'];
const PIECE = Buffer.from(`${'<p>And so it goes on without an end in sight.</p>\n'.repeat(1300)}`);
const SMALL_PAGE = '<!doctype html><title>A page that lies</title><p>Some text</p><a href="/">home</a>\n';

/** The given number of bytes, in pieces. */
export function sendBytes(exchange: Exchange, bytes: number, type = 'text/html; charset=utf-8'): void {
  let left = bytes;
  exchange.stream(200, ['content-type', type, 'content-length', String(bytes)], () => {
    if (left <= 0) return undefined;
    const piece = left >= PIECE.length ? PIECE : PIECE.subarray(0, left);
    left -= piece.length;
    return piece;
  });
}

/** A chunked body that ends only with the connection. */
export function sendEndless(exchange: Exchange): void {
  exchange.stream(200, HTML, () => PIECE);
}

/** A reply written by hand: it may contradict itself, and the connection closes after it. */
export function sendRaw(exchange: Exchange, text: string | Buffer): void {
  exchange.req.socket.end(text);
}

/** Content-Length says `claim` bytes, `sent` come; then the connection closes. */
export function sendLyingLength(exchange: Exchange, claim: number, sent: number): void {
  const body = PIECE.subarray(0, Math.min(sent, PIECE.length)).toString('latin1');
  sendRaw(exchange, `HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: ${claim}\r\n\r\n${body}`);
}

/** Half a chunked page, then the connection is cut once those bytes have left. */
export function closeMidBody(exchange: Exchange): void {
  const { res, req } = exchange;
  res.writeHead(200, HTML);
  res.write(PIECE.subarray(0, 5000), () => req.socket.destroy());
}

export function sendGarbage(exchange: Exchange): void {
  sendRaw(exchange, Buffer.from('\x00\x16\x03\xff this is not HTTP \r\n\r\n\x00\x01\x02', 'latin1'));
}

/** A body labelled gzip that is not (`garbage`), ends early (`truncated`) or fails its checksum (`checksum`). */
export function sendBadGzip(exchange: Exchange, how: string): void {
  const good = gzipSync(SMALL_PAGE.repeat(50));
  let body: Buffer = Buffer.from(SMALL_PAGE);
  if (how === 'truncated') body = good.subarray(0, good.length >> 1);
  else if (how === 'checksum') {
    body = Buffer.from(good);
    body.writeUInt32LE(~body.readUInt32LE(body.length - 8) >>> 0, body.length - 8);
  }
  exchange.send(200, [...HTML, 'content-encoding', 'gzip', 'content-length', String(body.length)], body);
}

/** Says UTF-8, is windows-1251. */
export function sendWrongCharset(exchange: Exchange): void {
  const text = '<!doctype html><title>Кодировка</title><p>Эта страница лжёт.</p><a href="/">домой</a>';
  exchange.send(200, HTML, encodeText(text, 'windows-1251'));
}

const MIB = 1024 * 1024;
// A checksum of n MiB costs about n/2 ms here; above this the trailer is left wrong, since no reader should get there.
const MAX_CHECKED_MIB = 64;
let spacesMib: { raw: Buffer; packed: Buffer } | undefined;

/** One gzip member that unpacks to this many MiB of spaces, made from one block repeated: some 1 KB per MiB. */
export function sendGzipBomb(exchange: Exchange, mib: number): void {
  // A full flush ends on a byte and forgets the window, so the same block can follow itself.
  spacesMib ??= ((raw: Buffer) => ({
    raw,
    packed: deflateRawSync(raw, { finishFlush: constants.Z_FULL_FLUSH }),
  }))(Buffer.alloc(MIB, ' '));
  const { raw, packed } = spacesMib;
  let checksum = 0;
  if (mib <= MAX_CHECKED_MIB) for (let i = 0; i < mib; i++) checksum = crc32(raw, checksum);
  const trailer = Buffer.alloc(10);
  // An empty last block, then the checksum and the length modulo 2^32.
  trailer.writeUInt16LE(0x0003, 0);
  trailer.writeUInt32LE(checksum, 2);
  trailer.writeUInt32LE((mib * MIB) % 2 ** 32, 6);
  const pieces = [Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])];
  let left = mib;
  exchange.stream(200, [...HTML, 'content-encoding', 'gzip'], () => {
    if (pieces.length > 0) return pieces.pop();
    if (left-- > 0) return packed;
    return left === -1 ? trailer : undefined;
  });
}

/** 100 MB, as a page that no cap should let through. */
const HUGE_BYTES = 100_000_000;

/** Answers as a host with this fault does. */
export function answerWithFault(exchange: Exchange, fault: HostFault): void {
  switch (fault) {
    case 'refuse':
    case 'reset':
      return exchange.reset();
    case 'hang':
      return;
    case 'garbage':
      return sendGarbage(exchange);
    case 'close-mid-body':
      return closeMidBody(exchange);
    case 'lying-length':
      return sendLyingLength(exchange, 10_000, 5000);
    case 'endless':
      return sendEndless(exchange);
    case 'bad-gzip':
      return sendBadGzip(exchange, 'garbage');
    case 'wrong-charset':
      return sendWrongCharset(exchange);
    case 'huge':
      return sendBytes(exchange, HUGE_BYTES);
    default:
      return fault satisfies never;
  }
}
