// Sessions against a real server and a real disk: cookies per identity, and state that survives the process.
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, get } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SessionPool } from '../../src/session/session-pool.js';
import type { Session } from '../../src/session/session.js';
import type { StateStore } from '../../src/session/session-pool.js';

let server: Server;
let url: string;
let folder: string;
let visitors = 0;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orcrawl-sessions-'));
  // Greets every newcomer with a number and recognises it by its cookie; a visitor called 3 is refused.
  server = createServer((request, response) => {
    const visitor = /visitor=(\d+)/.exec(request.headers.cookie ?? '')?.[1];
    response.setHeader('set-cookie', [`visitor=${visitor ?? ++visitors}; Path=/; HttpOnly`, 'theme=dark; Path=/other']);
    response.statusCode = visitor === '3' ? 403 : 200;
    response.end(JSON.stringify({ visitor: visitor ?? null, language: request.headers['accept-language'] }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  visitors = 0;
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

const storeIn = (dir: string): StateStore => ({
  get: async (key) => JSON.parse(await readFile(join(dir, `${key}.json`), 'utf8').catch(() => 'null')),
  set: (key, value) => writeFile(join(dir, `${key}.json`), JSON.stringify(value)),
});

async function visit(session: Session): Promise<{ visitor: string | null; language: string; statusCode: number }> {
  const request = get(url, { headers: { ...session.headerSet, cookie: session.getCookieString(url) } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  session.setCookiesFromResponse({ url, headers: response.headers });
  const statusCode = response.statusCode ?? 0;
  if (!session.retireOnBlockedStatusCodes(statusCode)) session.markGood();
  return { ...(JSON.parse(Buffer.concat(chunks).toString()) as { visitor: string; language: string }), statusCode };
}

describe('sessions', () => {
  it('are told apart by the server, each with its own cookies and headers', async () => {
    const pool = await SessionPool.open({ maxPoolSize: 2 });
    const [a, b] = [await pool.getSession(), await pool.getSession()];
    await visit(a);
    await visit(b);
    const again = [await visit(a), await visit(b), await visit(a)];
    expect(again.map(({ visitor }) => visitor)).toEqual(['1', '2', '1']);
    expect(again[0]!.language).toBe(again[2]!.language);
    await pool.teardown();
  });

  it('are the same to the server after a restart', async () => {
    const first = await SessionPool.open({}, { stateStore: storeIn(folder) });
    const session = await first.getSession();
    await visit(session);
    const { language } = await visit(session);
    await first.teardown();

    const second = await SessionPool.open({}, { stateStore: storeIn(folder) });
    const back = (await second.getSession(session.id))!;
    expect(await visit(back)).toEqual({ visitor: '1', language, statusCode: 200 });
    expect(back.usageCount).toBe(3);
    await second.teardown();
  });

  it('are retired when the server refuses them, also for the next run', async () => {
    const pool = await SessionPool.open({ maxPoolSize: 3 }, { stateStore: storeIn(folder) });
    const sessions = [await pool.getSession(), await pool.getSession(), await pool.getSession()];
    for (const session of sessions) await visit(session);
    for (const session of sessions) await visit(session);
    expect(sessions.map((session) => session.isUsable())).toEqual([true, true, false]);
    for (let turn = 0; turn < 20; turn++) expect(await pool.getSession()).not.toBe(sessions[2]);
    await pool.teardown();
    const next = await SessionPool.open({}, { stateStore: storeIn(folder) });
    expect(await next.getSession(sessions[2]!.id)).toBeUndefined();
    await next.teardown();
  });

  it('begin anew when the file of the last run is torn', async () => {
    const stateStore = storeIn(folder);
    await stateStore.set('SDK_SESSION_POOL_STATE', { sessions: [{ id: 'half' }] });
    const pool = await SessionPool.open({}, { stateStore });
    expect(pool.usableSessionsCount).toBe(0);
    expect((await visit(await pool.getSession())).statusCode).toBe(200);
    await pool.teardown();
  });
});
