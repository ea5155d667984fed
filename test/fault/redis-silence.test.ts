// Connections to Redis that fall silent while new ones work: the call is made again over a new one, the leases and the
// supervisor's role survive, and a crawl continues, ends, and obeys a signal.
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFrontierClient } from '../../src/frontier/client.js';
import { openRedisFrontier } from '../../src/frontier/redis/frontier.js';
import { Request } from '../../src/request/request.js';
import { entries } from '../../src/testing/conformance/bench.js';
import { Simweb } from '../../src/testing/index.js';
import { until } from '../support/pods-crawl.js';
import { lastLine, podsTrial } from '../support/pods-trial.js';
import { redisMissing, type RedisServer, startRedis } from '../support/redis-server.js';
import { type Silence, type SilentProxy, startSilentProxy } from '../support/silent-proxy.js';

const DIRECTIONS: readonly Silence[] = ['both', 'toServer', 'toClient'];

async function redisBehindProxy(...settings: string[]): Promise<{ server: RedisServer; proxy: SilentProxy }> {
  const server = await startRedis(settings);
  const proxy = await startSilentProxy(server.port);
  onTestFinished(async () => {
    await proxy.close();
    await server.dispose();
  });
  return { server, proxy };
}

describe.skipIf(redisMissing)(`a silent connection${redisMissing ? `: skipped, ${redisMissing}` : ''}`, () => {
  it.each(DIRECTIONS)('is left for a new one, and the call is made once (%s)', async (direction) => {
    const { proxy } = await redisBehindProxy();
    const url = `redis://127.0.0.1:${proxy.port}`;
    const pacing = { delayMs: 0, turns: 100 };
    const frontier = await openRedisFrontier({ url, pacing, commandTimeoutMs: 700, patienceMs: 20_000 });
    onTestFinished(() => frontier.abandon());
    const client = createFrontierClient(frontier);
    await client.add(entries(6));
    await client.lease({ max: 1 });
    proxy.silence(direction);
    const { leases } = await client.lease({ max: 2 });
    expect(leases.length).toBe(2);
    // A call without a number, too.
    proxy.silence(direction);
    expect((await frontier.overview()).counters).toMatchObject({ accepted: 6, leased: 3, queued: 3 });
    expect(proxy.accepted).toBe(3);
  });

  it('costs a call its wait, not its answer, also when the wait is all the patience there is', async () => {
    const { proxy } = await redisBehindProxy();
    const frontier = await openRedisFrontier({
      url: `redis://127.0.0.1:${proxy.port}`,
      pacing: { delayMs: 0, turns: 100 },
      commandTimeoutMs: 30_000,
      patienceMs: 1_500,
    });
    onTestFinished(() => frontier.abandon());
    await createFrontierClient(frontier).add(entries(3));
    proxy.silence('both');
    expect((await frontier.overview()).counters.accepted).toBe(3);
  });

  it('is left in time for the leases to survive it, whatever a command may take', async () => {
    const { proxy } = await redisBehindProxy();
    const leaseMs = 12_000;
    const frontier = await openRedisFrontier({
      url: `redis://127.0.0.1:${proxy.port}`,
      pacing: { delayMs: 0, turns: 100 },
      commandTimeoutMs: 30_000,
      leaseMs,
    });
    onTestFinished(() => frontier.abandon());
    const client = createFrontierClient(frontier, { leaseMs });
    await client.add(entries(3));
    const life = client.id;
    const { leases } = await client.lease({ max: 3 });
    proxy.silence('both');
    // As a run renews: every third of the lease. Were it late, the leases would be gone and the life a new one.
    await new Promise((resume) => setTimeout(resume, leaseMs / 3));
    await client.renew();
    expect(client.isGood(life)).toBe(true);
    const settlements = leases.map(({ id }) => ({ kind: 'done' as const, lease: id }));
    expect((await client.settle({ settlements })).accepted).toEqual([true, true, true]);
  });
});

describe.skipIf(redisMissing)('a crawl on pods whose connections fall silent', () => {
  const keys = (web: Simweb): string[] => [...web.allUrls()].map((url) => new Request({ url }).uniqueKey).sort();

  async function trial(web: Simweb, ...more: string[]) {
    const { server, proxy } = await redisBehindProxy('--appendonly', 'yes', '--appendfsync', 'always');
    const made = await podsTrial({
      seeds: web.seeds(),
      more: [`pods: [{ redis_url: "redis://127.0.0.1:${proxy.port}" }]`, 'fetcher_workers: 2', ...more],
    });
    return { ...made, server, proxy };
  }

  it.each(DIRECTIONS)('goes on and ends, with every page once (%s)', async (direction) => {
    await using web = await Simweb.start({ hosts: 4, pagesPerHost: 20, pageBytes: 500, latencyMs: 50 });
    const { run, proxy, stored } = await trial(web);
    const running = run();
    await until(async () => web.served() > 10);
    proxy.silence(direction);
    const { code, stdout, stderr } = await running.ended;
    expect([code, lastLine(stdout)], stderr).toEqual([0, '80 pages: nothing is left to crawl']);
    expect(await stored()).toEqual(keys(web));
  });

  it('keeps the role of supervisor, which runs out after 15 s', async () => {
    await using web = await Simweb.start({ hosts: 2, pagesPerHost: 40, pageBytes: 500 });
    const { run, proxy, server } = await trial(web, 'politeness_delay_seconds: 1');
    const client = new Redis(server.url);
    onTestFinished(() => client.disconnect());
    const running = run();
    await until(async () => web.served() > 4);
    const role = await client.hget('pod:owner', 'token');
    proxy.silence('both');
    const roles = new Set<string | null>();
    for (const endMs = performance.now() + 20_000; performance.now() < endMs;) {
      roles.add(await client.hget('pod:owner', 'token'));
      await new Promise((resume) => setTimeout(resume, 200));
    }
    expect(roles).toEqual(new Set([role]));
    running.signal('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(await client.exists('pod:owner')).toBe(0);
  });

  it('ends by a signal, gives its role back, and is continued', async () => {
    await using web = await Simweb.start({ hosts: 4, pagesPerHost: 20, pageBytes: 500, latencyMs: 100 });
    const { run, proxy, stored } = await trial(web);
    const first = run();
    await until(async () => web.served() > 10);
    proxy.silence('both');
    const silencedMs = performance.now();
    first.signal('SIGINT');
    const { code, stdout, stderr } = await first.ended;
    expect([code, lastLine(stdout)], stderr).toEqual([130, expect.stringContaining('interrupted; --resume continues')]);
    // It took more than 60 s when each process waited for its calls one after the other.
    expect(performance.now() - silencedMs).toBeLessThan(45_000);
    const { stdout: end, stderr: why } = await run('--resume').ended;
    expect(lastLine(end), why).toBe('80 pages: nothing is left to crawl');
    expect(await stored()).toEqual(keys(web));
  });
});
