import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../request/fingerprint.js';
import { createPageMemory } from '../memory/memory.js';
import { newPage } from '../memory/new-page.js';
import { openDuplicateFinder } from './finder.js';
import { simhashOf } from './simhash.js';

const urlOf = (n: number): string => `https://a.example/${n}`;
const TEXT = 'The orchard lies behind the mill, and whoever comes by in autumn may take apples home in a basket.';

/** A memory of pages that say these texts. */
function memoryOf(texts: readonly string[]) {
  const memory = createPageMemory();
  texts.forEach((text, n) => {
    const { hi, lo } = simhashOf(text);
    const key = fingerprintOf(urlOf(n));
    const page = { ...newPage(1, 200), simhash: { hi, lo } };
    memory.settle([{ key, request: key, page, names: { url: urlOf(n) } }], true);
  });
  return memory;
}

describe('near duplicates of remembered pages', () => {
  it('repeat one of several that are alike, and that one repeats none', async () => {
    const finder = await openDuplicateFinder(
      memoryOf([TEXT, 'Herring swim in schools of many thousands.', TEXT, TEXT]),
    );
    const seen = [0, 1, 2, 3].map((n) =>
      finder.see(
        fingerprintOf(urlOf(n)),
        simhashOf(n === 1 ? 'Herring swim in schools of many thousands.' : TEXT),
        urlOf(n),
      ),
    );
    const originals = seen.flatMap((duplicateOf, n) => (duplicateOf ? [] : [n]));
    expect(originals).toHaveLength(2);
    expect(originals).toContain(1);
    const [kept] = originals.filter((n) => n !== 1);
    for (const n of [0, 2, 3].filter((one) => one !== kept)) expect(seen[n]!.url).toBe(urlOf(kept!));
  });

  it('are found in a memory of many pages without holding up the process', async () => {
    const memory = memoryOf([]);
    const key = (n: number) => fingerprintOf(urlOf(n));
    for (let n = 0; n < 20_000; n++) {
      const simhash = key(n);
      memory.settle(
        [{ key: key(n), request: key(n), page: { ...newPage(1, 200), simhash }, names: { url: '' } }],
        true,
      );
    }
    let turns = 0;
    const turning = setInterval(() => turns++, 0);
    const finder = await openDuplicateFinder(memory);
    clearInterval(turning);
    expect(finder.index.size).toBe(20_000);
    expect(turns).toBeGreaterThan(3);
  });

  it('take one place in the index however many there are', async () => {
    const finder = await openDuplicateFinder(memoryOf(Array.from({ length: 5_000 }, () => TEXT)));
    expect(finder.index.size).toBe(1);
    expect(finder.see(fingerprintOf('https://b.example/'), simhashOf(TEXT), 'https://b.example/')).toBeDefined();
  });
});
