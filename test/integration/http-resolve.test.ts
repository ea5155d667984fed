// The system resolver against a DNS server of our own and a hosts file of our own.
import { afterEach, describe, expect, it } from 'vitest';
import type { Socket } from 'node:dgram';
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemResolve } from '../../src/fetch/http/resolve.js';

const folder = mkdtempSync(join(tmpdir(), 'orcrawl-dns-'));
const hostsFile = join(folder, 'hosts');
writeFileSync(hostsFile, '10.9.8.7 listed.example\n');
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const TYPE_A = 1;
const NAME_ERROR = 3;

/** Answers A questions from the zone with a time to live in seconds; every other question gets no records. */
async function dnsServer(zone: Record<string, [address: string, ttlSecs: number]>) {
  const socket = createSocket('udp4');
  sockets.push(socket);
  const asked: string[] = [];
  socket.on('message', (query, from) => {
    const labels: string[] = [];
    let at = 12;
    for (; query[at] !== 0; at += query[at]! + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
    const name = labels.join('.');
    const type = query.readUInt16BE(at + 1);
    asked.push(`${type} ${name}`);
    const record = zone[name];
    const answered = record && type === TYPE_A;
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (record ? 0 : NAME_ERROR), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(answered ? 1 : 0, 6);
    const answer = Buffer.alloc(answered ? 16 : 0);
    if (answered) {
      answer.writeUInt16BE(0xc00c, 0);
      answer.writeUInt16BE(TYPE_A, 2);
      answer.writeUInt16BE(1, 4);
      answer.writeUInt32BE(record[1], 6);
      answer.writeUInt16BE(4, 10);
      record[0].split('.').forEach((part, index) => (answer[12 + index] = Number(part)));
    }
    socket.send(Buffer.concat([head, query.subarray(12, at + 5), answer]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return { servers: [`127.0.0.1:${socket.address().port}`], asked };
}

describe('createSystemResolve', () => {
  it('asks DNS for both families and keeps the time to live', async () => {
    const { servers, asked } = await dnsServer({ 'one.example': ['93.184.216.34', 77] });
    const resolve = createSystemResolve({ servers, hostsFile });
    expect(await resolve('one.example')).toEqual({ addresses: ['93.184.216.34'], ttlMs: 77_000 });
    expect(asked.sort()).toEqual(['1 one.example', '28 one.example']);
  });

  it('believes the hosts file first', async () => {
    const { servers, asked } = await dnsServer({ 'listed.example': ['93.184.216.34', 77] });
    const resolve = createSystemResolve({ servers, hostsFile });
    expect(await resolve('LISTED.example.')).toEqual({ addresses: ['10.9.8.7'] });
    expect(asked).toEqual([]);
  });

  it('says when a name does not exist', async () => {
    const { servers } = await dnsServer({});
    const resolve = createSystemResolve({ servers, hostsFile: join(folder, 'missing') });
    await expect(resolve('nowhere.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });
});
