// One test per backend that plays random histories beside the model. A difference is reported with its seed and the few
// steps it needs; `npm run measure -- frontier-model` plays millions.
import { expect, it } from 'vitest';
import { runModel, tellFailure } from './model-runner.js';
import type { ModelBackendName } from './model-worlds.js';

/** Another seed than yesterday's finds other histories; a failure names its own. */
const SEED = Number(process.env.MODEL_SEED ?? 1);
const STEPS = 20_000;
const TIMEOUT_MS = 600_000;

export function agrees(name: ModelBackendName, steps = STEPS): void {
  it(
    `agrees with the model in ${steps} steps on ${name}`,
    async () => {
      const { failures } = await runModel(name, { steps, firstSeed: SEED });
      expect(failures.map((failure) => tellFailure(name, failure))).toEqual([]);
    },
    TIMEOUT_MS,
  );
}
