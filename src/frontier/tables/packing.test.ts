import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BLOCK_IDS,
  packDomain,
  packLease,
  packNumber,
  packRequest,
  restateRequest,
  SKIPPED,
  unpackDomain,
  unpackLease,
  unpackNumber,
  unpackRequest,
} from './packing.js';

const u32 = fc.nat(0xffff_ffff);
const id = fc.nat({ max: 2 ** 48 - 1 });
const text = fc.string({ unit: 'binary', maxLength: 300 });
const ids = fc.array(id, { maxLength: BLOCK_IDS });

describe('packed rows', () => {
  it('returns every request as it was, and only its state changes when it is restated', () => {
    const request = fc.record({
      state: fc.constantFrom(0, 1, 2, 3, 4),
      priority: fc.constantFrom(-2, -1, 0, 1, 2),
      lostLeases: fc.nat(255),
      trial: fc.nat(255),
      domain: u32,
      hi: u32,
      lo: u32,
      reason: text,
      record: text,
    });
    fc.assert(
      fc.property(request, (row) => {
        const packed = Buffer.from(packRequest(row));
        expect(unpackRequest(packed)).toEqual(row);
        expect(unpackRequest(restateRequest(packed, SKIPPED))).toEqual({ ...row, state: SKIPPED });
      }),
    );
  });

  it('cuts a reason that is too long, and takes a record of any length', () => {
    const row = { state: 3, priority: 0, lostLeases: 0, trial: 0, domain: 1, hi: 1, lo: 1 } as const;
    const packed = packRequest({ ...row, reason: 'é'.repeat(5_000), record: 'ü'.repeat(200_000) });
    const { reason, record } = unpackRequest(Buffer.from(packed));
    expect(reason).toBe('é'.repeat(1_000));
    expect(record).toBe('ü'.repeat(200_000));
  });

  it('returns every domain, lease and number as it was', () => {
    const time = fc.integer({ min: -1, max: 2 ** 47 });
    const counts = { queued: u32, ahead: u32, behind: u32, turnsOut: u32, firstBlock: u32, nextBlock: u32 };
    const times = { delayMs: time, nextAllowedMs: time, readyMs: time, dueMs: time, dueTie: time };
    const none = fc.constant(false);
    const rest = { id: u32, marked: none, toBack: none, suspects: fc.constant(0), isAccused: none };
    const domain = fc.record({ ...rest, hi: u32, lo: u32, ...times, ...counts, head: ids, tail: ids, name: text });
    fc.assert(
      fc.property(domain, (row) => {
        expect(unpackDomain(row.id, Buffer.from(packDomain(row, row.turnsOut)))).toEqual(row);
      }),
    );
    const lease = fc.record({ request: id, domain: u32, place: id, landed: fc.boolean(), bulkSkip: fc.boolean() });
    fc.assert(fc.property(lease, (row) => void expect(unpackLease(packLease(row))).toEqual(row)));
    fc.assert(fc.property(id, (value) => void expect(unpackNumber(packNumber(value))).toBe(value)));
  });
});
