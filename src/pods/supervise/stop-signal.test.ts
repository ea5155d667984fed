import { describe, expect, it } from 'vitest';
import { endsFollower, formatStopSignal, parseStopSignal } from './stop-signal.js';

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
    ['a run that nobody here knew', 'max_duration', 9, { seen: 8, obeyed: 8 }, true],
    ['a run that was obeyed', 'exhausted', 9, { seen: 9, obeyed: 9 }, false],
    ['a run that was left before the crawl was over', 'signal', 9, { seen: 9, obeyed: 8 }, false],
    ['a run that ended the crawl after it was left', 'exhausted', 9, { seen: 9, obeyed: 8 }, true],
    ['an older run', 'max_pages', 7, { seen: 9, obeyed: 9 }, false],
  ] as const)('of %s', (_what, reason, run, known, ends) => {
    expect(endsFollower({ reason, run, crawl: 'a' }, { crawl: 'a', ...known })).toBe(ends);
    expect(endsFollower({ reason, run, crawl: 'b' }, { crawl: 'a', ...known })).toBe(false);
  });
});
