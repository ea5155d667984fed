// The synthetic web in its own process, and the test proxy.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get as httpGet } from 'node:http';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { Simweb, startProxy, startSimwebProcess } from '../../src/testing/index.js';
import { TYPESCRIPT } from '../support/processes.js';

const open: { close(): Promise<void> }[] = [];
const keep = <T extends { close(): Promise<void> }>(thing: T): T => {
  open.push(thing);
  return thing;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map((thing) => thing.close()));
});

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('a synthetic web in its own process', () => {
  it('serves the URLs made here and answers for its log', async () => {
    const web = keep(await startSimwebProcess({ hosts: 3, pagesPerHost: 20, seed: 9 }));
    expect(web.pid).not.toBe(process.pid);
    for (const url of web.seeds()) expect((await fetch(url)).status).toBe(200);
    const page = await (await fetch(web.url(1, 7))).text();
    expect(await web.served()).toBe(4);
    expect(await web.served(1)).toBe(2);
    expect(await web.requests({ host: 1 })).toMatchObject([{ page: 0 }, { page: 7, status: 200 }]);
    expect((await web.gaps(1)).startToStartMs).toBeGreaterThan(0);
    expect((await web.gapsByHost()).get(2)).toMatchObject({ requests: 1 });
    expect(await web.maxInWindow(60_000)).toBe(4);
    expect([...(await web.statuses())]).toEqual([[200, 4]]);
    await web.serve('/mine', { body: 'mine' });
    expect(await (await fetch(web.url(0, '/mine'))).text()).toBe('mine');
    await web.touch(1, 7);
    expect(await (await fetch(web.url(1, 7))).text()).not.toBe(page);
    await web.reset();
    expect(await web.served()).toBe(0);
    expect((await web.cpuUsage()).user).toBeGreaterThan(0);
  });

  it('ends at close, and calls after that are refused', async () => {
    const web = keep(await startSimwebProcess());
    await web.close();
    expect(isAlive(web.pid)).toBe(false);
    await expect(web.served()).rejects.toThrow(/has ended/);
  });

  it('refuses wrong options and a taken port', async () => {
    await expect(startSimwebProcess({ hosts: -1 })).rejects.toMatchObject({ code: 'OPTION_INVALID' });
    const web = keep(await Simweb.start());
    await expect(startSimwebProcess({ port: web.port })).rejects.toThrow(/EADDRINUSE/);
  });

  it('ends when the process that started it is killed', async () => {
    const entry = fileURLToPath(new URL('../../src/testing/index.ts', import.meta.url));
    const script = `
      const { startSimwebProcess } = await import(${JSON.stringify(entry)});
      const web = await startSimwebProcess();
      console.log(web.pid);
      setInterval(() => {}, 1000);
    `;
    const args = ['--import', TYPESCRIPT, '--input-type=module', '-e', script];
    const parent = spawn(process.execPath, args, { cwd: fileURLToPath(new URL('../..', import.meta.url)) });
    const [printed] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(printed.toString());
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  });
});

/** Sends a raw request to the proxy and reads until it closes. */
async function through(port: number, lines: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return readAll(socket);
}

async function readAll(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

describe('the test proxy', () => {
  it('forwards absolute-form requests and logs them', async () => {
    const web = keep(await Simweb.start());
    const proxy = keep(await startProxy());
    const body = await new Promise<string>((resolve, reject) => {
      httpGet(
        { host: '127.0.0.1', port: proxy.port, path: web.url(0, '/_/echo?a=1'), headers: { 'x-a': '1', te: 'x' } },
        (res) => res.setEncoding('utf8').on('data', resolve),
      ).on('error', reject);
    });
    expect(JSON.parse(body)).toMatchObject({
      url: '/_/echo?a=1',
      headers: { 'x-a': '1', host: new URL(web.url()).host },
    });
    expect(body).not.toContain('"te"');
    expect(proxy.requests).toEqual([
      { method: 'GET', target: web.url(0, '/_/echo?a=1'), status: 200, username: undefined },
    ]);
  });

  it('tunnels by CONNECT', async () => {
    const web = keep(await Simweb.start());
    const proxy = keep(await startProxy());
    const { host } = new URL(web.url());
    const reply = await through(proxy.port, [
      `CONNECT ${host} HTTP/1.1`,
      `host: ${host}`,
      '',
      'GET /_/json HTTP/1.1',
      'host: x',
      'connection: close',
    ]);
    expect(reply).toMatch(/^HTTP\/1.1 200 Connection Established\r\n\r\nHTTP\/1.1 200 OK/);
    expect(reply).toContain('"simweb"');
    expect(proxy.requests).toEqual([{ method: 'CONNECT', target: host, status: 200, username: undefined }]);
  });

  it('demands credentials when told to', async () => {
    const web = keep(await Simweb.start());
    const proxy = keep(await startProxy({ auth: { username: 'ann', password: 'p:w' } }));
    expect(proxy.url).toBe(`http://ann:p%3Aw@127.0.0.1:${proxy.port}`);
    const get = `GET ${web.url()} HTTP/1.1`;
    const good = `proxy-authorization: Basic ${Buffer.from('ann:p:w').toString('base64')}`;
    const bad = `proxy-authorization: Basic ${Buffer.from('bob:p:w').toString('base64')}`;
    for (const [header, status] of [
      [good, 200],
      [bad, 407],
      ['x: y', 407],
    ] as const) {
      expect(await through(proxy.port, [get, 'host: x', 'connection: close', header])).toMatch(`HTTP/1.1 ${status}`);
    }
    expect(await through(proxy.port, ['CONNECT 127.0.0.1:9 HTTP/1.1', 'host: x'])).toMatch('HTTP/1.1 407');
    expect(proxy.requests.map(({ status, username }) => [status, username])).toEqual([
      [200, 'ann'],
      [407, 'bob'],
      [407, undefined],
      [407, undefined],
    ]);
    expect(web.requests()[0]?.headers.authorization).toBeUndefined();
  });

  it('answers 502 for a target that cannot be reached, and fails as told', async () => {
    const web = keep(await Simweb.start({ hosts: 2, overrides: { 1: { fault: 'refuse' } } }));
    const proxy = keep(await startProxy({ resolve: (name) => (name === 'site.test' ? '127.0.0.1' : undefined) }));
    const lines = (url: string): string[] => [`GET ${url} HTTP/1.1`, 'host: x', 'connection: close'];
    expect(await through(proxy.port, lines(web.url(1)))).toMatch('HTTP/1.1 502');
    expect(await through(proxy.port, [`CONNECT ${new URL(web.url(1)).host} HTTP/1.1`, 'host: x'])).toMatch(
      'HTTP/1.1 502',
    );
    expect(await through(proxy.port, lines(`http://site.test:${web.port}/`))).toMatch('HTTP/1.1 200');
    expect(await through(proxy.port, lines('/not-absolute'))).toMatch('HTTP/1.1 400');
    const gateway = keep(await startProxy({ fault: 'bad-gateway' }));
    expect(await through(gateway.port, lines(web.url()))).toMatch('HTTP/1.1 502');
    const resetting = keep(await startProxy({ fault: 'reset' }));
    await expect(through(resetting.port, lines(web.url()))).rejects.toThrow(/ECONNRESET|EPIPE/);
    await expect(startProxy({ user: 'x' } as object)).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });
});
