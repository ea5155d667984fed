// SOCKS 5 tunnels (RFC 1928, RFC 1929): asks a proxy for a raw connection to a target over an open socket.
// Reads no more than the proxy's answers; what follows stays in the socket for TLS or HTTP.
import type { Socket } from 'node:net';
import { isIP } from 'node:net';
import { CrawlError } from '../../errors.js';
import { percentDecoded } from '../../request/percent-decoded.js';
import { addressBytes } from './guard.js';

const VERSION = 5;
const NO_LOGIN = 0;
const PASSWORD = 2;
const [IPV4, NAME, IPV6] = [1, 3, 4];
const FAILURES = [
  '',
  'failed',
  'does not allow the connection',
  'cannot reach the network',
  'cannot reach the host',
  'was refused by the host',
  'waited too long for the host',
  'cannot connect',
  'cannot use this kind of address',
];

export interface SocksTarget {
  /** A name that the proxy resolves, or an address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Resolves when the proxy has opened the way to the target; rejects with PROXY_FAILED. */
export async function openSocksTunnel(socket: Socket, target: SocksTarget, proxy: URL): Promise<void> {
  const authority = `${target.host}:${target.port}`;
  const fail = (what: string, cause?: unknown): never => {
    throw new CrawlError('PROXY_FAILED', `proxy ${proxy.host}: ${what}`, { cause });
  };
  const read = (length: number) =>
    readExactly(socket, length).catch((error: unknown) =>
      fail(`closed the connection while opening a tunnel to ${authority}`, error),
    );

  const login = loginOf(proxy, fail);
  socket.write(Buffer.from(login ? [VERSION, 2, NO_LOGIN, PASSWORD] : [VERSION, 1, NO_LOGIN]));
  const [version, method] = await read(2);
  if (version !== VERSION) return fail('did not answer in SOCKS 5');
  if (method === PASSWORD && login) {
    socket.write(login);
    const [, status] = await read(2);
    if (status !== 0) return fail('refused the login');
  } else if (method !== NO_LOGIN) return fail('requires a login, and the URL has none');

  socket.write(Buffer.concat([Buffer.from([VERSION, 1, 0]), addressOf(target.host, fail), portBytes(target.port)]));
  const [answered, reply, , kind] = await read(4);
  if (answered !== VERSION) return fail('did not answer in SOCKS 5');
  if (reply !== 0) return fail(`${FAILURES[reply!] ?? 'failed'} (tunnel to ${authority})`);
  const length = kind === IPV4 ? 4 : kind === IPV6 ? 16 : kind === NAME ? (await read(1))[0]! : undefined;
  if (length === undefined) return fail('did not answer in SOCKS 5');
  // The address at the proxy's side, which nobody needs.
  await read(length + 2);
  // Clients speak first, in HTTP and TLS. The HTTP client would take more for a broken connection and open another, and so on.
  if (socket.readableLength > 0) return fail('sent more than its answer');
}

type Fail = (what: string) => never;

/** The message with user and password, each at most 255 bytes; undefined when the URL has none. */
function loginOf({ username, password }: URL, fail: Fail): Buffer | undefined {
  if (username === '' && password === '') return undefined;
  const [user, secret] = [username, password].map((part) => Buffer.from(percentDecoded(part))) as [Buffer, Buffer];
  if (user.length > 255 || secret.length > 255) return fail('user and password have at most 255 bytes each');
  return Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([secret.length]), secret]);
}

function addressOf(host: string, fail: Fail): Buffer {
  const family = isIP(host);
  // IPv4 is the end of the 16 bytes.
  if (family === 4) return Buffer.concat([Buffer.from([IPV4]), addressBytes(host)!.subarray(12)]);
  if (family === 6) return Buffer.concat([Buffer.from([IPV6]), addressBytes(host)!]);
  const name = Buffer.from(host, 'latin1');
  if (name.length > 255) return fail('a host name has at most 255 bytes');
  return Buffer.concat([Buffer.from([NAME, name.length]), name]);
}

function portBytes(port: number): Buffer {
  return Buffer.from([port >> 8, port & 0xff]);
}

/** That many bytes and no more; rejects when the socket ends before. */
function readExactly(socket: Socket, length: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const finish = (bytes: Buffer | undefined, error?: Error) => {
      socket.off('readable', onReadable).off('end', onEnd).off('close', onEnd).off('error', onError);
      if (bytes) resolve(bytes);
      else reject(error ?? new Error('closed'));
    };
    const onReadable = () => {
      const bytes = socket.read(length) as Buffer | null;
      if (bytes !== null) finish(bytes.length === length ? bytes : undefined);
    };
    const onEnd = () => finish(undefined);
    const onError = (error: Error) => finish(undefined, error);
    socket.on('readable', onReadable).on('end', onEnd).on('close', onEnd).on('error', onError);
    // What ended before anyone listened says so no more.
    if (socket.readableEnded || socket.destroyed) onEnd();
    else onReadable();
  });
}
