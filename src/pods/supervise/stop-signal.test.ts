import { describe, expect, it } from 'vitest';
import { endsRun, firstRun, formatStopSignal, parseStopSignal } from './stop-signal.js';

describe('the stop signal', () => {
  it('says which run of which crawl is over and why; a person’s says only stop', () => {
    expect(parseStopSignal(formatStopSignal('exhausted', 12, 'a'))).toEqual({
      reason: 'exhausted',
      run: 12,
      crawl: 'a',
    });
    for (const text of ['1', '', 'exhausted', 'max_pages soon a', 'exhausted 1766000000000']) {
      expect(parseStopSignal(text)).toEqual({ reason: 'stop_signal', run: undefined, crawl: undefined });
    }
  });

  it.each([
    ['a run that is going on', 'max_duration', 9, { run: 9, before: undefined }, true],
    ['a run under a new leader', 'stop_signal', 9, { run: 8, before: undefined }, true],
    ['a run that was over when this machine came', 'exhausted', 9, { run: 9, before: 9 }, false],
    ['the run after that', 'exhausted', 10, { run: 9, before: 9 }, true],
    ['an older run', 'max_pages', 7, { run: 9, before: 7 }, false],
  ] as const)('of %s', (_what, reason, run, found, ends) => {
    const before = found.before === undefined ? undefined : ({ reason, run: found.before, crawl: 'a' } as const);
    const joined = firstRun(found.run, before, 'a');
    expect(endsRun({ reason, run, crawl: 'a' }, joined, 'a')).toBe(ends);
    expect(endsRun({ reason, run, crawl: 'b' }, joined, 'a')).toBe(false);
    expect(endsRun({ reason, run: undefined, crawl: undefined }, joined, 'a')).toBe(false);
  });
});
