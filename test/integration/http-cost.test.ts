// What the engine adds to a fetch: CPU per page against a bare undici dispatch loop with one gunzipSync, in the
// same run, the server in a process of its own. Prints both; fails when the engine costs 1.3 times the loop.
import { afterEach, expect, it } from 'vitest';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { gunzipSync } from 'node:zlib';
import { Pool } from 'undici';
import { fixtures, order } from './http-fixtures.js';

const { engine, closeAll } = fixtures();
afterEach(closeAll);

const SERVER = `
const { createServer } = require('node:http');
const { gzipSync } = require('node:zlib');
let text = '', state = 1;
for (let index = 0; index < 2600; index++) {
  state = (state * 1103515245 + 12345) & 0x7fffffff;
  text += '<p class="x">' + (state % 300000).toString(36) + ' ';
}
const body = gzipSync(text);
const headers = { 'content-type': 'text/html', 'content-encoding': 'gzip', 'content-length': body.length, vary: '*' };
const server = createServer((request, response) => response.writeHead(200, headers).end(body));
server.keepAliveTimeout = 60000;
server.listen(0, '127.0.0.1', () => console.log(server.address().port, body.length, text.length));
process.stdin.resume().on('end', () => process.exit());
`;

const PAGES = 1_000;
const ROUNDS = 5;
const CONCURRENCY = 20;

it('costs no more than 1.3 times a bare dispatch loop', async () => {
  const child = spawn(process.execPath, ['-e', SERVER], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const [port, wireBytes, plainBytes] = line.toString().trim().split(' ').map(Number);
    const origin = `http://127.0.0.1:${port}`;
    const headers = { 'user-agent': 'orcrawl-test', accept: 'text/html,*/*', 'accept-language': 'en' };
    const http = engine({ allowPrivateAddresses: ['127.0.0.0/8'] });
    const pool = new Pool(origin, { connections: CONCURRENCY, headersTimeout: 0, bodyTimeout: 0 });
    const bare = (path: string) =>
      new Promise<number>((resolve, reject) => {
        const chunks: Buffer[] = [];
        pool.dispatch(
          { path, method: 'GET', headers: { ...headers, 'accept-encoding': 'gzip' } },
          {
            onRequestStart: () => undefined,
            onResponseData: (_controller, chunk) => void chunks.push(chunk),
            onResponseEnd: () => resolve(gunzipSync(Buffer.concat(chunks)).length),
            onResponseError: (_controller, error) => reject(error),
          },
        );
      });
    const ours = (path: string) => http.visit(order(origin + path, { headers }), async ({ body }) => body.length);

    const cpuMicros = async (fetchOne: (path: string) => Promise<number>) => {
      const before = process.cpuUsage();
      let next = 0;
      const lane = async () => {
        while (next < PAGES) expect(await fetchOne(`/${next++}`)).toBe(plainBytes);
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, lane));
      const { user, system } = process.cpuUsage(before);
      return (user + system) / PAGES;
    };
    await cpuMicros(bare);
    await cpuMicros(ours);
    const ofBare: number[] = [];
    const ofOurs: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      ofBare.push(await cpuMicros(bare));
      ofOurs.push(await cpuMicros(ours));
    }
    await pool.close();
    const [bareMicros, ourMicros] = [Math.min(...ofBare), Math.min(...ofOurs)];
    const ratio = ourMicros / bareMicros;
    process.stdout.write(
      `fetch of ${wireBytes} B gzip (${plainBytes} B): bare loop ${bareMicros.toFixed(0)} µs, ` +
        `engine ${ourMicros.toFixed(0)} µs CPU, ratio ${ratio.toFixed(2)}\n`,
    );
    expect(ratio).toBeLessThanOrEqual(1.3);
  } finally {
    child.stdin.end();
    child.kill();
  }
});
