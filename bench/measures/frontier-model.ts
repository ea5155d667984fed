// The model beside every backend of the frontier, for millions of steps: what they differ in must be nothing.
// MODEL_STEPS, MODEL_BACKENDS (names with commas) and MODEL_SEED choose what is run; progress comes every half minute.
import { MODEL_BACKENDS, type ModelBackendName } from '../../test/support/model-worlds.js';
import { runModel, tellFailure } from '../../test/support/model-runner.js';
import type { Figure } from '../measure.js';
import { measureShare } from './share.js';

const STEPS = Number(process.env.MODEL_STEPS ?? 5_000_000 * measureShare());
const SEED = Number(process.env.MODEL_SEED ?? 1);
const PROGRESS_MS = 30_000;

export async function measure(): Promise<Figure[]> {
  const all = Object.keys(MODEL_BACKENDS) as ModelBackendName[];
  const chosen = process.env.MODEL_BACKENDS?.split(',') ?? all;
  const figures: Figure[] = [];
  for (const name of all.filter((one) => chosen.includes(one))) {
    const startedMs = performance.now();
    let toldMs = startedMs;
    const { histories, steps, failures } = await runModel(name, {
      steps: STEPS,
      firstSeed: SEED,
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
    const measured = `${failures.length} in ${steps} steps, ${histories} histories (${Math.round(steps / secs)} steps/s)`;
    figures.push({ what: `${name}: differences`, measured, goal: '0 in 5,000,000 steps' });
  }
  return figures;
}
