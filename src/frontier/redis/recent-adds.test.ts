import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../request/fingerprint.js';
import { packEntryCalls } from './packing.js';
import { createRecentAdds, RECENT_MS } from './recent-adds.js';
import { createRecentNotes } from './recent-notes.js';

const callOf = (text: string, lease?: number) => {
  const entry = { fingerprint: fingerprintOf(text), domain: 'd', record: text };
  return packEntryCalls([{ entry, ...(lease === undefined ? {} : { lease }) }], true, 'e').calls[0]!;
};

describe('recent adds', () => {
  it('come back as links of nobody, else as they were', () => {
    const recent = createRecentAdds();
    recent.keep(callOf('found in a visit', 7));
    const again = recent.all();
    expect(again.map(({ leases, entries }) => [leases.length, entries])).toEqual([
      [0, callOf('found in a visit').entries],
    ]);
  });

  it('are kept for their time, and those of the last moments also if they are large', () => {
    let now = 0;
    const one = callOf('x').entries.length;
    const recent = createRecentAdds({ nowMs: () => now, maxBytes: 5 * one });
    for (let i = 0; i < 4; i++) {
      recent.keep(callOf(String(i)));
      now += RECENT_MS / 2;
    }
    expect(recent.all().length).toBe(3);
    expect(recent.completeMs).toBe(RECENT_MS);
    for (let i = 0; i < 9; i++) recent.keep(callOf(String(i)));
    // A fingerprint has some digits more or less.
    expect([4, 5]).toContain(recent.all().length);
    now += 1_000;
    expect(recent.completeMs).toBe(1_000);
  });
});

describe('recent notes', () => {
  it('come back as they were first made, for a time, without what was taken back and what links wait', () => {
    let now = 0;
    const recent = createRecentNotes(() => now);
    recent.keep({ old: '1' });
    now = RECENT_MS + 1;
    recent.keep({ old: '2', file: '0', gone: '5', 'outbox/1/2/x': '[]' });
    recent.keep({ file: '900', gone: null });
    expect(recent.all()).toEqual(['file', '0']);
  });
});
