// A batch with an engine that answers from a script and a clock that the test moves.
import { describe, expect, it } from 'vitest';
import { createManualTime, settled } from '../../../test/support/manual-time.js';
import { type Answer, scriptedEngine } from '../../../test/support/scripted-visits.js';
import { Configuration } from '../../configuration.js';
import type { Batch, Dispatcher } from '../../dispatch/dispatcher.js';
import { createPermits } from '../../dispatch/permits.js';
import { RateLimiter } from '../../dispatch/rate-limiter.js';
import { CrawlError } from '../../errors.js';
import { createPageMemory } from '../../fresh/memory/memory.js';
import { Log, LogLevel } from '../../observe/log.js';
import { createMemoryHosts } from '../../politeness/hosts.js';
import type { CrawlOrder } from '../navigate/order.js';
import type { CrawlResult } from './crawl-result.js';
import { resolveRunConfig, type RunConfig } from './run-config.js';
import { type BatchParts, type RunningBatch, startBatch } from './run.js';
import type { UrlItem } from './tasks.js';

interface Given {
  readonly answer?: (url: string, order: CrawlOrder) => Answer | Promise<Answer>;
  readonly permits?: number;
  readonly config?: RunConfig;
  readonly baseDelayMs?: number;
  readonly unread?: () => number;
}

const urls = (count: number): string[] => Array.from({ length: count }, (_, i) => `http://site-${i}.test/`);

function scene(
  items: BatchParts['items'],
  { answer = () => ({}), permits = 2, config, baseDelayMs, unread }: Given = {},
) {
  const time = createManualTime();
  const sent: CrawlOrder[] = [];
  const results = new Map<number, CrawlResult>();
  const engine = scriptedEngine(sent, (order) => answer(order.url, order));
  const limiter = baseDelayMs === undefined ? undefined : new RateLimiter({ baseDelayMs }, time);
  const places = createPermits(permits);
  let batch: Batch | undefined;
  const dispatcher: Dispatcher = {
    permits,
    rateLimiter: limiter,
    monitor: undefined,
    join: (joining) => places.join((batch = joining)),
  };
  const running: RunningBatch = startBatch({
    items,
    config: resolveRunConfig(config),
    dispatcher,
    unread,
    onResult: (result, index) => {
      if (results.has(index)) throw new Error(`a second result of ${index}`);
      results.set(index, result);
    },
    resources: {
      engine,
      http: engine,
      time,
      flush: async () => undefined,
      allowHost: async () => false,
      hostsOf: async () => createMemoryHosts({ now: time.monotonicMs }),
      config: new Configuration({ persistStorage: false }),
      openMemory: async () => createPageMemory(),
      log: new Log({ level: LogLevel.OFF }),
      hooks: {},
      memoryMb: () => 1,
      engineName: 'http',
      slowShare: undefined,
      connections: createPermits(Infinity),
    },
  });

  /** How it ends, with as much time as it needs. */
  async function end(): Promise<'ended' | CrawlError> {
    let how: 'ended' | CrawlError | undefined;
    running.ended.then(
      () => (how = 'ended'),
      (error: CrawlError) => (how = error),
    );
    for (let rounds = 0; !how && rounds < 100; rounds++) await time.advance(1_000);
    return how!;
  }
  return { time, sent, results, running, end, shed: (count: number) => batch!.shed(count), batch: () => batch! };
}

/** Visits that hang until they are let go. */
function hanging() {
  let letGo = () => undefined as void;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  return { held, letGo };
}

