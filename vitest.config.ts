// Four projects, one after the other: `unit` (beside the source, no I/O, seconds), `sockets` (real servers and disks),
// `processes` (whole crawls in processes and browsers, which mostly wait) and `alone` (what compares times or measures
// the machine: one file at a time).
import { defineConfig } from 'vitest/config';

/** What compares times: a neighbour would change the result. */
const ALONE = [
  'test/fault/{lease-fencing,slow-calls}.test.ts',
  'test/integration/{autoscaled-pool,dispatchers,http-cost,polite-processes,politeness,run-many,slow-hosts}.test.ts',
  'test/integration/{browser-hostile,browser-pool,redis-pages,redis-simulation}.test.ts',
];

/** What starts processes. Most of its time it waits for them, so more run at once than there are cores. */
const PROCESSES = [
  'test/{fault,amid}/**/*.test.ts',
  'test/security/{browser,canaries,terminal,files}*.test.ts',
  'test/integration/{browser,pods,cli,batch,serve,simweb-process}*.test.ts',
  'test/integration/{examples,package,page-cache}.test.ts',
];

const whole = { testTimeout: 120_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    projects: [
      // No I/O and no state that outlives a test: one thread pool without isolation keeps it to seconds.
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts'],
          testTimeout: 20_000,
          pool: 'threads',
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...whole,
          name: 'sockets',
          include: ['test/**/*.test.ts'],
          exclude: [...ALONE, ...PROCESSES],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...whole,
          name: 'processes',
          include: PROCESSES,
          exclude: ALONE,
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
      { test: { ...whole, name: 'alone', include: ALONE, fileParallelism: false, sequence: { groupOrder: 3 } } },
    ],
  },
});
