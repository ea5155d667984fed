import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBoundedMap, createMemoryHosts, freshHost, packHost, unpackHost } from './hosts.js';

describe('host records', () => {
  it('are the same after packing', () => {
    const record = fc.record({
      agent: fc.string(),
      rules: fc.string(),
      readAtMs: fc.nat(),
      freshUntilMs: fc.nat(),
      tries: fc.nat(3),
      nextTryAtMs: fc.nat(),
      unreachableUntilMs: fc.nat(),
      failures: fc.nat(9),
      downUntilMs: fc.nat(),
      backoff: fc.nat(12),
    });
    fc.assert(fc.property(record, (one) => void expect(unpackHost(packHost(one))).toEqual(one)));
    expect(unpackHost(packHost(freshHost('bot')))).toEqual(freshHost('bot'));
  });

  it('are nothing when they cannot be read', () => {
    fc.assert(fc.property(fc.string(), (text) => void expect(unpackHost(text)).toBeUndefined()));
    expect(unpackHost('{"agent":"bot"}\nrules')).toBeUndefined();
    expect(unpackHost(packHost(freshHost('bot')).slice(0, -3))).toBeUndefined();
  });
});

describe('hosts in memory', () => {
  it('keep the records that were used last within their bytes', async () => {
    const hosts = createMemoryHosts({ maxBytes: 10_000 });
    for (let i = 0; i < 100; i++) {
      hosts.put(`https://h${i}`, freshHost('bot'));
      await hosts.get('https://h0');
    }
    expect(await hosts.get('https://h0')).toBeDefined();
    expect(await hosts.get('https://h1')).toBeUndefined();
    expect(await hosts.get('https://h99')).toBeDefined();
  });

  it('are claimed by one until the time is over or the record is there', async () => {
    let nowMs = 0;
    const hosts = createMemoryHosts({ now: () => nowMs });
    expect(await hosts.claim('a', 100)).toBe(true);
    expect(await hosts.claim('a', 100)).toBe(false);
    nowMs = 100;
    expect(await hosts.claim('a', 100)).toBe(true);
    hosts.put('a', freshHost('bot'));
    expect(await hosts.claim('a', 100)).toBe(true);
  });

  it('never hold more than their bytes', () => {
    const map = createBoundedMap<number>(100);
    for (let i = 0; i < 50; i++) map.set(String(i % 7), i, 10 + (i % 40));
    expect(map.bytes).toBeLessThanOrEqual(100);
  });
});
