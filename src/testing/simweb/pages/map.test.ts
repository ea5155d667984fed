// The map's promise: what is healthy can be reached by following links, whatever the knobs.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SimwebOptions } from '../knobs.js';
import { planSimweb } from '../options.js';
import { createUrls } from './urls.js';

const build = (options: SimwebOptions) =>
  createUrls(planSimweb({ addressing: 'addresses', ...options }), { listening: [80], closed: 81 });

/** Follows links, and the web's own redirects, from the seeds; broken and dead pages lead nowhere. */
function reachable(options: SimwebOptions): Set<string> {
  const { urls, site } = build(options);
  const hostByOrigin = new Map(
    Array.from({ length: urls.hosts }, (_, host) => [new URL(urls.origin(host)).origin, host]),
  );
  const found = new Set<string>();
  const queue = urls.seeds();
  while (queue.length > 0) {
    const url = new URL(queue.pop() as string);
    const host = hostByOrigin.get(url.origin) as number;
    const go = /^\/go\/(\d+)\/\d+$/.exec(url.pathname);
    const out = /^\/out\/(\d+)\/(\d+)$/.exec(url.pathname);
    if (go) queue.push(urls.url(host, Number(go[1])));
    if (out) queue.push(urls.url(Number(out[1]), Number(out[2])));
    const page = site.pageAt(url.pathname);
    const plain = url.origin + url.pathname;
    if (page < 0 || found.has(plain) || !site.isHealthy(host)) continue;
    found.add(plain);
    const kind = site.kind(host, page);
    if (kind === 'page' || kind === 'recovering') queue.push(...urls.linksOf(host, page));
  }
  return found;
}

describe('the map of the synthetic web', () => {
  it('leads from the seeds to every healthy page, for any knobs', () => {
    const share = fc.constantFrom(0, 0.1, 0.5);
    const options = fc.record({
      seed: fc.nat(),
      hosts: fc.integer({ min: 1, max: 15 }),
      pagesPerHost: fc.integer({ min: 1, max: 60 }),
      branching: fc.integer({ min: 1, max: 12 }),
      linksPerPage: fc.constantFrom(0, 5, [10, 20] as const),
      crossHostLinks: share,
      privatePages: share,
      redirects: fc.record({ share, loops: share }),
      linkNoise: fc.record({ duplicates: share, fragments: share, utm: share, nofollow: share }),
      statusMix: fc.record({ missing: share, failing: share, recovering: share }),
      brokenHosts: fc.record({ share }),
    });
    fc.assert(
      fc.property(options, (knobs) => {
        const found = reachable(knobs);
        for (const url of build(knobs).urls.allUrls()) expect(found).toContain(url.replace(/:80\//, '/'));
      }),
      { numRuns: 60 },
    );
  });

  it('finds each page from its path, and nothing from other paths', () => {
    const { site } = build({ pagesPerHost: 500, privatePages: 0.2 });
    const paths = Array.from({ length: 500 }, (_, page) => site.path(page));
    expect(paths.map((path) => site.pageAt(path))).toEqual(paths.map((_, page) => page));
    expect(new Set(paths).size).toBe(500);
    const strangers = [
      '/x',
      '',
      '/robots.txt',
      '/travel/quiet-harbor-harbor-500',
      `${paths[3]}x`,
      '/a-3',
      '/--1',
      '/-0',
      '/-1e2',
    ];
    for (const path of strangers) expect(site.pageAt(path)).toBe(-1);
  });

  it('breaks only leaves, in about the asked shares', () => {
    const { site, urls } = build({ pagesPerHost: 5000, statusMix: { missing: 0.2, failing: 0.1 }, privatePages: 0.1 });
    const kinds = [...urls.map()].map(({ kind }) => kind);
    const lastInner = Math.floor((5000 - 2) / 10);
    expect(kinds.slice(0, lastInner + 1).every((kind) => kind === 'page')).toBe(true);
    const count = (kind: string): number => kinds.filter((each) => each === kind).length / (5000 - lastInner);
    expect(count('missing')).toBeGreaterThan(0.14);
    expect(count('missing')).toBeLessThan(0.22);
    expect(count('failing')).toBeGreaterThan(0.06);
    expect(count('private')).toBeGreaterThan(0.08);
    expect(site.kind(0, 0)).toBe('page');
  });

  it('keeps host 0 whole, breaks and slows others by share, and lets overrides win', () => {
    const { site, urls } = build({
      hosts: 1000,
      brokenHosts: { share: 0.3, faults: ['hang', 'reset'] },
      slowHosts: { share: 0.2, latencyMs: 700 },
      overrides: { 5: { fault: 'none', latencyMs: 3 }, 6: { fault: 'huge' } },
    });
    const plans = Array.from({ length: 1000 }, (_, host) => site.host(host));
    const broken = plans.filter(({ fault }) => fault !== 'none').length;
    expect(broken).toBeGreaterThan(240);
    expect(broken).toBeLessThan(360);
    expect(plans.filter(({ latencyMs }) => latencyMs[0] === 700).length).toBeGreaterThan(140);
    expect(plans[0]).toMatchObject({ fault: 'none', latencyMs: [0, 0] });
    expect(plans[5]).toMatchObject({ fault: 'none', latencyMs: [3, 3] });
    expect(plans[6]).toMatchObject({ fault: 'huge' });
    expect(urls.seeds()).toHaveLength(1000 - broken);
  });
});