describe('a batch', () => {
  it('gives one result per URL, under its place in the list, also for one given twice', async () => {
    const list = [...urls(3), 'http://site-0.test/'];
    const { end, results, time } = scene(list);
    expect(await end()).toBe('ended');
    expect([...results].sort(([a], [b]) => a - b).map(([index, { url, success }]) => [index, url, success])).toEqual(
      list.map((url, index) => [index, url, true]),
    );
    expect(time.timers).toBe(0);
  });

  it('gives the bytes of what is not text', async () => {
    const { end, results } = scene(['http://a.test/'], {
      answer: () => ({ headers: { 'content-type': 'image/png' }, body: Buffer.from([1, 2, 3]) }),
    });
    expect(await end()).toBe('ended');
    expect([...results.get(0)!.body]).toEqual([1, 2, 3]);
    expect(Object.keys(results.get(0)!.toJSON())).not.toContain('body');
  });

  it('refuses an item with a name that it does not know, alone', async () => {
    const items = ['http://a.test/', { url: 'http://b.test/', method: 'POST', body: 'x' } as UrlItem];
    const { end, results, sent } = scene(items);
    expect(await end()).toBe('ended');
    expect(results.get(0)).toMatchObject({ success: true });
    expect(results.get(1)).toMatchObject({ success: false, errorCode: 'OPTION_INVALID' });
    expect(results.get(1)!.errorMessage).toMatch(/"method".*"body"/s);
    expect(sent.map(({ url }) => url)).toEqual(['http://a.test/']);
  });

  it('takes items of a higher priority first, whatever their domain', async () => {
    const list = urls(4);
    const items: UrlItem[] = list.map((url, index) => ({ url, priority: ([0, -1, 2, 1] as const)[index] }));
    const { end, sent, results } = scene(items, { permits: 1 });
    expect(await end()).toBe('ended');
    for (const [index, { url }] of results) expect(url).toBe(list[index]);
    expect(sent.map(({ url }) => url)).toEqual([2, 3, 0, 1].map((n) => list[n]));
  });

  it('never has more in work than its dispatcher permits', async () => {
    let atOnce = 0;
    let most = 0;
    const { end, results } = scene(urls(9), {
      permits: 3,
      answer: async () => {
        most = Math.max(most, ++atOnce);
        await settled();
        atOnce--;
        return {};
      },
    });
    await end();
    expect([most, results.size]).toEqual([3, 9]);
  });

  it('ends what cannot be asked for as a failure of its own', async () => {
    const bad = [undefined as never, 'no url', { url: 'http://a.test/', config: { pageTimeoutMs: -1 } }] as UrlItem[];
    const { end, results, sent } = scene([...bad, 'http://a.test/']);
    expect(await end()).toBe('ended');
    expect([...results.values()].map(({ errorCode }) => errorCode)).toEqual(
      expect.arrayContaining(['URL_INVALID', 'OPTION_INVALID', null]),
    );
    expect([results.size, sent.length]).toEqual([4, 1]);
  });

  it('tries again after a growing wait, by its own clock, and tells how often', async () => {
    const { end, results, sent, time } = scene(['http://a.test/'], {
      config: { maxRetries: 2 },
      answer: () => (sent.length < 3 ? new CrawlError('CONNECT_RESET') : {}),
    });
    await time.advance(0);
    expect(sent.length).toBe(1);
    await time.advance(749);
    expect(sent.length).toBe(1);
    await end();
    expect(results.get(0)).toMatchObject({ success: true, dispatch: { attempts: 3 } });
  });

  it('fails with the status, after the retries its config allows', async () => {
    const { end, results, sent } = scene(['http://a.test/'], {
      config: { maxRetries: 1 },
      answer: () => ({ statusCode: 500 }),
    });
    await end();
    expect(results.get(0)).toMatchObject({ success: false, errorCode: 'HTTP_STATUS', statusCode: 500 });
    expect(sent.length).toBe(2);
  });

  it('comes back when a host asked it to, three times at most', async () => {
    const { end, results, sent, time } = scene(['http://a.test/'], {
      answer: () => ({ statusCode: 503, headers: { 'retry-after': '5' } }),
    });
    await time.advance(4_999);
    expect(sent.length).toBe(1);
    await time.advance(1_100);
    expect(sent.length).toBe(2);
    await end();
    expect(results.get(0)).toMatchObject({ success: false, statusCode: 503 });
    expect(sent.length).toBeLessThanOrEqual(5);
  });

  it('rests a domain between two requests where a limiter says so', async () => {
    const { sent, time, end } = scene(['http://a.test/1', 'http://a.test/2'], { baseDelayMs: 3_000 });
    await time.advance(2_999);
    expect(sent.length).toBe(1);
    await end();
    expect(sent.length).toBe(2);
  });

  it('reads its list only as far as slots need it, and starts nothing while results lie unread', async () => {
    let pulled = 0;
    function* endless() {
      for (;;) yield `http://site-${pulled++}.test/`;
    }
    let unread = 0;
    const { results, sent, running, time } = scene(endless(), { unread: () => unread, answer: () => ({}) });
    unread = 4;
    await time.advance(3_000);
    const before = [results.size, sent.length];
    await time.advance(3_000);
    expect([results.size, sent.length]).toEqual(before);
    expect(pulled).toBeLessThan(100);
    unread = 0;
    running.wake();
    await settled();
    expect(results.size).toBeGreaterThan(before[0]!);
    await running.abort();
  });

  it('looks further down its list when one slow domain has had all slots for a second', async () => {
    const { held, letGo } = hanging();
    let pulled = 0;
    function* list() {
      for (; pulled < 8; pulled++) yield `http://slow.test/${pulled}`;
      yield* urls(2);
    }
    const { results, time, end } = scene(list(), { answer: () => held.then(() => ({})) });
    await time.advance(999);
    const before = pulled;
    expect(before).toBeLessThan(8);
    await time.advance(1_001);
    expect(pulled).toBeGreaterThan(before);
    letGo();
    expect(await end()).toBe('ended');
    expect(results.size).toBe(10);
  });

  it('breaks off the youngest when memory is short, and asks for them again', async () => {
    const { held, letGo } = hanging();
    const breakable = (order: CrawlOrder) =>
      new Promise<Answer>((resolve) => {
        void held.then(() => resolve({}));
        order.signal!.addEventListener('abort', () => resolve(new CrawlError('ABORTED')));
      });
    const { shed, sent, end, results, time } = scene(urls(2), { answer: (_, order) => breakable(order) });
    await time.advance(0);
    // At least one is left to go on.
    expect(shed(5)).toBe(1);
    await settled();
    letGo();
    expect(await end()).toBe('ended');
    expect(sent.map(({ url }) => url)).toEqual([...urls(2), urls(2)[1]]);
    expect([...results.values()].every(({ success }) => success)).toBe(true);
  });

  it('tells its dispatcher how long the longest has waited', async () => {
    const { held, letGo } = hanging();
    const { batch, time, end } = scene(urls(3), { permits: 1, answer: () => held.then(() => ({})) });
    await time.advance(7_000);
    expect(batch().longestWaitMs()).toBe(7_000);
    letGo();
    await end();
    expect(batch().longestWaitMs()).toBe(0);
  });

  it('stops: what is under way still ends in results, nothing more starts', async () => {
    const { held, letGo } = hanging();
    const { running, results, end, time } = scene(urls(5), { answer: () => held.then(() => ({})) });
    await time.advance(0);
    running.stop();
    letGo();
    expect(await end()).toBe('ended');
    expect(results.size).toBe(2);
  });

  it('aborts: everything is broken off and no more results come', async () => {
    const { running, results, time, end } = scene(urls(5), {
      answer: (_, order) =>
        new Promise((resolve) => order.signal!.addEventListener('abort', () => resolve(new CrawlError('ABORTED')))),
    });
    await time.advance(0);
    await running.abort();
    expect(await end()).toMatchObject({ code: 'ABORTED' });
    expect(results.size).toBe(0);
  });

  it('gives the results of what it read before its list failed, and then the failure', async () => {
    async function* failing() {
      yield* urls(2);
      throw new Error('the list broke');
    }
    const { end, results } = scene(failing());
    expect(await end()).toMatchObject({ message: 'the list broke' });
    expect(results.size).toBe(2);
  });

  it('ends as ROBOTS_DENIED what the robots.txt of its host forbids', async () => {
    // Loaded for those who use it, which takes real time.
    await Promise.all([import('../polite/gate.js'), import('../polite/robots-reader.js')]);
    const { end, results, sent } = scene(['http://a.test/private', 'http://a.test/open'], {
      config: { respectRobots: true },
      answer: (url) => {
        const body = Buffer.from('User-agent: *\nDisallow: /private');
        async function* stream() {
          yield body;
        }
        return url.endsWith('robots.txt') ? { body, stream: stream() as never } : {};
      },
    });
    expect(await end()).toBe('ended');
    expect([results.get(0)!.errorCode, results.get(1)!.success]).toEqual(['ROBOTS_DENIED', true]);
    expect(sent.map(({ url }) => url)).toEqual(['http://a.test/robots.txt', 'http://a.test/open']);
  });
});
