// Two projects: `unit` (beside the source, no I/O, seconds) and `whole` (real sockets, disks, processes).
import { defineConfig } from 'vitest/config';

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
        },
      },
      {
        test: {
          name: 'whole',
          include: ['test/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          // Tests that start processes and servers share two cores: one file at a time keeps them steady.
          fileParallelism: false,
        },
      },
    ],
  },
});
