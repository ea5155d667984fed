// A robots.txt that moved to a domain of another pod: followed there and back, each hop on the turn of its domain.
import { describe, expect, it } from 'vitest';
import { Simweb } from '../../src/testing/index.js';
import { podOf } from '../support/pods-crawl.js';
import { lastLine, podsTrial } from '../support/pods-trial.js';
import { redisMissing } from '../support/redis-server.js';

const HOSTS = 8;
const DELAY_MS = 200;

describe.each(['embedded', 'redis'] as const)('a robots.txt that leads through other pods (%s)', (kind) => {
  it.skipIf(kind === 'redis' && redisMissing)('is obeyed, and nobody is asked too early', async () => {
    await using web = await Simweb.start({ hosts: HOSTS, pagesPerHost: 4, pageBytes: 500, linksPerPage: 8 });
    const hosts = Array.from({ length: HOSTS }, (_, host) => host);
    const ours = hosts.filter((host) => podOf(web.url(host), 2) === podOf(web.url(0), 2));
    const theirs = hosts.filter((host) => !ours.includes(host));
    // There; or there, back to another of ours, and there again.
    const way = kind === 'embedded' ? [theirs[0]!] : [theirs[0]!, ours[1]!, theirs[1]!];
    const pathOf = (url: string): string => new URL(url).pathname;
    const step = (n: number): string => web.url(way[n]!, `/step${n}.txt`);
    web.serve('/robots.txt', { status: 301, headers: { location: step(0) } }, 0);
    way.forEach((host, n) => {
      const isLast = n === way.length - 1;
      const rules = { body: `User-agent: *\nDisallow: ${pathOf(web.url(0, 1))}\n` };
      web.serve(`/step${n}.txt`, isLast ? rules : { status: 302, headers: { location: step(n + 1) } }, host);
    });
    const { finished, stored } = await podsTrial({
      ...(kind === 'redis' ? { redis: 2 } : { embedded: 2 }),
      // A domain with work of its own, so that the relays have to wait for turns.
      seeds: [web.url(0, 1), web.url(0, 2), ...way.map((host) => web.url(host, 1))],
      more: [`politeness_delay_seconds: ${DELAY_MS / 1_000}`, 'seeded_urls_only: true'],
    });
    const { code, stdout, stderr } = await finished();
    expect(lastLine(stdout), stderr).toBe(`${way.length + 1} pages: nothing is left to crawl`);
    expect(code).toBe(0);
    const pages = await stored();
    expect(pages).not.toContain(web.url(0, 1));
    expect(pages).toContain(web.url(0, 2));
    way.forEach((host, n) => expect(web.requests({ host, path: `/step${n}.txt` })).toHaveLength(1));
    for (const host of [0, ...way]) expect(web.gaps(host).endToStartMs).toBeGreaterThanOrEqual(DELAY_MS);
  });
});
