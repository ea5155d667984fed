// The hostile run of bench/measures, small: every URL has its result and nothing is left of the browsers.
import { describe, expect, it } from 'vitest';
import { hostileRun } from '../../bench/measures/browser-hostile-run.js';
import { browserPath } from '../support/browser.js';

describe.skipIf(browserPath === undefined || process.platform !== 'linux')('hostile pages', () => {
  it('cost their own result at most: crash, hang, pop-ups, dialogs, endless loads, and two cancelled batches', async () => {
    // Each of the seven kinds once.
    const plan = { pages: 42, oneIn: 6, concurrency: 4, executablePath: browserPath!, pageTimeoutMs: 4_000 };
    const found = await hostileRun(plan);
    expect(found).toMatchObject({ results: 42, missing: 0, mixedUp: 0, cancelled: 2 });
    expect(found.after).toEqual(found.before);
    expect(found).toMatchObject({ innocentFailures: 0 });
  });
});
