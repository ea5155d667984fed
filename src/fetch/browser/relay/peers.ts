// Who connects to a listener on loopback: Chromium sends no password to a SOCKS proxy, so the system is asked instead.
// Promise: on Linux, processes of other users are detected before a byte of theirs is read. Elsewhere none are.
import { readFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { endianness } from 'node:os';

export interface RelayPeers {
  /** Whether the other end of an accepted connection belongs to this process's user, or to a trusted one. */
  isOwn(socket: Socket): Promise<boolean>;
}

/** The kernel's tables of connections, which every user may read. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const ESTABLISHED = '01';
const LISTENS = '0A';

/** @param trustedPort a port on loopback whose listener's user is trusted, too: that of a browser which runs already */
export function createRelayPeers(trustedPort?: number): RelayPeers {
  const ownUser = process.platform === 'linux' ? process.getuid?.() : undefined;
  let reading: Promise<string[]> | undefined;
  let next: Promise<string[]> | undefined;
  let usable: Promise<boolean> | undefined;

  /** Rows as they are now or later: one that is being read may lack a connection made since. */
  function rows(): Promise<string[]> {
    next ??= (reading ?? Promise.resolve()).then(() => {
      next = undefined;
      reading = Promise.all(TABLES.map((table) => readFile(table, 'latin1').catch(() => ''))).then((texts) =>
        texts.join('\n').split('\n'),
      );
      return reading;
    });
    return next;
  }

  /** The user of the other end; undefined when the system does not say. */
  async function userOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): Promise<number | undefined> {
    const from = placesOf(remoteAddress, remotePort);
    const to = placesOf(localAddress, localPort);
    for (const row of await rows()) {
      const [, local, remote, state, , , , user] = row.trim().split(/ +/, 8);
      if (state === ESTABLISHED && from.includes(local!) && to.includes(remote!)) return Number(user);
    }
    return undefined;
  }

  async function isTrusted(user: number): Promise<boolean> {
    if (trustedPort === undefined) return false;
    const ending = `:${portText(trustedPort)}`;
    return (await rows()).some((row) => {
      const [, local, , state, , , , owner] = row.trim().split(/ +/, 8);
      return state === LISTENS && local!.endsWith(ending) && Number(owner) === user;
    });
  }

  /** Some sandboxes show empty tables: asked once about a connection of our own. */
  async function isUsable(): Promise<boolean> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    const socket = await accepted;
    socket.on('error', () => undefined);
    try {
      return (await userOf(socket)) === ownUser;
    } finally {
      socket.destroy();
      client.destroy();
      server.close();
    }
  }

  return {
    async isOwn(socket) {
      if (ownUser === undefined || !(await (usable ??= isUsable()))) return true;
      const user = await userOf(socket);
      return user !== undefined && (user === ownUser || (await isTrusted(user)));
    },
  };
}

/** An IPv4 address and port as both tables write them. */
function placesOf(address = '', port = 0): string[] {
  const v4 = address.startsWith('::ffff:') ? address.slice(7) : address;
  const bytes = v4.split('.').map((part) => Number(part).toString(16).toUpperCase().padStart(2, '0'));
  if (bytes.length !== 4) return [];
  const isLittle = endianness() === 'LE';
  const word = (isLittle ? bytes.reverse() : bytes).join('');
  const place = `${word}:${portText(port)}`;
  return [place, `0000000000000000${isLittle ? 'FFFF0000' : '0000FFFF'}${place}`];
}

function portText(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}
