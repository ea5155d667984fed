// The short version of `npm run measure -- crawlee-parity`: its light scripts under this build, compared with what Crawlee
// said when it was measured.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { listScenarios, ourOutcomes, OUTCOMES } from '../../bench/crawlee-parity/run.js';

const crawlee = JSON.parse(readFileSync(OUTCOMES, 'utf8')) as Record<string, string>;

describe('scripts for Crawlee', () => {
  it('say the same, unless they differ on purpose', async () => {
    const light = (await listScenarios(undefined, true)).filter(({ purpose }) => !purpose);
    expect(light.length).toBeGreaterThan(100);
    const ours = new Map<string, string>();
    for (const file of new Set(light.map((one) => one.file))) {
      for (const [name, text] of await ourOutcomes(light.filter((one) => one.file === file))) ours.set(name, text);
    }
    const theirs = new Map(light.map(({ name }) => [name, crawlee[name]]));
    expect(Object.fromEntries(ours)).toEqual(Object.fromEntries(theirs));
  });
});
