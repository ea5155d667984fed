// Runs readers over hostile inputs: all of them, or a part that a number chooses, the same one every time.
import { INPUTS } from './inputs.js';
import { type Failure, judge, type Reader, type Sizes } from './judge.js';
import { READERS } from './readers.js';

export interface GrowthRun {
  readonly sizes: Sizes;
  /** Of all cases, this share is run: 1 for all. */
  readonly share: number;
  /** Chooses which. */
  readonly seed?: number;
  /** Ends the run early. */
  readonly endsAtMs?: number;
  readonly only?: (reader: Reader) => boolean;
  readonly onFailure?: (failure: Failure) => void;
  readonly onReader?: (reader: string, cases: number, slowest: Slowest) => void;
}

/** The input that cost a reader most, in nanoseconds a character. */
export interface Slowest {
  readonly input: string;
  readonly nsPerCharacter: number;
}

export interface GrowthResult {
  readonly cases: number;
  readonly failures: readonly Failure[];
  readonly slowest: ReadonlyMap<string, Slowest>;
}

export function allCases(): number {
  return READERS.reduce((sum, { of }) => sum + INPUTS[of].length, 0);
}

export function runGrowth(run: GrowthRun): GrowthResult {
  const { sizes, share, seed = 1, endsAtMs = Number.POSITIVE_INFINITY, only = () => true } = run;
  const failures: Failure[] = [];
  const slowest = new Map<string, Slowest>();
  let cases = 0;
  for (const reader of READERS.filter(only)) {
    let worst: Slowest = { input: '', nsPerCharacter: 0 };
    const before = cases;
    for (const input of INPUTS[reader.of]) {
      if (share < 1 && chance(`${seed} ${reader.name} ${input.name}`) >= share) continue;
      if (performance.now() > endsAtMs) break;
      cases++;
      const { failure, cpuMs, characters } = judge(reader, input, sizes);
      const nsPerCharacter = (cpuMs * 1e6) / characters;
      if (nsPerCharacter > worst.nsPerCharacter) worst = { input: input.name, nsPerCharacter };
      if (!failure) continue;
      failures.push(failure);
      run.onFailure?.(failure);
    }
    slowest.set(reader.name, worst);
    run.onReader?.(reader.name, cases - before, worst);
  }
  return { cases, failures, slowest };
}

/** From 0 to 1, by the text alone. */
function chance(text: string): number {
  let hash = 2_166_136_261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619);
  // The low bits of this hash are the better ones to mix in.
  hash = Math.imul(hash ^ (hash >>> 15), 2_246_822_519);
  hash = Math.imul(hash ^ (hash >>> 13), 3_266_489_917);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
