// Crawlee's Session and SessionPool by themselves, as `orcrawl/crawlee` has them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  BasicCrawler,
  Configuration,
  EventType,
  KeyValueStore,
  Request,
  RequestList,
  Session,
  SessionPool,
} from '../../src/crawlee/entry.js';
import { SessionPool as OwnSessionPool } from '../../src/index.js';

/** What Crawlee keeps protected and its users' subclasses reach for. */
interface Inside {
  sessions: Session[];
  sessionMap: Map<string, Session>;
  persistStateKey: string;
  isInitialized: boolean;
  _pickSession(): Session;
}
const inside = (pool: SessionPool): Inside => pool as unknown as Inside;

let folder: string;
let config: Configuration;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crawlee-sessions-'));
  config = new Configuration({ storageClientOptions: { localDataDirectory: folder } });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('Session', () => {
  it('needs a pool', () => {
    expect(() => new Session({})).toThrow('Expected property `sessionPool` to be of type `object`');
    expect(() => new Session({ sessionPool: {} as never })).toThrow('to be of type `EventEmitter`');
  });

  it('reads the underscored fields that subclasses change', () => {
    const session = new Session({ sessionPool: new SessionPool({}, config) });
    const fields = session as unknown as { _errorScore: number; _maxUsageCount: number };
    fields._errorScore = 1;
    session.markGood();
    expect([session.errorScore, session.usageCount]).toEqual([0.5, 1]);
    fields._maxUsageCount = 1;
    expect([session.maxUsageCount, session.isMaxUsageCountReached(), session.isUsable()]).toEqual([1, true, false]);
  });

  it('retires itself at the limit of errors and tells the pool once', () => {
    const sessionPool = new SessionPool({}, config);
    const retired: unknown[] = [];
    sessionPool.on('sessionRetired', (session) => retired.push(session));
    const session = new Session({ sessionPool, maxErrorScore: 1 });
    session.markBad();
    expect([session.errorScore, session.usageCount, session.isUsable()]).toEqual([2, 2, false]);
    expect(retired).toEqual([session]);
  });

  it('gives cookies without an end the end of the session', () => {
    const session = new Session({ sessionPool: new SessionPool({}, config) });
    session.setCookies([{ name: 'a', value: '1' }], 'https://www.example.com');
    expect(session.getCookies('https://www.example.com')[0]).toMatchObject({
      name: 'a',
      expires: session.expiresAt.getTime() / 1_000,
    });
  });
});

describe('SessionPool', () => {
  it('refuses to be used before it is initialized', async () => {
    const pool = new SessionPool({}, config);
    await expect(pool.getSession()).rejects.toThrow('SessionPool is not initialized');
    expect(() => new SessionPool({ nonsense: 1 } as never, config)).toThrow('nonsense');
  });

  it('keeps its sessions in a list, by id, up to its size', async () => {
    const pool = await SessionPool.open({ maxPoolSize: 2, persistenceOptions: { enable: false } }, config);
    await Promise.all(Array.from({ length: 5 }, () => pool.getSession()));
    const { sessions, sessionMap } = inside(pool);
    expect(sessions).toHaveLength(2);
    expect(sessionMap.get(sessions[0]!.id)).toBe(sessions[0]);
    sessions[0]!.retire();
    expect([pool.usableSessionsCount, pool.retiredSessionsCount]).toEqual([1, 1]);
    inside(pool)._pickSession = () => sessions[0]!;
    expect(await pool.getSession()).not.toBe(sessions[0]);
    await pool.addSession({ id: 'own' });
    await expect(pool.addSession({ id: 'own' })).rejects.toThrow("'own' as it already exists");
    await pool.teardown();
  });

  it('is saved when the event manager says so, and found again without what was retired', async () => {
    const options = { persistStateKey: 'STATE' };
    const pool = await SessionPool.open(options, config);
    const [first, second] = [await pool.getSession(), await pool.getSession()];
    second.retire();
    const events = config.getEventManager();
    events.emit(EventType.PERSIST_STATE);
    await events.waitForAllListenersToComplete();
    const store = await KeyValueStore.open(null, { config });
    expect(await store.getValue('STATE')).toMatchObject({ usableSessionsCount: 1, retiredSessionsCount: 1 });
    const again = await SessionPool.open(options, config);
    expect(inside(again).sessions.map(({ id }) => id)).toEqual([first.id]);
    await Promise.all([pool.teardown(), again.teardown()]);
    await again.resetStore();
    expect(await store.getValue('STATE')).toBeNull();
  });

  it('counts the sessions and the pool of a crawler as its own', async () => {
    const pool = await OwnSessionPool.open();
    expect(pool).toBeInstanceOf(SessionPool);
    expect(await pool.getSession()).toBeInstanceOf(Session);
    await pool.teardown();
  });
});

describe('RequestList', () => {
  it('shows what it has, what is under way and what was given back', async () => {
    const urls = ['http://example.com/1', 'http://example.com/2'];
    const list = await RequestList.open(null, urls);
    expect(list.requests.map(({ url }) => url)).toEqual(urls);
    const [first, second] = [await list.fetchNextRequest(), await list.fetchNextRequest()];
    await list.reclaimRequest(first!);
    expect([[...list.inProgress].sort(), [...list.reclaimed]]).toEqual([urls, [urls[0]]]);
    await list.markRequestHandled(second!);
    expect([...list.inProgress]).toEqual([urls[0]]);
  });
});

describe('Request', () => {
  it('computes the key of a request without making one', () => {
    const parts = { url: 'http://Example.com/?b=1&a=2&utm_source=x#part', method: 'POST' as const, payload: 'abc' };
    expect(Request.computeUniqueKey(parts)).toBe(new Request(parts).uniqueKey);
    expect(Request.computeUniqueKey({ ...parts, useExtendedUniqueKey: true })).toBe(
      `POST(${Request.hashPayload('abc')}):http://example.com?a=2&b=1`,
    );
    expect(Request.hashPayload(Buffer.from('abc'))).toBe('ungWv48B');
  });
});

describe('the pool of a crawler', () => {
  it('shows its sessions', async () => {
    const crawler = new BasicCrawler({ requestHandler: () => undefined }, config);
    await crawler.run(['http://example.com/sessions-1', 'http://example.com/sessions-2']);
    expect(crawler.sessionPool!.sessions).toHaveLength(2);
    expect(crawler.sessionPool!.sessions[0]).toBeInstanceOf(Session);
  });
});
