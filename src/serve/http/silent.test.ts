import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { holdSilent } from './silent.js';

let server: Server | undefined;
afterEach(() => server?.close());

const ASK = 'GET /a HTTP/1.1\r\nhost: x\r\n\r\n';

/** Connects to a server that tells which path was asked for. */
async function connected(limitMs = 5_000): Promise<Socket> {
  server = createServer((request, response) => response.end(`asked for ${request.url}`));
  holdSilent(server, limitMs);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

async function answerOn(socket: Socket): Promise<string> {
  let text = '';
  for await (const some of socket) if ((text += String(some)).includes('asked for')) break;
  return text;
}

it('ends a connection that says nothing', async () => {
  const socket = await connected(50);
  socket.resume();
  await once(socket, 'close');
});

it('answers one that speaks late, byte by byte and twice in one packet', async () => {
  const late = await connected();
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (const byte of ASK) await new Promise((resolve) => late.write(byte, resolve));
  expect(await answerOn(late)).toContain('asked for /a');

  const twice = connect((server!.address() as AddressInfo).port, '127.0.0.1');
  twice.end(ASK + ASK.replace('/a', '/b'));
  let text = '';
  for await (const some of twice) text += String(some);
  expect(text.match(/asked for \/./g)).toEqual(['asked for /a', 'asked for /b']);
});

it('lets one go that leaves or resets without a word', async () => {
  const leaves = await connected();
  leaves.end();
  leaves.resume();
  await once(leaves, 'close');
  const resets = connect((server!.address() as AddressInfo).port, '127.0.0.1');
  await once(resets, 'connect');
  resets.resetAndDestroy();
  await expect.poll(() => new Promise((resolve) => server!.getConnections((_, count) => resolve(count)))).toBe(0);
});
