// Unit tests of the pool of sessions, with a store in memory and fake timers.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Session } from './session.js';
import { SessionPool } from './session-pool.js';
import type { SessionPoolOptions, StateStore } from './session-pool.js';

const KEY = 'SDK_SESSION_POOL_STATE';

/** Keeps JSON, as a store on disk would. */
function createStore() {
  const records = new Map<string, string>();
  const store: StateStore & { records: Map<string, string>; writes: number; fail: boolean } = {
    records,
    writes: 0,
    fail: false,
    get: async (key) => (records.has(key) ? JSON.parse(records.get(key)!) : null),
    set: async (key, value) => {
      store.writes++;
      if (store.fail) throw new Error('disk full');
      records.set(key, JSON.stringify(value));
    },
  };
  return store;
}

describe('SessionPool', () => {
  it('makes new sessions while there is room, then picks usable ones at random', async () => {
    const pool = new SessionPool({ maxPoolSize: 3 });
    const first = await Promise.all([pool.getSession(), pool.getSession(), pool.getSession()]);
    expect(new Set(first).size).toBe(3);
    const later = new Set(await Promise.all(Array.from({ length: 100 }, () => pool.getSession())));
    expect([...later].every((session) => first.includes(session))).toBe(true);
    expect(later.size).toBe(3);
  });

  it('never gives an unusable session and replaces it', async () => {
    const pool = new SessionPool({ maxPoolSize: 5, sessionOptions: { maxUsageCount: 3 } });
    for (let turn = 0; turn < 500; turn++) {
      const session = await pool.getSession();
      expect(session.isUsable()).toBe(true);
      if (turn % 7 === 0) session.retire();
      else session.markGood();
    }
    expect(pool.usableSessionsCount + pool.retiredSessionsCount).toBeLessThanOrEqual(5);
  });

  it('gives the session of an id while it is usable', async () => {
    const pool = new SessionPool();
    const session = await pool.getSession();
    expect(await pool.getSession(session.id)).toBe(session);
    expect(await pool.getSession('unknown')).toBeUndefined();
    session.retire();
    expect(await pool.getSession(session.id)).toBeUndefined();
  });

  it('adds sessions with options of their own, and refuses an id twice', async () => {
    const pool = new SessionPool({ sessionOptions: { maxUsageCount: 9, userData: { shared: 1 } } });
    await pool.addSession({ id: 'login', maxErrorScore: 1 });
    const session = (await pool.getSession('login'))!;
    expect(session).toMatchObject({ maxUsageCount: 9, maxErrorScore: 1, userData: { shared: 1 } });
    await expect(pool.addSession({ id: 'login' })).rejects.toThrow(/session "login" already exists/);
    const other = await pool.getSession();
    other.userData['mine'] = true;
    expect(session.userData).toEqual({ shared: 1 });
  });

  it('makes sessions by createSessionFunction, never more than maxPoolSize at once', async () => {
    let made = 0;
    const createSessionFunction: SessionPoolOptions['createSessionFunction'] = async (sessionPool) => {
      made++;
      await Promise.resolve();
      return new Session({ sessionPool, userData: { number: made } });
    };
    const pool = new SessionPool({ maxPoolSize: 2, createSessionFunction });
    await Promise.all([pool.getSession(), pool.getSession()]);
    for (let turn = 0; turn < 10; turn++) expect((await pool.getSession()).userData['number']).toBeLessThanOrEqual(2);
    expect(made).toBe(2);
  });

  it('passes on the error of createSessionFunction and keeps the place free', async () => {
    let broken = true;
    const createSessionFunction: SessionPoolOptions['createSessionFunction'] = (sessionPool) => {
      if (broken) throw new Error('log-in failed');
      return new Session({ sessionPool });
    };
    const pool = new SessionPool({ maxPoolSize: 1, createSessionFunction });
    await expect(pool.getSession()).rejects.toThrow('log-in failed');
    broken = false;
    expect((await pool.getSession()).isUsable()).toBe(true);
  });

  it('tells its sessions which statuses block, and its listeners who retired', async () => {
    const pool = new SessionPool({ blockedStatusCodes: [503] });
    const retired: Session[] = [];
    pool.on('sessionRetired', (session) => retired.push(session));
    const session = await pool.getSession();
    expect(session.retireOnBlockedStatusCodes(403)).toBe(false);
    expect(session.retireOnBlockedStatusCodes(503)).toBe(true);
    expect(retired).toEqual([session]);
  });

  it.each([
    [{ maxPoolSize: 0 }, /"maxPoolSize"/],
    [{ blockedStatusCodes: ['403'] }, /"blockedStatusCodes"/],
    [{ sessionOptions: { maxAge: 5 } }, /sessionOptions has no option "maxAge"/],
    [{ poolSize: 5 }, /no option "poolSize"/],
  ])('refuses %j by name', async (options, message) => {
    await expect(SessionPool.open(options as SessionPoolOptions)).rejects.toThrow(
      expect.objectContaining({ code: 'OPTION_INVALID', message: expect.stringMatching(message) }),
    );
  });
});

