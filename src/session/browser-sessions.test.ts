import { describe, expect, it } from 'vitest';
import { createBrowserSessions } from './browser-sessions.js';

function world(ttlMs = 1_000_000, now?: () => number, maxPages?: number) {
  const log: string[] = [];
  let opened = 0;
  const sessions = createBrowserSessions<{ n: number; isAlive: boolean }>({
    open: async (id) => {
      log.push(`open ${id}`);
      return { n: ++opened, isAlive: true };
    },
    close: async (page, id) => {
      page.isAlive = false;
      log.push(`close ${id}`);
    },
    isAlive: (page) => page.isAlive,
    ttlMs,
    now,
    maxPages,
  });
  return { sessions, log };
}
const any = { mustExist: false };

describe('browser sessions', () => {
  it('run the calls of one session one after another, and those of two side by side', async () => {
    const { sessions } = world();
    const order: string[] = [];
    const call = (id: string, name: string) =>
      sessions.use(id, any, async () => {
        order.push(`${name} begins`);
        await Promise.resolve();
        await Promise.resolve();
        order.push(`${name} ends`);
      });
    await Promise.all([call('a', 'a1'), call('a', 'a2'), call('b', 'b1')]);
    expect(order.indexOf('a2 begins')).toBeGreaterThan(order.indexOf('a1 ends'));
    expect(order.indexOf('b1 begins')).toBeLessThan(order.indexOf('a1 ends'));
    await sessions.close();
  });

  it('keep to their limit: the one idle longest gives way, and while all are busy a new one waits', async () => {
    let clock = 0;
    const { sessions, log } = world(undefined, () => ++clock, 2);
    const brief = async () => undefined;
    await sessions.use('a', any, brief);
    await sessions.use('b', any, brief);
    await sessions.use('c', any, brief);
    expect(log).toEqual(['open a', 'open b', 'close a', 'open c']);
    let endB!: () => void;
    let endC!: () => void;
    const b = sessions.use('b', any, () => new Promise<void>((resolve) => (endB = resolve)));
    const c = sessions.use('c', any, () => new Promise<void>((resolve) => (endC = resolve)));
    const leaving = new AbortController();
    const impatient = sessions.use('e', { ...any, signal: leaving.signal }, brief);
    leaving.abort();
    await expect(impatient).rejects.toMatchObject({ code: 'ABORTED' });
    const d = sessions.use('d', any, brief);
    await new Promise((resolve) => setImmediate(resolve));
    expect(log).toHaveLength(4);
    endC();
    await Promise.all([c, d]);
    expect(log.slice(4)).toEqual(['close c', 'open d']);
    endB();
    await b;
    await sessions.close();
  });

  it('keep one page for all calls and give it back once', async () => {
    const { sessions, log } = world();
    const pages = [
      await sessions.use('a', any, async (page) => page.n),
      await sessions.use('a', any, async (p) => p.n),
    ];
    expect(pages).toEqual([1, 1]);
    expect(await sessions.kill('a')).toBe(true);
    expect(await sessions.kill('a')).toBe(false);
    expect(log).toEqual(['open a', 'close a']);
    await sessions.close();
  });

  it('refuse a session that must exist and does not, also after a kill or a crash', async () => {
    const { sessions } = world();
    const must = { mustExist: true };
    await expect(sessions.use('a', must, async () => 1)).rejects.toMatchObject({ code: 'SESSION_UNKNOWN' });
    await sessions.use('a', any, async (page) => void (page.isAlive = false));
    await expect(sessions.use('a', must, async () => 1)).rejects.toMatchObject({ code: 'SESSION_UNKNOWN' });
    expect(await sessions.use('a', any, async (page) => page.n)).toBe(2);
    await sessions.close();
  });

  it('fail calls that wait when the session is killed, and leave the line in order when a caller gives up', async () => {
    const { sessions } = world();
    let release!: () => void;
    const running = sessions.use('a', any, () => new Promise<void>((resolve) => (release = resolve)));
    const impatient = new AbortController();
    const gaveUp = sessions.use('a', { ...any, signal: impatient.signal }, async () => 'never');
    const waiting = sessions.use('a', any, async () => 'late');
    impatient.abort();
    await expect(gaveUp).rejects.toMatchObject({ code: 'ABORTED' });
    await sessions.kill('a');
    release();
    await running;
    await expect(waiting).rejects.toMatchObject({ code: 'SESSION_UNKNOWN' });
    await sessions.close();
  });

  it('end when nobody called them for their time, and not while a call runs', async () => {
    let nowMs = 0;
    const { sessions, log } = world(5, () => nowMs);
    const closed = async () => {
      while (!log.some((line) => line.startsWith('close'))) await new Promise((resolve) => setTimeout(resolve, 1));
    };
    let release!: () => void;
    const running = sessions.use('busy', any, () => new Promise<void>((resolve) => (release = resolve)));
    await sessions.use('idle', any, async () => undefined);
    nowMs = 4;
    await sessions.use('used', any, async () => undefined);
    nowMs = 5;
    await closed();
    expect(log.filter((line) => line.startsWith('close'))).toEqual(['close idle']);
    expect(sessions.list()).toEqual(['busy', 'used']);
    await expect(sessions.use('idle', { mustExist: true }, async () => 1)).rejects.toMatchObject({
      code: 'SESSION_UNKNOWN',
    });
    release();
    await running;
    await sessions.close();
  });

  it('names sessions, lists them, and closes all in the end', async () => {
    const { sessions, log } = world();
    const id = sessions.create();
    await sessions.use(id, { mustExist: false }, async () => undefined);
    expect(sessions.list()).toEqual([id]);
    await sessions.close();
    expect(sessions.list()).toEqual([]);
    expect(log).toEqual([`open ${id}`, `close ${id}`]);
  });
});
