// The model beside the frontier in Postgres: random histories of calls, of processes that end and die, and of clocks that
// jump, compared after each step.
import { describe } from 'vitest';
import { agrees } from '../support/model-test.js';
import { postgresMissing } from '../support/postgres-server.js';

describe.skipIf(postgresMissing)(
  `the frontier in Postgres beside its model${postgresMissing ? `: skipped, ${postgresMissing}` : ''}`,
  () => {
    agrees('postgres', 3_000);
  },
);
