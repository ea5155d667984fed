// The end of a crawl is declared only when the numbers of every pod add up.
import { describe, expect, it } from 'vitest';
import type { StateNumber } from '../../src/frontier/redis/state-numbers.js';
import { Request } from '../../src/request/request.js';
import { Simweb } from '../../src/testing/index.js';
import { podOf, until } from '../support/pods-crawl.js';
import { lastLine, podsTrial } from '../support/pods-trial.js';
import { falsify } from '../support/redis-numbers.js';
import { redisMissing } from '../support/redis-server.js';

// eslint-disable-next-line no-console -- a skip must say why
if (redisMissing) console.warn(`numbers of Redis pods are skipped: ${redisMissing}`);

const keyOf = (url: string): string => new Request({ url }).uniqueKey;

const startWeb = () => Simweb.start({ hosts: 8, pagesPerHost: 15, pageBytes: 500, latencyMs: 80 });

describe.skipIf(redisMissing)('a pod', () => {
  it.each<[StateNumber, number]>([
    // Fewer URLs are queued than there are.
    ['queued', -3],
    // Something was accepted that is nowhere any more.
    ['accepted', 5],
  ])(
    'whose count of %s is wrong ends with QUEUE_CORRUPT and its numbers, and the other works to the end',
    { timeout: 180_000 },
    async (name, change) => {
      await using web = await startWeb();
      const trial = await podsTrial({ redis: 2, seeds: web.seeds(), more: ['fetcher_workers: 2'] });
      const running = trial.run();
      await until(async () => web.served() > 30);
      falsify(trial.servers[1]!, name, change);
      const { code, stdout, stderr } = await running.ended;
      expect(code, stdout + stderr).toBe(1);
      expect(stderr).toMatch(/pod 1 stopped: the counters of .* are inconsistent: accepted \d+, queued -?\d+/);
      expect(lastLine(stdout)).toMatch(/incomplete: pod 1 \(QUEUE_CORRUPT\)/);
      const healthy = [...web.allUrls()].filter((url) => podOf(url, 2) === 0).map(keyOf);
      const stored = new Set(await trial.stored());
      expect(healthy.filter((key) => !stored.has(key))).toEqual([]);
    },
  );
});
