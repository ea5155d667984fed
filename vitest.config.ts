// Three projects, one after the other: `unit` (beside the source, no I/O, seconds), `sockets` (real servers and disks,
// two files at a time) and `machine` (processes, browsers and clocks that need the whole machine: one file at a time).
import { defineConfig } from 'vitest/config';

/** What starts processes that share the cores, or compares times. */
const MACHINE = [
  'test/fault/**/*.test.ts',
  'test/integration/{browser,pods,cli,batch,serve,polite-processes,redis-pages,redis-simulation,simweb-process}*.test.ts',
  'test/integration/{autoscaled-pool,dispatchers,examples,http-cost,package,politeness,run-many,page-cache,slow-hosts}.test.ts',
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
          exclude: MACHINE,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: { ...whole, name: 'machine', include: MACHINE, fileParallelism: false, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