describe('the state of a SessionPool', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('comes back in the next run, without the sessions that retired', async () => {
    const stateStore = createStore();
    const pool = await SessionPool.open({ maxPoolSize: 3 }, { stateStore });
    const [kept, , gone] = await Promise.all([pool.getSession(), pool.getSession(), pool.getSession()]);
    kept.setCookie('a=1', 'http://a.example/');
    kept.userData['token'] = 'x';
    kept.markGood();
    gone.retire();
    await pool.teardown();

    const next = await SessionPool.open({ maxPoolSize: 3 }, { stateStore });
    expect(next.usableSessionsCount).toBe(2);
    const back = (await next.getSession(kept.id))!;
    expect(back.getState()).toEqual(kept.getState());
    expect(back.getCookieString('http://a.example/')).toBe('a=1');
    expect(await next.getSession(gone.id)).toBeUndefined();
    back.markGood();
    await next.teardown();
    expect(JSON.parse(stateStore.records.get(KEY)!).sessions).toHaveLength(2);
  });

  it('is written every minute, but only when something changed', async () => {
    const stateStore = createStore();
    const pool = await SessionPool.open({}, { stateStore });
    await vi.advanceTimersByTimeAsync(120_000);
    expect(stateStore.writes).toBe(0);
    const session = await pool.getSession();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(stateStore.writes).toBe(1);
    await vi.advanceTimersByTimeAsync(180_000);
    expect(stateStore.writes).toBe(1);
    session.markBad();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(stateStore.writes).toBe(2);
    await pool.teardown();
    expect(stateStore.writes).toBe(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is written again after a failure, which is logged and does no harm', async () => {
    const stateStore = createStore();
    const warnings: string[] = [];
    const log = { debug: () => {}, warning: (message: string) => warnings.push(message) };
    const pool = await SessionPool.open({ log }, { stateStore });
    await pool.getSession();
    stateStore.fail = true;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(warnings).toHaveLength(1);
    await expect(pool.persistState()).rejects.toThrow('disk full');
    stateStore.fail = false;
    await pool.teardown();
    expect(stateStore.records.has(KEY)).toBe(true);
  });

  it('is left alone with persistenceOptions { enable: false } and without a store', async () => {
    const stateStore = createStore();
    for (const pool of [
      await SessionPool.open({ persistenceOptions: { enable: false } }, { stateStore }),
      await SessionPool.open(),
    ]) {
      await pool.getSession();
      await pool.persistState();
      await pool.teardown();
    }
    expect(stateStore.writes).toBe(0);
  });

  it.each([
    ['no object', 7],
    ['no list', { sessions: 'x' }],
    ['entries that are no sessions', { sessions: [null, 1, {}, { id: 'x' }] }],
    ['a session twice', { sessions: Array(2).fill(new Session({ id: 'twin' }).getState()) }],
  ])('is taken for what it is worth when it holds %s', async (_, state) => {
    const stateStore = createStore();
    await stateStore.set('MY_KEY', state);
    const pool = await SessionPool.open({ persistStateKey: 'MY_KEY' }, { stateStore });
    expect(pool.usableSessionsCount).toBeLessThanOrEqual(1);
    expect((await pool.getSession()).isUsable()).toBe(true);
    await pool.teardown();
  });

  it('drops sessions that expired in between', async () => {
    const stateStore = createStore();
    const pool = await SessionPool.open({ sessionOptions: { maxAgeSecs: 10 } }, { stateStore });
    await pool.getSession();
    await pool.teardown();
    vi.setSystemTime(Date.now() + 11_000);
    const next = await SessionPool.open({}, { stateStore });
    expect(next.usableSessionsCount).toBe(0);
    await next.teardown();
  });
});
