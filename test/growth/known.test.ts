// Inputs that the full growth suite once found too slow, at the length that showed it: CI's own share may not have them.
import { expect, it } from 'vitest';
import { INPUTS } from './inputs.js';
import { judge } from './judge.js';
import { READERS } from './readers.js';

const SIZES = { characters: 8_192, floorMs: 10, longest: true };

it.each([
  // 8.8 s for 5 MB: the text of elements in elements was read for each of them.
  ['extract/fields by CSS', 'lists that hold many items'],
  // Quadratic, 7.5 s for 512 KB: `targetElements` were put into a set for each element of `cssSelector`.
  ['crawl/page/result-content of a part', 'paragraphs that repeat'],
  // 170 ms for a host of 32 KB: every suffix of it was looked up.
  ['politeness/domain-rules#createDomainRules', 'repeats of "." in a host'],
  // 6.6 s for 8 MB: the page was read once for its links, once for its text.
  ['crawl/page/result-content of a part', 'one wide row and many narrow ones'],
])('%s is fast enough over %s', { timeout: 120_000 }, (name, inputName) => {
  const reader = READERS.find((one) => one.name === name)!;
  const input = INPUTS[reader.of].find((one) => one.name === inputName)!;
  expect(judge(reader, input, SIZES).failure).toBeUndefined();
});
