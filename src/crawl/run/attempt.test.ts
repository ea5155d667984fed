// An attempt with a scripted engine: what it sends, whom it tells and how it is settled.
import { describe, expect, it } from 'vitest';
import { AddressRefusedError, CrawlError } from '../../errors.js';
import { type Answer, captureOf, navigationRules, scriptedEngine } from '../../../test/support/scripted-visits.js';
import type { Capture } from '../../fetch/engine.js';
import type { Landing, Lease } from '../../frontier/frontier.js';
import { Log, LogLevel } from '../../observe/log.js';
import { Request, type RequestOptions } from '../../request/request.js';
import { createHttpSide } from '../navigate/http-side.js';
import { createNavigation, type NavigationRules } from '../navigate/navigate.js';
import { createManualTime } from '../../../test/support/manual-time.js';
import type { CrawlOrder } from '../navigate/order.js';
import { attempt } from './attempt.js';
import type { BaseContext, VisitServices } from './services.js';
import { createPlainTurn } from './turn.js';

interface Scene {
  readonly sent: CrawlOrder[];
  readonly landed: Landing[];
  readonly skipped: { url: string; reason: string }[];
  readonly told: string[];
  visit(options: RequestOptions, isGood?: () => boolean): ReturnType<typeof attempt>;
}

function scene(answers: Answer[], changes: Partial<NavigationRules> = {}, handler: () => unknown = () => undefined) {
  const sent: CrawlOrder[] = [];
  const landed: Landing[] = [];
  const skipped: Scene['skipped'] = [];
  const told: string[] = [];
  const engine = scriptedEngine(sent, () => answers.shift()!);
  const rules = navigationRules(changes);
  const side = createHttpSide<object>({
    rules,
    preNavigationHooks: [() => void told.push('pre')],
    postNavigationHooks: [() => void told.push('post')],
    userAgentFor: () => 'test',
    checksType: true,
    add: () => ({ afterHandler: () => void told.push('released') }),
  });
  const allowed: string[] = [];
  const services: VisitServices<BaseContext> = {
    log: new Log({ level: LogLevel.OFF }),
    navigate: createNavigation<object>({
      engine,
      rules,
      sideOf: () => side,
      allowHost: async (url) => allowed.push(url) > 0,
      refuseVisit: (url) => (url.includes('excluded') ? 'DOMAIN_EXCLUDED' : undefined),
    }),
    handlers: {
      timeoutMs: 1_000,
      request: () => {
        told.push('handler');
        return handler();
      },
      error: (_, error) => void told.push(`error ${(error as CrawlError).code}`),
      failed: (_, error) => void told.push(`failed ${(error as CrawlError).code}`),
    },
    turn: { plain: createPlainTurn(10_000, 0), land: (landing) => void landed.push(landing), isPaced: true },
    links: {
      queue: { isKnown: () => false, glance: () => 'new', paceBy: 'domain' },
      maxCrawlDepth: undefined,
      roomForRequests: () => Infinity,
      onSkipped: (one) => void skipped.push(one),
    },
    limits: { maxRequestRetries: 1, maxSessionRotations: 1, retryDelayMs: 100, maxRetryDelayMs: 100 },
    time: createManualTime(() => 1),
    openContext: (request) => ({ context: { request, log: services.log } }),
    signal: new AbortController().signal,
    onFatal: (error) => void told.push(`fatal ${error.code}`),
  };
  const visit: Scene['visit'] = async (options, isGood = () => true) => {
    const request = new Request(options);
    const lease = {
      id: 7,
      record: request.toRecord(),
      priority: 0,
      domain: 'a.test',
      fingerprint: request.fingerprint,
    };
    const finished = await attempt(services, lease as unknown as Lease, isGood);
    finished.onSettled?.(true);
    return finished;
  };
  return { sent, landed, skipped, told, allowed, services, visit };
}

const URL_A = 'http://a.test/';

