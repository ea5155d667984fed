// A run over a frontier in memory, with an engine that answers from a script and a clock that the test moves.
import { describe, expect, it } from 'vitest';
import { createManualTime, settled } from '../../../test/support/manual-time.js';
import { type Answer, navigationRules, scriptedEngine } from '../../../test/support/scripted-visits.js';
import { Configuration } from '../../configuration.js';
import { CrawlError } from '../../errors.js';
import { createFrontierClient } from '../../frontier/client.js';
import { createMemoryFrontier } from '../../frontier/embedded/store/memory.js';
import { entryOf } from '../../frontier/entry.js';
import { createRecentFingerprints } from '../../frontier/recent.js';
import { Log, LogLevel } from '../../observe/log.js';
import { Request } from '../../request/request.js';
import { createHttpSide } from '../navigate/http-side.js';
import { createNavigation } from '../navigate/navigate.js';
import type { CrawlOrder } from '../navigate/order.js';
import type { Gate, GateDecision } from '../polite/gate.js';
import { type Run, type RunParts, startRun } from './lifecycle.js';
import type { BaseContext } from './services.js';
import { createPlainTurn } from './turn.js';

const LEASE_MS = 60_000;
const urls = (count: number): string[] => Array.from({ length: count }, (_, i) => `http://site-${i}.test/`);

/** Starts runs over one queue of so many URLs, each of its own domain. */
async function scene(count: number, answer: (url: string) => Answer | Promise<Answer> = () => ({})) {
  const time = createManualTime(() => 1);
  const frontier = createMemoryFrontier({ pacing: { delayMs: 0, turns: 10 }, leaseMs: LEASE_MS, clock: time });
  const client = createFrontierClient(frontier, { id: 'one', leaseMs: LEASE_MS });
  await client.add(urls(count).map((url) => entryOf(new Request({ url }))));
  const sent: CrawlOrder[] = [];
  const log = new Log({ level: LogLevel.OFF });
  const rules = navigationRules({ redirects: 'follow' });
  const side = createHttpSide<object>({
    ...{ rules, preNavigationHooks: [], postNavigationHooks: [], checksType: true },
    userAgentFor: () => 'test',
    add: () => undefined,
  });
  const engine = scriptedEngine(sent, ({ url }) => answer(url));
  const handled: string[] = [];

  function start(
    changes: Partial<RunParts<BaseContext>> = {},
    handler: (url: string) => unknown = () => undefined,
  ): Run {
    return startRun<BaseContext>({
      queue: { client, recent: createRecentFingerprints(), leaseMs: LEASE_MS, overview: () => frontier.overview() },
      services: {
        log,
        time,
        navigate: createNavigation<object>({ engine, rules, sideOf: () => side, allowHost: async () => false }),
        handlers: {
          timeoutMs: 1_000,
          request({ request: { url } }) {
            handled.push(url);
            return handler(url);
          },
        },
        turn: { plain: createPlainTurn(10_000, 0), isPaced: false },
        limits: { maxRequestRetries: 1, maxSessionRotations: 1, retryDelayMs: 5_000, maxRetryDelayMs: 5_000 },
        openContext: (request) => ({ context: { request, log } }),
      },
      config: Configuration.getGlobalConfig(),
      poolOptions: { minConcurrency: 2, maxConcurrency: 2 },
      followsLoad: false,
      maxEnded: Infinity,
      leaseAhead: true,
      keepAlive: false,
      seedsAreIn: () => true,
      ...changes,
    });
  }

  /** How the run ends, with as much time as it needs. */
  async function endOf({ ended }: Run) {
    let end: Awaited<typeof ended> | undefined;
    void ended.then((how) => (end = how));
    for (let rounds = 0; !end && rounds < 100; rounds++) await time.advance(1_000);
    return end;
  }

  const counters = async () => (await frontier.overview()).counters;
  return { time, frontier, client, sent, handled, start, endOf, counters };
}

/** A visit that hangs until it is let go. */
function hanging() {
  let letGo = () => undefined as void;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  return { held, letGo };
}

