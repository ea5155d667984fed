import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  limitsOf,
  type MachineConstants,
  type Plan,
  planCrawl,
  type PlanRequest,
  REFERENCE_MACHINE,
  SHARED_CONSTANTS,
} from './plan.js';

const REQUEST: PlanRequest = {
  pages: 1e9,
  hours: 30,
  pageKb: 250,
  delaySeconds: 70,
  newUrlsPerPage: 10,
  dedup: 'exact',
  storeRawHtml: false,
};
const MACHINE: MachineConstants = {
  pageCpuMs: 2,
  cpuMsPerKb: 0.004,
  gzipMsPerTextKb: 0.02,
  fetcherRssMb: 300,
  diskMbPerSecond: 500,
};

describe('the plan of a crawl', () => {
  it('follows from rate, delay and the measured cost of a page', () => {
    const plan = planCrawl(REQUEST, MACHINE);
    expect(plan.pagesPerSecond).toBeCloseTo(9_259.26, 1);
    // 2 ms, 250 KB at 0.004 ms, 16.9 KB of text at 0.02 ms
    expect(plan.cpuMsPerPage).toBeCloseTo(3.339, 2);
    expect(plan.fetcherCores).toBe(39);
    expect(plan.domainsInRotation).toBe(662_038);
    expect(plan.pagesPerDomainAtMost).toBe(1_510);
    expect(plan.seenUrls).toBe(1e10);
    // 9,259 pages per second at 0.15 ms are 1.4 cores, half used
    expect(plan.pods).toBe(3);
  });

  it('needs more of everything for more pages in the same time', () => {
    const sizes = fc.tuple(fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: 1, max: 1e9 }));
    fc.assert(
      fc.property(sizes, fc.double({ min: 0.1, max: 1000, noNaN: true }), ([a, b], hours) => {
        const planned = (pages: number): Plan => planCrawl({ ...REQUEST, pages, hours }, MACHINE);
        const large = planned(Math.max(a, b));
        for (const [name, value] of Object.entries(planned(Math.min(a, b))) as [keyof Plan, number][]) {
          if (name !== 'fetchersPerPod') expect(large[name]).toBeGreaterThanOrEqual(value);
        }
      }),
    );
  });

  it('needs less memory with a Bloom filter, and more disk with raw pages', () => {
    const plan = planCrawl(REQUEST, MACHINE);
    expect(planCrawl({ ...REQUEST, dedup: 'bloom' }, MACHINE).storeGb).toBeLessThan(plan.storeGb);
    expect(planCrawl({ ...REQUEST, storeRawHtml: true }, MACHINE).contentTb).toBeGreaterThan(3 * plan.contentTb);
  });

  it('keeps no more than the heads of the domains in the stores', () => {
    const few = planCrawl({ ...REQUEST, domains: 1_000, dedup: 'bloom' }, MACHINE);
    const many = planCrawl({ ...REQUEST, domains: 10_000_000, dedup: 'bloom' }, MACHINE);
    expect(few.storeGb).toBeLessThan(25);
    expect(many.storeGb).toBeGreaterThan(500);
    expect(few.diskTb).toBeGreaterThan(few.contentTb + 0.5);
  });

  it('does not run on half a core or without a pod', () => {
    expect(planCrawl({ ...REQUEST, pages: 1, hours: 100 }, MACHINE)).toMatchObject({
      cores: 2,
      pods: 1,
      fetchersPerPod: 1,
    });
  });
});

describe('the constants of this release', () => {
  /** The row of full handshakes: what a page of the real web costs a worker, and its Redis. */
  const measured = (): { fetcher: number; redis: number } => {
    const results = readFileSync(new URL('../../../bench/RESULTS.md', import.meta.url), 'utf8');
    const row = /^\| the same, no tickets.*$/m.exec(results)![0];
    return {
      fetcher: Number(/fetcher ([\d.]+) CPU-ms/.exec(row)![1]),
      redis: Number(/Redis ([\d.]+) CPU-ms/.exec(row)![1]),
    };
  };
  /** The mean size of the pages that were measured. */
  const PAGE_KB = 184;

  it('plan for what was measured, with room, but not for twice as much', () => {
    const { fetcher, redis } = measured();
    const { cpuMsPerPage } = planCrawl({ ...REQUEST, pageKb: PAGE_KB }, REFERENCE_MACHINE);
    expect(cpuMsPerPage / fetcher).toBeGreaterThanOrEqual(1);
    expect(cpuMsPerPage / fetcher).toBeLessThan(2);
    expect(SHARED_CONSTANTS.redisCpuMsPerPage / redis).toBeGreaterThanOrEqual(0.9);
    expect(SHARED_CONSTANTS.redisCpuMsPerPage / redis).toBeLessThan(2);
  });
});

describe('the limits of a machine', () => {
  it('are sorted by how far they are exceeded, and leave out what is not known', () => {
    const plan = planCrawl(REQUEST, MACHINE);
    const limits = limitsOf(plan, { cores: 4, memoryGb: 4_000, diskTb: 1_000 }, MACHINE);
    expect(limits.map(({ what }) => what)).toEqual(['cores', 'disk speed', 'memory', 'disk space']);
    expect(limits[0]!.ratio).toBe(plan.cores / 4);
    const network = limitsOf(plan, { cores: 400, memoryGb: 4_000, gbitPerSecond: 0.1 }, MACHINE);
    expect(network[0]!.what).toBe('network');
  });
});
