import { describe, expect, it } from 'vitest';
import type { ResolvedName } from './dns.js';
import { createNameCache } from './dns.js';

function scripted(answers: (ResolvedName | Error)[], maxNames?: number) {
  let nowMs = 0;
  const asked: string[] = [];
  const cache = createNameCache({
    now: () => nowMs,
    maxNames,
    resolve: async (hostname) => {
      asked.push(hostname);
      const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  return { cache, asked, pass: (ms: number) => (nowMs += ms) };
}

describe('createNameCache', () => {
  it('asks once for a name that many want at the same time', async () => {
    const { cache, asked } = scripted([{ addresses: ['1.1.1.1'] }]);
    const answers = await Promise.all([cache.addresses('a'), cache.addresses('a'), cache.addresses('a')]);
    expect(answers).toEqual([['1.1.1.1'], ['1.1.1.1'], ['1.1.1.1']]);
    expect(asked).toEqual(['a']);
  });

  it('asks again when the time to live has passed', async () => {
    const { cache, asked, pass } = scripted([{ addresses: ['1.1.1.1'], ttlMs: 30_000 }, { addresses: ['2.2.2.2'] }]);
    await cache.addresses('a');
    pass(29_999);
    expect(await cache.addresses('a')).toEqual(['1.1.1.1']);
    pass(1);
    expect(await cache.addresses('a')).toEqual(['2.2.2.2']);
    expect(asked).toHaveLength(2);
  });

  it('keeps an answer for at least ten seconds and at most ten minutes', async () => {
    const { cache, asked, pass } = scripted([
      { addresses: ['1.1.1.1'], ttlMs: 0 },
      { addresses: ['1.1.1.1'], ttlMs: 1e9 },
    ]);
    await cache.addresses('a');
    pass(9_999);
    await cache.addresses('a');
    expect(asked).toHaveLength(1);
    pass(1);
    await cache.addresses('a');
    pass(600_000);
    await cache.addresses('a');
    expect(asked).toHaveLength(3);
  });

  it('remembers a failure for a moment only', async () => {
    const failure = Object.assign(new Error('no'), { code: 'ENOTFOUND' });
    const { cache, asked, pass } = scripted([failure, { addresses: ['1.1.1.1'] }]);
    await expect(cache.addresses('a')).rejects.toBe(failure);
    await expect(cache.addresses('a')).rejects.toBe(failure);
    expect(asked).toHaveLength(1);
    pass(5_000);
    expect(await cache.addresses('a')).toEqual(['1.1.1.1']);
  });

  it('takes an empty answer for a failure', async () => {
    const { cache } = scripted([{ addresses: [] }]);
    await expect(cache.addresses('a')).rejects.toMatchObject({ code: 'ENODATA' });
  });

  it('never holds more names than its limit', async () => {
    const { cache } = scripted([{ addresses: ['1.1.1.1'] }], 3);
    for (const name of ['a', 'b', 'c', 'd', 'e']) await cache.addresses(name);
    expect(cache.size).toBe(3);
  });

  it('forgets a name on request', async () => {
    const { cache, asked } = scripted([{ addresses: ['1.1.1.1'] }]);
    await cache.addresses('a');
    cache.forget('a');
    await cache.addresses('a');
    expect(asked).toHaveLength(2);
  });
});
