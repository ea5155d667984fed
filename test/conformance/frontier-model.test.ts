// The model beside the backends of one machine: random histories of calls and faults, compared after each step.
import { describe } from 'vitest';
import { agrees } from '../support/model-test.js';

describe('the frontier beside its model', () => {
  agrees('memory');
  agrees('lmdb', 10_000);
  agrees('lmdb-shared');
  agrees('embedded-pods', 10_000);
});
