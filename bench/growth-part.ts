// One part of the growth suite, in a process of its own: `growth-part.ts PART OF FILE`. Every reader whose number leaves
// PART when divided by OF; FILE gets what was found as JSON. Failures are printed as they come.
import { writeFileSync } from 'node:fs';
import { READERS } from '../test/growth/readers.js';
import { runGrowth } from '../test/growth/run.js';
import { measureShare } from './measures/share.js';

const [part, parts, file] = process.argv.slice(2);
const named = new RegExp(process.env.GROWTH_READERS ?? '');

const { cases, failures, slowest } = runGrowth({
  sizes: { characters: 8_192, floorMs: 10, longest: true },
  share: Number(process.env.GROWTH_SHARE ?? measureShare()),
  seed: Number(process.env.GROWTH_SEED ?? 1),
  only: (reader) => READERS.indexOf(reader) % Number(parts) === Number(part) && named.test(reader.name),
  onFailure: ({ reader, input, why }) =>
    console.log(`  FAILED ${reader}: ${input.slice(0, 120)}: ${why.slice(0, 300)}`),
  onReader: (reader, ran, worst) =>
    console.log(
      `  ${reader}: ${ran} cases, at most ${(worst.nsPerCharacter / 1_000).toFixed(2)} µs a character (${worst.input.slice(0, 80)})`,
    ),
});
writeFileSync(file!, JSON.stringify({ cases, failures: failures.length, slowest: [...slowest] }));
