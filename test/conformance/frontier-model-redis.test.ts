// The model beside the frontier in Redis: random histories of calls and faults, compared after each step.
import { describe } from 'vitest';
import { agrees } from '../support/model-test.js';
import { redisMissing } from '../support/redis-server.js';

describe.skipIf(redisMissing)(
  `the frontier in Redis beside its model${redisMissing ? `: ${redisMissing}` : ''}`,
  () => {
    // One backend with four settings: 20,000 steps in all.
    agrees('redis', 10_000);
    agrees('redis-spill', 4_500);
    agrees('redis-pods', 4_500);
    // Each restart of the server costs as much as hundreds of steps.
    agrees('redis-tails', 1_500);
  },
);
