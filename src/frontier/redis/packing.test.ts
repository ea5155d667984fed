import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../request/fingerprint.js';
import type { QueueEntry } from '../frontier.js';
import { createByteWriter, domainKey, packEntryCalls, packSettlements, unpackLease } from './packing.js';

const entryOf = (record: string, domain: string): QueueEntry => ({
  fingerprint: fingerprintOf(record),
  domain,
  record,
});

describe('what crosses to Redis as bytes', () => {
  it('keeps text of any kind, however often the buffer grows', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (texts) => {
        const writer = createByteWriter(1);
        for (const text of texts) writer.text(text);
        expect(writer.taken().toString()).toBe(texts.join(''));
      }),
    );
  });

  it('cuts entries into calls of bounded work, and loses none', () => {
    const entries = Array.from({ length: 5_000 }, (_, i) => ({ entry: entryOf(`url ${i}`, `d${i % 900}`) }));
    const { calls, order } = packEntryCalls(entries, true, 'e');
    expect([...order!].sort((a, b) => a - b)).toEqual(entries.map((_, i) => i));
    // A domain's entries stay together and in order.
    expect(order!.slice(0, 6).map((index) => index % 900)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(order![1]).toBe(900);
    expect(calls.reduce((sum, { count }) => sum + count, 0)).toBe(5_000);
    for (const { count, domains } of calls) expect(count + domains.length).toBeLessThanOrEqual(801);
    const large = 'x'.repeat(600_000);
    const big = [1, 2, 3].map((i) => ({ entry: entryOf(large + i, 'd') }));
    expect(packEntryCalls(big, false, 'b').calls.length).toBe(2);
    expect(packEntryCalls(big.slice(0, 2), false, 'b').order).toBeUndefined();
  });

  it('gives a domain the same bucket every time, and spreads domains over buckets', () => {
    expect(domainKey('example.com')).toEqual(domainKey('example.com'));
    expect(domainKey('exämple.com').toString('utf8', 2)).toBe('exämple.com');
    const buckets = new Set(Array.from({ length: 10_000 }, (_, i) => domainKey(`site-${i}.example`).readUInt16BE(0)));
    // Of 10,000 thrown into 65,536, chance leaves about 9,280 alone or first.
    expect(buckets.size).toBeGreaterThan(9_000);
  });

  it('reads a lease row: domain, priority, losses, delay, and a fingerprint stored or derived', () => {
    const domain = domainKey('a.example');
    const row = (flags: number, middle: Buffer, record: string): Buffer => {
      const head = Buffer.alloc(19);
      head.writeDoubleLE(700, 8);
      head.writeUInt16LE(domain.length, 17);
      return Buffer.concat([head, domain, Buffer.from([flags, 0, 0, 0, 9]), middle, Buffer.from(record)]);
    };
    const stored = Buffer.from('0000000100000002', 'hex');
    expect(unpackLease(5, row(3 + 8 + 16, Buffer.concat([stored, Buffer.from([4])]), 'r'), undefined)).toEqual({
      id: 5,
      fingerprint: { hi: 1, lo: 2 },
      domain: 'a.example',
      record: 'r',
      priority: 1,
      lostLeases: 4,
      delayMs: 700,
    });
    const derived = unpackLease(6, row(2, Buffer.alloc(0), 'r'), fingerprintOf);
    expect(derived).toMatchObject({ fingerprint: fingerprintOf('r'), priority: 0, lostLeases: 0 });
  });

  it('cuts reasons that a hostile page made long', () => {
    const bytes = packSettlements([{ kind: 'failed', lease: 1, reason: 'ü'.repeat(100_000) }]);
    expect(bytes.length).toBe(25 + 2_000);
  });
});
