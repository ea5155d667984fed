// The growth suite: every reader over hostile inputs of n, 2n and 4n. CI runs a part of the product that is always the
// same; `npm run measure -- growth` runs all of it.
import { describe, expect, it } from 'vitest';
import { INPUTS } from './inputs.js';
import { type InputKind, judge, LONGEST, type Reader } from './judge.js';
import { READERS } from './readers.js';
import { allCases, runGrowth } from './run.js';

const SIZES = { characters: 4_096, floorMs: 8 };
/** As `npm run measure -- growth` judges. */
const TO_THE_END = { ...SIZES, longest: true };
const SHARE = 0.003;

describe('growth', () => {
  it('has at least 200 kinds of hostile input, and 5,000 cases', () => {
    const kinds = new Set(Object.values(INPUTS).flatMap((inputs) => inputs.map(({ name }) => name)));
    expect(kinds.size).toBeGreaterThanOrEqual(200);
    expect(allCases()).toBeGreaterThanOrEqual(5_000);
    expect(new Set(READERS.map(({ name }) => name)).size).toBe(READERS.length);
  });

  it('is linear in time and bounded in output for every reader', { timeout: 600_000 }, () => {
    const { failures, cases, slowest } = runGrowth({ sizes: SIZES, share: SHARE });
    expect(failures).toEqual([]);
    expect(cases).toBeGreaterThan(600);
    expect(slowest.size).toBe(READERS.length);
  });

  it('would tell a reader that is not', { timeout: 300_000 }, () => {
    const input = { name: 'letters', make: (length: number) => 'a'.repeat(length) };
    const of = 'text' as const;
    const quadratic: Reader = {
      name: 'compares each with each',
      of,
      read: (text) => {
        let same = 0;
        for (let i = 0; i < text.length; i++)
          for (let k = 0; k < text.length; k++) same += text.charCodeAt(i) ^ text.charCodeAt(k);
        return same;
      },
    };
    const wordy: Reader = { name: 'repeats', of, read: (text) => text.repeat(500) };
    const broken: Reader = { name: 'breaks', of, read: (text) => (null as unknown as string[])[text.length] };
    const slow = (kind: InputKind, nsPerCharacter: number): Reader => ({
      name: `takes its time over a ${kind}`,
      of: kind,
      read: (text) => {
        // By both clocks of the judge, which takes the lesser.
        const ms = (text.length * nsPerCharacter) / 1e6;
        const [begunMs, begun] = [performance.now(), process.cpuUsage()];
        let sum = 0;
        while (performance.now() - begunMs < ms || process.cpuUsage(begun).user < ms * 1_000) {
          for (let i = 0; i < 50_000; i++) sum += i % 7;
        }
        return sum;
      },
    });
    // Three times what is allowed, the share of a short input included: a busy machine may take twice as long.
    const slowAtOnce = slow('text', 70_000);
    const slowInTheEnd = (['url', 'header'] as const).map((kind) =>
      slow(kind, (3e6 * LONGEST[kind].ms) / LONGEST[kind].characters),
    );
    const known = new Set<string>();
    const remembers: Reader = {
      name: 'remembers a text',
      of,
      read: (text) => known.has(text) || (known.add(text), quadratic.read(text)),
    };
    const linear: Reader = { name: 'is as it should be', of, read: (text) => text.toUpperCase() };
    expect(judge(quadratic, input, SIZES).failure?.why).toContain('takes');
    expect(judge(remembers, input, SIZES).failure?.why).toContain('takes');
    expect(judge(wordy, input, SIZES).failure?.why).toContain('gives');
    expect(judge(broken, input, SIZES).failure?.why).toContain('throws');
    expect(judge(slowAtOnce, input, SIZES).failure?.why).toContain('too slow');
    for (const reader of slowInTheEnd)
      expect(judge(reader, input, TO_THE_END).failure?.why, reader.name).toContain('too slow');
    expect(judge(linear, input, SIZES).failure).toBeUndefined();
  });
});
