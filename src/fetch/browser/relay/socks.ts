// The part of SOCKS 5 (RFC 1928) that a browser uses with its proxy: no authentication, CONNECT only.
// Promise: reads no more than the request; what follows stays in the socket.
import type { Socket } from 'node:net';

export interface SocksRequest {
  readonly hostname: string;
  readonly port: number;
}

const VERSION = 5;
const CONNECT = 1;
const NO_AUTHENTICATION = Buffer.from([VERSION, 0]);
/** The longest request: four bytes, a length, a name of 255 and a port. */
const MAX_BYTES = 512;

const answer = (code: number) => Buffer.from([VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]);

/** The reply to the browser, which never reads the bound address. */
export const SOCKS_ANSWERS = Object.freeze({
  connected: answer(0),
  refused: answer(2),
  unreachable: answer(4),
});

/** The client's request; undefined if it speaks another protocol, disconnects or stays silent too long. */
export function readSocksRequest(socket: Socket, timeoutMs: number): Promise<SocksRequest | undefined> {
  return new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0);
    let isGreeted = false;
    const timer = setTimeout(() => done(undefined), timeoutMs);

    function done(request: SocksRequest | undefined, rest?: Buffer): void {
      clearTimeout(timer);
      socket.off('data', onData).off('close', onClose);
      socket.pause();
      if (rest && rest.length > 0) socket.unshift(rest);
      resolve(request);
    }
    const onClose = () => done(undefined);

    function onData(chunk: Buffer): void {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      if (bytes.length > 0 && bytes[0] !== VERSION) return done(undefined);
      if (!isGreeted) {
        if (bytes.length < 2 || bytes.length < 2 + bytes[1]!) return;
        bytes = bytes.subarray(2 + bytes[1]!);
        isGreeted = true;
        socket.write(NO_AUTHENTICATION);
      }
      const parsed = parseSocksRequest(bytes);
      if (parsed === 'wrong' || (parsed === 'more' && bytes.length > MAX_BYTES)) return done(undefined);
      if (parsed !== 'more') done(parsed.request, bytes.subarray(parsed.length));
    }

    socket.on('data', onData).on('close', onClose);
  });
}

/** The request at the start of `bytes` and its length; `more` when it is not all there yet. */
export function parseSocksRequest(bytes: Buffer): { request: SocksRequest; length: number } | 'more' | 'wrong' {
  if (bytes.length > 1 && (bytes[0] !== VERSION || bytes[1] !== CONNECT)) return 'wrong';
  if (bytes.length < 5) return 'more';
  const kind = bytes[3];
  const addressStart = kind === 3 ? 5 : 4;
  const addressLength = kind === 1 ? 4 : kind === 4 ? 16 : kind === 3 ? bytes[4]! : 0;
  if (addressLength === 0) return 'wrong';
  const length = addressStart + addressLength + 2;
  if (bytes.length < length) return 'more';
  const address = bytes.subarray(addressStart, addressStart + addressLength);
  return { request: { hostname: hostnameOf(kind!, address), port: bytes.readUInt16BE(length - 2) }, length };
}

function hostnameOf(kind: number, address: Buffer): string {
  if (kind === 1) return address.join('.');
  if (kind === 3) return address.toString('latin1');
  return Array.from({ length: 8 }, (_, group) => address.readUInt16BE(group * 2).toString(16)).join(':');
}
