// Plays histories on one backend, each from its own seed, until the given number of steps is reached.
// A failure is shrunk and reported with all that is needed to replay it.
import fc from 'fast-check';
import { type History, HistoryFailure, historyOf, playHistory } from '../../src/testing/model/run.js';
import type { MakeWorld } from '../../src/testing/model/store.js';
import { MAX_NUMBER, type Step, STEP_KINDS } from '../../src/testing/model/steps.js';
import type { ModelBackend } from './model-world.js';
import { MODEL_BACKENDS, type ModelBackendName } from './model-worlds.js';

export interface ModelRun {
  readonly histories: number;
  readonly steps: number;
  readonly failures: readonly ModelFailure[];
}

export interface ModelFailure {
  readonly seed: number;
  readonly message: string;
  /** The shrunk history, as a test can play it. */
  readonly history: History;
}

export interface ModelRunOptions {
  readonly steps: number;
  readonly firstSeed?: number;
  readonly stepsPerHistory?: number;
  /** Histories played at the same time, each on a store of its own: a store that is waited for costs no time then. */
  readonly sideBySide?: number;
  /** Goes on after so many differences; default 1 ends at the first. */
  readonly maxFailures?: number;
  readonly onProgress?: (done: { histories: number; steps: number }) => void;
}

export const STEPS_PER_HISTORY = 500;

export async function runModel(name: ModelBackendName, options: ModelRunOptions): Promise<ModelRun> {
  const { firstSeed = 1, stepsPerHistory = STEPS_PER_HISTORY, maxFailures = 1, sideBySide = 1 } = options;
  const backend: ModelBackend = MODEL_BACKENDS[name];
  const failures: ModelFailure[] = [];
  let [histories, steps, seed] = [0, 0, firstSeed];
  async function playSome(): Promise<void> {
    const { make, dispose } = await backend.open();
    try {
      while (steps < options.steps && failures.length < maxFailures) {
        const ofSeed = seed++;
        const history = historyOf(ofSeed, { ...backend, steps: stepsPerHistory });
        histories++;
        steps += history.steps.length;
        try {
          await playHistory(history, make);
        } catch (error) {
          if (!(error instanceof HistoryFailure)) throw error;
          const shrunk = await shrinkHistory(history, make);
          const message = (shrunk.failure ?? error).message;
          failures.push({ seed: ofSeed, message, history: shrunk.history });
        }
        options.onProgress?.({ histories, steps });
      }
    } finally {
      await dispose();
    }
  }
  await Promise.all(Array.from({ length: sideBySide }, playSome));
  return { histories, steps, failures };
}

const SHRINK_MS = 40_000;

/** A failing history with every step left out, and every number made small, that it fails without. */
async function shrinkHistory(
  history: History,
  make: MakeWorld,
): Promise<{ history: History; failure?: HistoryFailure }> {
  const deadlineMs = performance.now() + SHRINK_MS;
  let { steps } = history;
  let failure: HistoryFailure | undefined;
  const fails = async (candidate: readonly Step[]): Promise<boolean> => {
    if (performance.now() > deadlineMs) return false;
    try {
      await playHistory({ ...history, steps: candidate }, make);
      return false;
    } catch (error) {
      if (!(error instanceof HistoryFailure)) throw error;
      failure = error;
      steps = candidate.slice(0, Math.min(candidate.length, error.at + 1));
      return true;
    }
  };
  if (!(await fails(steps))) return { history };
  for (let before = Infinity; steps.length < before;) {
    before = steps.length;
    for (let size = steps.length >> 1; size >= 1; size >>= 1) {
      for (let from = 0; from < steps.length;) {
        const without = [...steps.slice(0, from), ...steps.slice(from + size)];
        if (!(await fails(without))) from += size;
      }
    }
  }
  // What is left is short: its numbers, and pairs of steps, are for fast-check.
  const number = fc.nat(MAX_NUMBER);
  const step = fc.record({ kind: fc.constantFrom(...STEP_KINDS), a: number, b: number, c: number });
  const property = fc.asyncProperty(fc.array(step), async (candidate) => !(await fails(candidate)));
  const left = Math.max(1, deadlineMs - performance.now());
  const examples: [Step[]][] = [[[...steps]]];
  const { counterexample } = await fc.check(property, { numRuns: 1, examples, interruptAfterTimeLimit: left });
  const smallest = counterexample?.[0] ?? steps;
  return { history: { ...history, steps: smallest }, ...(failure ? { failure } : {}) };
}

/** A failure in words: its seed, and the steps to put into a test. */
export function tellFailure(name: ModelBackendName, { seed, message, history }: ModelFailure): string {
  const { setting, steps } = history;
  const lines = steps.slice(0, 40).map(({ kind, a, b, c }) => `  { kind: '${kind}', a: ${a}, b: ${b}, c: ${c} },`);
  return `${name}, seed ${seed}: ${message}\nsetting: ${JSON.stringify(setting)}\nsteps:\n${lines.join('\n')}`;
}
