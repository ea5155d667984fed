// A disk that fills up under the frontier: a named error, nothing half-done, and work continues afterwards.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLmdbFrontier } from '../../src/frontier/embedded/store/lmdb.js';
import { addsUp, entries } from '../../src/testing/conformance/bench.js';

describe('a full disk', () => {
  it.each(['owner', 'shared'] as const)('is named, and leaves what was confirmed, for access %s', async (access) => {
    const folder = mkdtempSync(join(tmpdir(), 'orcrawl-full-'));
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', folder]).status === 0;
    try {
      if (!mounted) {
        // eslint-disable-next-line no-console -- a test that cannot run says why.
        console.warn(`not run: mounting a small file system at ${folder} needs root`);
        return;
      }
      const ballast = join(folder, 'ballast');
      writeFileSync(ballast, Buffer.alloc(2 ** 20, 1));
      const options = { access, holder: 'h', pacing: { delayMs: 0, turns: 10 } };
      const frontier = await openLmdbFrontier(join(folder, 'queue'), options);
      let accepted = 0;
      let call = 0;
      let failure: unknown;
      while (!failure) {
        const batch = entries(500, 'a', accepted);
        await frontier.add({ holder: 'h', call: ++call, entries: batch }).then(
          () => (accepted += batch.length),
          (error: unknown) => (failure = error),
        );
      }
      expect(failure).toMatchObject({ code: 'STORAGE_FULL' });
      rmSync(ballast);
      const { counters } = await frontier.overview();
      expect(counters.accepted).toBe(accepted);
      expect(addsUp(counters)).toBe(true);
      // The failed call did not happen: its requests are new, and its number may be used again.
      const again = await frontier.add({ holder: 'h', call, entries: entries(10, 'a', accepted) });
      expect(again.every((presence) => presence === 'new')).toBe(true);
      expect((await frontier.lease({ holder: 'h', call: ++call, max: 5 })).leases.length).toBe(5);
      await frontier.close();
    } finally {
      if (mounted) spawnSync('umount', [folder]);
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
