import { describe, expect, it } from 'vitest';
import { createTurns } from './turns.js';

const token = (name: string, concurrency = Infinity) => ({ name, concurrency, pagesPerDay: Infinity });
const never = new AbortController().signal;

describe('turns', () => {
  it('give no more than the limit at once, in all and per token, in order', async () => {
    const turns = createTurns(3);
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const take = (who: string, one = token('t')) =>
      turns.take(one, never, () => {
        begun.push(who);
        return new Promise<void>((resolve) => ends.set(who, resolve));
      });
    const small = token('small', 1);
    const all = [take('a', small), take('b', small), take('c'), take('d'), take('e')];
    await Promise.resolve();
    await new Promise((resume) => setImmediate(resume));
    expect(begun).toEqual(['a', 'c', 'd']);
    expect([turns.active, turns.waiting]).toEqual([3, 2]);
    ends.get('c')!();
    await new Promise((resume) => setImmediate(resume));
    expect(begun).toEqual(['a', 'c', 'd', 'e']);
    ends.get('a')!();
    await new Promise((resume) => setImmediate(resume));
    expect(begun.at(-1)).toBe('b');
    for (const end of ends.values()) end();
    await Promise.all(all);
    expect([turns.active, turns.waiting]).toEqual([0, 0]);
  });

  it('tell who comes when the line is full to come back', async () => {
    const turns = createTurns(1);
    const one = token('t');
    let finish: () => void = () => undefined;
    const first = turns.take(one, never, () => new Promise<void>((resolve) => (finish = resolve)));
    const others = Array.from({ length: 2_000 }, () =>
      turns.take(one, new AbortController().signal, () => Promise.resolve()),
    );
    await expect(turns.take(one, never, () => Promise.resolve())).rejects.toMatchObject({
      ...{ status: 429, code: 'TOO_MANY_REQUESTS', retryAfterSecs: 2 },
    });
    finish();
    await Promise.all([first, ...others]);
    expect([turns.active, turns.waiting]).toEqual([0, 0]);
  });

  it('forget who left the line', async () => {
    const turns = createTurns(1);
    let end = (): void => undefined;
    const first = turns.take(token('t'), never, () => new Promise<void>((resolve) => (end = resolve)));
    const leaving = new AbortController();
    const second = turns.take(token('t'), leaving.signal, async () => 'never');
    leaving.abort();
    await expect(second).rejects.toMatchObject({ code: 'ABORTED' });
    expect(turns.waiting).toBe(0);
    end();
    await first;
  });
});
