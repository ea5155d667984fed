// Two projects: `unit` (beside the source, no I/O, seconds) and `whole` (real sockets, disks, processes).
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['src/**/*.test.ts'], testTimeout: 20_000 } },
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