describe('a run', () => {
  it('visits every request once, two at a time, and ends when nothing is pending', async () => {
    let atOnce = 0;
    let most = 0;
    const { start, endOf, handled, counters, time } = await scene(7, async () => {
      most = Math.max(most, ++atOnce);
      await settled();
      atOnce--;
      return {};
    });
    expect(await endOf(start())).toEqual({ kind: 'exhausted' });
    expect(handled.sort()).toEqual(urls(7));
    expect(most).toBe(2);
    expect(await counters()).toMatchObject({ done: 7, leased: 0, queued: 0 });
    expect(time.timers).toBe(0);
  });

  it('goes on while seeds are on their way, and while it is kept alive', async () => {
    const { start, client, handled, time, endOf } = await scene(1);
    let areIn = false;
    const run = start({ seedsAreIn: () => areIn });
    let isOver = false;
    void run.ended.then(() => (isOver = true));
    await time.advance(5_000);
    expect(isOver).toBe(false);
    await client.add([entryOf(new Request({ url: 'http://late.test/' }))]);
    areIn = true;
    run.notify();
    expect(await endOf(run)).toEqual({ kind: 'exhausted' });
    expect(handled).toContain('http://late.test/');
    const kept = start({ keepAlive: true });
    let isKeptOver = false;
    void kept.ended.then(() => (isKeptOver = true));
    await time.advance(60_000);
    expect(isKeptOver).toBe(false);
    kept.stop();
    expect(await endOf(kept)).toEqual({ kind: 'stopped' });
  });

  it('ends at its limit and leaves the rest in the queue', async () => {
    const { start, endOf, counters } = await scene(9);
    expect(await endOf(start({ maxEnded: 4 }))).toEqual({ kind: 'limit' });
    expect(await counters()).toMatchObject({ done: 4, leased: 0, queued: 5 });
  });

  it('waits before a retry as long as the policy says, by its own clock', async () => {
    let answers = 0;
    const { start, sent, time, endOf, counters } = await scene(1, () => (answers++ === 0 ? { statusCode: 500 } : {}));
    const run = start();
    await time.advance(4_999);
    expect(sent.length).toBe(1);
    await time.advance(1_000);
    expect(sent.length).toBe(2);
    expect(await endOf(run)).toEqual({ kind: 'exhausted' });
    expect(await counters()).toMatchObject({ done: 1, failed: 0 });
  });

  it('stops: what is under way ends, what was only leased goes back untouched', async () => {
    const { held, letGo } = hanging();
    const { start, handled, counters, endOf } = await scene(6, () => held.then(() => ({})));
    const run = start();
    await settled();
    expect((await counters()).leased).toBeGreaterThan(2);
    run.stop();
    letGo();
    expect(await endOf(run)).toEqual({ kind: 'stopped' });
    expect(handled.length).toBe(2);
    expect(await counters()).toMatchObject({ done: 2, leased: 0, queued: 4 });
  });

  it('aborts: what is on the wire is broken off and goes back untouched, with no retry counted', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const { start, sent, counters, endOf, client } = await scene(3, async () => {
      const { signal } = sent.at(-1)!;
      signals.push(signal);
      await new Promise((resolve) => signal!.addEventListener('abort', resolve));
      return new CrawlError('ABORTED');
    });
    const run = start();
    await settled();
    run.abort();
    expect(await endOf(run)).toEqual({ kind: 'aborted' });
    expect(await counters()).toMatchObject({ done: 0, failed: 0, leased: 0, queued: 3 });
    const { leases } = await client.lease({ max: 3 });
    expect(leases.map(({ record }) => Request.fromRecord(record).retryCount)).toEqual([0, 0, 0]);
  });

  it('keeps its leases alive for as long as a visit takes', async () => {
    const { held, letGo } = hanging();
    const { start, time, frontier, endOf, counters } = await scene(1, () => held.then(() => ({})));
    // Its one slot is taken: nothing else is asked of the queue.
    const run = start({ poolOptions: { minConcurrency: 1, maxConcurrency: 1 }, leaseAhead: false });
    await time.advance(5 * LEASE_MS);
    // Whoever asks now would get the lease of a holder that fell silent.
    const other = createFrontierClient(frontier, { id: 'two' });
    expect((await other.lease({ max: 1 })).leases).toEqual([]);
    letGo();
    expect(await endOf(run)).toEqual({ kind: 'exhausted' });
    expect(await counters()).toMatchObject({ done: 1 });
  });

  it('ends with a fatal error of a visit, and the request goes back', async () => {
    const { start, endOf, counters } = await scene(1);
    const run = start({}, () => Promise.reject(new CrawlError('STORAGE_FULL')));
    expect(await endOf(run)).toMatchObject({ kind: 'failed', error: { code: 'STORAGE_FULL' } });
    expect(await counters()).toMatchObject({ done: 0, leased: 0, queued: 1 });
  });

  it('ends with the error of a queue that no longer answers', async () => {
    const { start, client, endOf } = await scene(2);
    const overview = () => Promise.reject(new Error('never asked'));
    const broken = { ...client, settle: () => Promise.reject(new CrawlError('QUEUE_CORRUPT', 'gone')) };
    const run = start({ queue: { client: broken, recent: createRecentFingerprints(), leaseMs: LEASE_MS, overview } });
    expect(await endOf(run)).toMatchObject({ kind: 'failed', error: { code: 'QUEUE_CORRUPT' } });
  });

  it('asks no engine for what its owner refuses', async () => {
    const { start, endOf, sent, counters } = await scene(3);
    const run = start({
      refuseLease: ({ id, record }) =>
        record.includes('site-1')
          ? { settlement: { kind: 'skipped', lease: id, reason: 'excluded' }, items: [] }
          : undefined,
    });
    expect(await endOf(run)).toEqual({ kind: 'exhausted' });
    expect(sent.map(({ url }) => url).sort()).toEqual(['http://site-0.test/', 'http://site-2.test/']);
    expect(await counters()).toMatchObject({ done: 2, skipped: 1 });
  });

  it('tells of every slot that is taken and freed', async () => {
    const { start, endOf } = await scene(3);
    const slots: string[] = [];
    const onSlot: RunParts<BaseContext>['onSlot'] = ({ domain }) => {
      slots.push(`+${domain}`);
      return () => void slots.push(`-${domain}`);
    };
    await endOf(start({ onSlot }));
    expect(slots.filter((slot) => slot.startsWith('+')).length).toBe(3);
    expect(slots.filter((slot) => slot.startsWith('-')).length).toBe(3);
  });
});

