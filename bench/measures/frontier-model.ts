// The model beside every backend of the frontier, for millions of steps: they must not differ.
// MODEL_STEPS, MODEL_BACKENDS (names with commas) and MODEL_SEED choose what is run, MODEL_SIDE_BY_SIDE how many histories
// at the same time; progress comes every half minute.
import { MODEL_BACKENDS, type ModelBackendName } from '../../test/support/model-worlds.js';
import { runModel, tellFailure } from '../../test/support/model-runner.js';
import type { Figure } from '../measure.js';
import { measureShare } from './share.js';

const STEPS = Number(process.env.MODEL_STEPS ?? 5_000_000 * measureShare());
const SEED = Number(process.env.MODEL_SEED ?? 1);
/** Every step is a transaction or more: a hundredth takes as long as all of the others. */
const stepsOn = (name: ModelBackendName): number => (name === 'postgres' ? Math.ceil(STEPS / 100) : STEPS);
/** A server answers while others compute; an embedded store computes itself. */
const sideBySide = (name: ModelBackendName): number =>
  Number(process.env.MODEL_SIDE_BY_SIDE ?? (/^redis|^postgres/.test(name) ? 4 : 1));
const PROGRESS_MS = 30_000;

export const isPart = process.env.MODEL_BACKENDS !== undefined;

export async function measure(): Promise<Figure[]> {
  const all = Object.keys(MODEL_BACKENDS) as ModelBackendName[];
  const chosen = process.env.MODEL_BACKENDS?.split(',') ?? all;
  const figures: Figure[] = [];
  for (const name of all.filter((one) => chosen.includes(one))) {
    const startedMs = performance.now();
    let toldMs = startedMs;
    const { histories, steps, failures } = await runModel(name, {
      steps: stepsOn(name),
      firstSeed: SEED,
      sideBySide: sideBySide(name),
      maxFailures: 3,
      onProgress(done) {
        if (performance.now() - toldMs < PROGRESS_MS) return;
        toldMs = performance.now();
        const rate = Math.round((done.steps * 1_000) / (toldMs - startedMs));
        console.log(`  ${name}: ${done.steps} steps, ${done.histories} histories, ${rate} steps/s`);
      },
    });
    for (const failure of failures) console.log(tellFailure(name, failure));
    const secs = (performance.now() - startedMs) / 1_000;
    const measured = `${failures.length} in ${steps} steps, ${histories} histories (${Math.round(steps / secs)} steps/s, ${new Date().toISOString().slice(0, 10)})`;
    figures.push({ what: `${name}: differences`, measured, goal: `0 in ${stepsOn(name)} steps` });
  }
  return figures;
}
