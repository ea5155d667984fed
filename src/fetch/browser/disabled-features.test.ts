import { describe, expect, it } from 'vitest';
import { disabledFeatures, namesIn } from './disabled-features.js';

describe('features that are off', () => {
  it('are those of the installed Playwright and ours', () => {
    const [argument] = disabledFeatures();
    expect(argument).toMatch(/^--disable-features=\w+(?:,\w+)+$/);
    const names = argument!.slice('--disable-features='.length).split(',');
    expect(names).toEqual(expect.arrayContaining(['ThirdPartyStoragePartitioning', 'HttpsUpgrades', 'PaintHolding']));
    expect(names).toEqual(expect.arrayContaining(['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup']));
  });

  it('are left as they are when code looks different', () => {
    expect(namesIn('disabledFeatures = [\n// why\n"A",\n"B"\n].filter(Boolean);')).toEqual(['A', 'B']);
    expect(namesIn('disabledFeatures = [\n"A",\nmore()\n].filter(Boolean);')).toEqual([]);
    expect(namesIn('disabledFeatures = ["A", "B"];')).toEqual([]);
    expect(namesIn('')).toEqual([]);
  });
});