describe('a run with a gate', () => {
  const gateOf = (admit: (domain: string, lease: number) => GateDecision | Promise<GateDecision>): Gate => ({
    admit: async ({ lease }) => admit(lease.domain, lease.id),
    bulkSkip: async () => [],
    bulkSkipDomains: () => undefined,
    refusal: () => undefined,
  });

  it('visits what the gate lets through and settles what ends there', async () => {
    const { start, endOf, sent, counters } = await scene(3);
    const openGate = () =>
      gateOf((domain, lease) =>
        domain === 'site-1.test'
          ? { kind: 'ended', visit: { settlement: { kind: 'skipped', lease, reason: 'robotsTxt' }, items: [] } }
          : { kind: 'go', turn: undefined },
      );
    expect(await endOf(start({ openGate }))).toEqual({ kind: 'exhausted' });
    expect(sent.map(({ url }) => url).sort()).toEqual(['http://site-0.test/', 'http://site-2.test/']);
    expect(await counters()).toMatchObject({ done: 2, skipped: 1 });
  });

  it('fails one request for what is its own fault, and ends with everything else', async () => {
    const own = await scene(2);
    const failing = gateOf((domain) => {
      if (domain === 'site-0.test') throw new CrawlError('URL_INVALID', 'cannot be asked for');
      return { kind: 'go', turn: undefined };
    });
    expect(await own.endOf(own.start({ openGate: () => failing }))).toEqual({ kind: 'exhausted' });
    expect(await own.counters()).toMatchObject({ done: 1, failed: 1 });

    const other = await scene(2);
    const broken = gateOf(() => Promise.reject(new Error('a bug')));
    expect(await other.endOf(other.start({ openGate: () => broken }))).toMatchObject({ kind: 'failed' });
    expect(await other.counters()).toMatchObject({ done: 0, leased: 0, queued: 2 });
  });

  it('settles bulk skips without visiting them', async () => {
    const { start, endOf, client, sent, counters } = await scene(1);
    await client.add(['a', 'b', 'c'].map((path) => entryOf(new Request({ url: `http://site-0.test/${path}` }))));
    const openGate = (): Gate => ({
      ...gateOf(() => ({ kind: 'go', turn: undefined })),
      bulkSkipDomains: () => ['site-0.test'],
      bulkSkip: async (leases) =>
        leases.map(({ id }) => ({ settlement: { kind: 'skipped', lease: id, reason: 'robotsTxt' }, items: [] })),
    });
    expect(await endOf(start({ openGate, poolOptions: { maxConcurrency: 1 } }))).toEqual({ kind: 'exhausted' });
    expect((await counters()).skipped).toBeGreaterThan(0);
    expect(sent.length + (await counters()).skipped).toBe(4);
  });
});
