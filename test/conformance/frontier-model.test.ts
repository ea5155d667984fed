// The model beside every backend: random histories of calls and faults, compared after each step. A difference is told
// with its seed and the few steps it needs; `npm run measure -- frontier-model` plays millions.
import { describe, expect, it } from 'vitest';
import { runModel, tellFailure } from '../support/model-runner.js';
import type { ModelBackendName } from '../support/model-worlds.js';
import { redisMissing } from '../support/redis-server.js';

/** Another seed than yesterday's finds other histories; a failure names its own. */
const SEED = Number(process.env.MODEL_SEED ?? 1);
const STEPS = 20_000;
const TIMEOUT_MS = 600_000;

function agrees(name: ModelBackendName, steps = STEPS): void {
  it(
    `agrees with the model in ${steps} steps on ${name}`,
    async () => {
      const { failures } = await runModel(name, { steps, firstSeed: SEED });
      expect(failures.map((failure) => tellFailure(name, failure))).toEqual([]);
    },
    TIMEOUT_MS,
  );
}

describe('the frontier beside its model', () => {
  agrees('memory');
  agrees('lmdb');
  agrees('lmdb-shared');
  agrees('embedded-pods');
});

describe.skipIf(redisMissing)(
  `the frontier in Redis beside its model${redisMissing ? `: ${redisMissing}` : ''}`,
  () => {
    agrees('redis');
    agrees('redis-spill');
    agrees('redis-pods');
    // Each restart of the server costs as much as hundreds of steps.
    agrees('redis-tails', 5_000);
  },
);
