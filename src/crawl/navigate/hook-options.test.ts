import { describe, expect, it } from 'vitest';
import { createHookOptionsReader } from './hook-options.js';

const given = { headers: {}, method: 'GET', timeoutMs: 30_000 };
const URL = 'https://example.com/?a=1';

describe('the options that navigation hooks may change', () => {
  const warned: string[] = [];
  const { read } = createHookOptionsReader();
  const reading = (chosen: object) => read({ ...given, ...chosen }, URL, (message) => warned.push(message));

  it('are taken as got means them', () => {
    expect(reading({})).toEqual({ url: URL, timeoutMs: 30_000 });
    expect(reading({ timeout: 500 }).timeoutMs).toBe(500);
    expect(reading({ timeout: { request: 700 } }).timeoutMs).toBe(700);
    expect(reading({ timeout: { connect: 1 } }).timeoutMs).toBe(30_000);
    expect(reading({ searchParams: { q: 'x y', n: 1 } }).url).toBe('https://example.com/?a=1&q=x+y&n=1');
    expect(reading({ searchParams: new URLSearchParams('b=2') }).url).toBe('https://example.com/?a=1&b=2');
    expect(() => reading({ timeout: { request: 0 } })).toThrow(/milliseconds above 0/);
    expect(warned).toEqual([]);
  });

  it('are told of once when they have no effect', () => {
    for (let visit = 0; visit < 3; visit++) reading({ decompress: false, http2: true } as never);
    expect(warned).toHaveLength(2);
    expect(warned[0]).toMatch(/"decompress"/);
  });
});