describe('an attempt', () => {
  it('runs hooks, handler and release in order, ends its turn once and settles as done', async () => {
    const { visit, told, landed, sent } = scene([{}]);
    expect((await visit({ url: URL_A })).settlement).toMatchObject({ kind: 'done', lease: 7 });
    expect(told).toEqual(['pre', 'post', 'handler', 'released']);
    expect(landed).toEqual([{ lease: 7 }]);
    expect(sent).toHaveLength(1);
  });

  it('sends nothing when its lease ran out, and goes back untouched', async () => {
    const { visit, landed, sent } = scene([{}]);
    expect((await visit({ url: URL_A }, () => false)).settlement.kind).toBe('untouched');
    expect([landed, sent]).toEqual([[], []]);
  });

  it('is tried again after a transient failure, and fails when its retries are used up', async () => {
    const busy = { statusCode: 500 };
    const { visit, told } = scene([busy, busy]);
    expect((await visit({ url: URL_A })).settlement).toMatchObject({ kind: 'retry', afterMs: 100 });
    expect((await visit({ url: URL_A, retryCount: 1 })).settlement).toMatchObject({
      kind: 'failed',
      reason: 'HTTP_STATUS',
    });
    expect(told).toEqual(['pre', 'error HTTP_STATUS', 'pre', 'failed HTTP_STATUS']);
  });

  it('comes back when its host asked it to, and counts no retry', async () => {
    const { visit, landed } = scene([{ statusCode: 503, headers: { 'retry-after': '5' } }]);
    const { settlement } = await visit({ url: URL_A, retryCount: 1 });
    expect(settlement).toMatchObject({ kind: 'retry', afterMs: 0 });
    expect(Request.fromRecord((settlement as { record: string }).record)).toMatchObject({
      retryCount: 1,
      retryAfterCount: 1,
    });
    expect(landed).toEqual([{ lease: 7, pauseMs: 5_001 }]);
  });

  it('queues a redirect in front of its target, under the URL that was asked for', async () => {
    const { visit, told } = scene([{ statusCode: 302, redirectTo: 'http://b.test/x' }]);
    const { settlement } = await visit({ url: URL_A });
    expect(settlement).toMatchObject({ kind: 'skipped', reason: 'redirected' });
    const [link] = settlement.links!;
    expect(link).toMatchObject({ domain: 'b.test', forefront: true });
    expect(Request.fromRecord(link!.record)).toMatchObject({ url: URL_A, target: 'http://b.test/x' });
    expect(told).toEqual(['pre']);
  });

  it('tells of a redirect that is refused, whoever followed it', async () => {
    const target = 'http://excluded.test/';
    const reported = scene([{ statusCode: 302, redirectTo: target }]);
    const followed = scene([{ statusCode: 302, refusedRedirect: { url: target, reason: 'DOMAIN_EXCLUDED' } }]);
    for (const { visit, skipped } of [reported, followed]) {
      expect((await visit({ url: URL_A })).settlement).toMatchObject({ kind: 'skipped', reason: 'redirect' });
      expect(skipped).toEqual([{ url: target, reason: 'DOMAIN_EXCLUDED' }]);
    }
  });

  it('asks once more, without its hooks, when a seed names a private address', async () => {
    const refused = () => new AddressRefusedError('a.test', 'a.test: private');
    const seeded = scene([refused(), {}]);
    expect((await seeded.visit({ url: URL_A, seeded: true })).settlement.kind).toBe('done');
    expect(seeded.told).toEqual(['pre', 'post', 'handler', 'released']);
    expect(seeded.allowed).toEqual([URL_A]);
    const found = scene([refused()]);
    expect((await found.visit({ url: URL_A })).settlement).toMatchObject({ kind: 'failed', reason: 'ADDRESS_REFUSED' });
  });

  it('fails for a chain that is longer than allowed, and for a type that no handler reads', async () => {
    const chain = Array.from({ length: 11 }, (_, hop) => `http://a.test/${hop}`);
    const { visit } = scene([{ redirectChain: chain }, { headers: { 'content-type': 'image/png' } }]);
    expect((await visit({ url: URL_A })).settlement).toMatchObject({ reason: 'REDIRECT_LIMIT' });
    expect((await visit({ url: URL_A })).settlement).toMatchObject({ reason: 'CONTENT_TYPE' });
  });

  it('gives its turn back once, also when the page is asked for once more where nothing is paced', async () => {
    const { services, landed, visit } = scene([]);
    const twice: VisitServices['navigate'] = async (visiting) => {
      for (const _ of [1, 2]) {
        visiting.beginTurn();
        visiting.endTurn(captureOf(URL_A));
        expect(await visiting.again(undefined)).toBe(true);
      }
      return { kind: 'handled' };
    };
    Object.assign(services, { navigate: twice, turn: { ...services.turn, isPaced: false } });
    expect((await visit({ url: URL_A })).settlement.kind).toBe('done');
    expect(landed).toHaveLength(1);
  });

  it('leaves the turn unused when the page came from the cache', async () => {
    const { visit, landed } = scene([{ cacheStatus: 'hit' } as Partial<Capture>]);
    expect((await visit({ url: URL_A })).settlement.kind).toBe('done');
    expect(landed).toEqual([]);
  });

  it('leaves nothing of a handler that failed, and ends the crawl for a fatal error', async () => {
    const failing = scene([{}], {}, () => Promise.reject(new Error('bug')));
    expect((await failing.visit({ url: URL_A })).settlement).toMatchObject({ kind: 'retry' });
    const fatal = scene([{}], {}, () => Promise.reject(new CrawlError('STORAGE_FULL')));
    expect((await fatal.visit({ url: URL_A })).settlement.kind).toBe('untouched');
    expect(fatal.told).toContain('fatal STORAGE_FULL');
  });
});
