// The growth suite in full: every reader of what strangers write over every hostile input, at n, 2n and 4n characters.
// GROWTH_SHARE runs a part, GROWTH_SEED chooses which; ORCRAWL_MEASURE_SHARE works as for the others.
import { INPUTS } from '../../test/growth/inputs.js';
import { allCases, runGrowth } from '../../test/growth/run.js';
import type { Figure } from '../measure.js';
import { measureShare } from './share.js';

const SIZES = { characters: 8_192, floorMs: 10, longest: true };

export async function measure(): Promise<Figure[]> {
  const share = Number(process.env.GROWTH_SHARE ?? measureShare());
  const { cases, failures, slowest } = runGrowth({
    sizes: SIZES,
    share,
    seed: Number(process.env.GROWTH_SEED ?? 1),
    onFailure: ({ reader, input, why }) =>
      console.log(`  FAILED ${reader}: ${input.slice(0, 120)}: ${why.slice(0, 300)}`),
    onReader: (reader, ran, worst) =>
      console.log(
        `  ${reader}: ${ran} cases, at most ${(worst.nsPerCharacter / 1_000).toFixed(2)} µs a character (${worst.input.slice(0, 80)})`,
      ),
  });
  const kinds = new Set(Object.values(INPUTS).flatMap((inputs) => inputs.map(({ name }) => name))).size;
  const [worst] = [...slowest].sort((a, b) => b[1].nsPerCharacter - a[1].nsPerCharacter);
  return [
    {
      what: `readers that grow faster than 2.5 × per doubling, give too much, cost too much or break (${slowest.size} readers, ${kinds} hostile inputs, ${allCases()} cases in all)`,
      measured: `${failures.length} in ${cases} cases`,
      goal: '0 in ≥ 5,000',
    },
    {
      what: `the most that a character costs: ${worst?.[0]}, ${worst?.[1].input.slice(0, 80)}`.replaceAll('|', '\\|'),
      measured: `${((worst?.[1].nsPerCharacter ?? 0) / 1_000).toFixed(1)} µs`,
      goal: 'the longest input in 6 s (a page of 10 MB)',
    },
  ];
}
