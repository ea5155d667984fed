// The gate of a polite crawl, with robots.txt answers from a script and a clock that the test moves.
import { describe, expect, it } from 'vitest';
import { createManualTime } from '../../../test/support/manual-time.js';
import { type CrawlError, NonRetryableError } from '../../errors.js';
import type { Landing, Lease, Settlement } from '../../frontier/frontier.js';
import { createMemoryHosts } from '../../politeness/hosts.js';
import type { RobotsAnswer } from '../../politeness/robots/cache.js';
import { Request } from '../../request/request.js';
import { domainOf } from '../../request/url.js';
import { createGate, type GateDecision, type GateParts } from './gate.js';
import { createReply, RELAY_PATIENCE_MS, RELAY_POLL_MS, robotsRelayOf } from './robots-relay.js';

const DELAY_MS = 2_000;
const MAX_DELAY_MS = 60_000;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const file = (body: string): RobotsAnswer => ({ kind: 'answer', statusCode: 200, body: Buffer.from(body) });
const status = (statusCode: number): RobotsAnswer => ({ kind: 'answer', statusCode, body: Buffer.alloc(0) });
const unreached: RobotsAnswer = { kind: 'failure', code: 'CONNECT_REFUSED', message: 'nobody listens' };
const FORBIDS = 'User-agent: *\nDisallow: /private';

function scene(answers: Record<string, RobotsAnswer | (() => RobotsAnswer)>, changes: Partial<GateParts> = {}) {
  const time = createManualTime();
  const asked: string[] = [];
  const landed: Landing[] = [];
  const skipped: { url: string; reason: string }[] = [];
  const troubles: string[] = [];
  let leases = 0;
  const gate = createGate({
    store: createMemoryHosts({ now: time.monotonicMs }),
    shared: false,
    policyOf: () => ({ agent: 'orcrawl', ttlMs: DAY_MS, retryMs: 1_000, maxDelayMs: MAX_DELAY_MS }),
    paceOf: () => ({ minDelayMs: DELAY_MS, maxDelayMs: MAX_DELAY_MS, backoffMs: 1_000, adaptiveFactor: 0 }),
    async readRobots(url) {
      asked.push(url);
      const given = answers[url]!;
      const answer = typeof given === 'function' ? given() : given;
      return { answer, status: answer.kind === 'answer' ? answer.statusCode : answer.kind };
    },
    readTimeoutMs: 1_000,
    allowHost: async () => false,
    visitLog: undefined,
    signal: new AbortController().signal,
    time,
    paceBy: 'domain',
    laneOf: (url) => domainOf(url),
    refuseVisit: (url) => (url.includes('excluded') ? 'DOMAIN_EXCLUDED' : undefined),
    land: (landing) => void landed.push(landing),
    refuse: async ({ id }, { code }: CrawlError) => ({
      settlement: { kind: 'failed', lease: id, reason: code },
      items: [],
    }),
    onSkipped: (one) => void skipped.push(one),
    onTrouble: (origin, code) => void troubles.push(`${origin} ${code}`),
    ...changes,
  });

  /** A lease of a paced domain. */
  function leaseOf(given: string | Request, delayMs = DELAY_MS): Lease {
    const request = typeof given === 'string' ? new Request({ url: given }) : given;
    const [record, fingerprint] = [request.toRecord(), request.fingerprint];
    const domain = domainOf(request.url);
    return { id: ++leases, record, fingerprint, domain, priority: 0, lostLeases: 0, delayMs };
  }

  async function admit(given: string | Request | Lease, isGood = () => true): Promise<GateDecision> {
    const lease = typeof given === 'object' && 'record' in given ? given : leaseOf(given);
    const decision = await gate.admit({ lease, life: 'one' }, isGood);
    if (decision.kind === 'ended') decision.visit.onSettled?.(true);
    return decision;
  }
  const settlementOf = async (given: string | Request | Lease) => {
    const decision = await admit(given);
    return decision.kind === 'ended' ? decision.visit.settlement : decision.kind;
  };
  return { gate, time, asked, landed, skipped, troubles, leaseOf, admit, settlementOf };
}

describe('the gate of a polite crawl', () => {
  it('spends the first turn of a host on its robots.txt, and lets the page go on the next', async () => {
    const { admit, asked, landed } = scene({ 'http://a.test/robots.txt': file(FORBIDS) });
    expect(await admit('http://a.test/')).toMatchObject({
      kind: 'ended',
      visit: { settlement: { kind: 'untouched' } },
    });
    expect(landed).toEqual([{ lease: 1, delayMs: DELAY_MS + 1 }]);
    expect(await admit('http://a.test/')).toMatchObject({ kind: 'go' });
    expect(asked).toEqual(['http://a.test/robots.txt']);
  });

  it('goes on with the same lease after reading where nothing is paced', async () => {
    const free = { paceOf: () => ({ minDelayMs: 0, maxDelayMs: 1_000, backoffMs: 1_000, adaptiveFactor: 0 }) };
    const { admit, leaseOf, asked } = scene({ 'http://a.test/robots.txt': status(404) }, free);
    expect(await admit(leaseOf('http://a.test/', 0))).toMatchObject({ kind: 'go' });
    expect(asked.length).toBe(1);
  });

  it('reads a robots.txt once for all who wait, and again when its rules are a day old', async () => {
    const free = { paceOf: () => ({ minDelayMs: 0, maxDelayMs: 1_000, backoffMs: 1_000, adaptiveFactor: 0 }) };
    const { admit, leaseOf, asked, time } = scene({ 'http://a.test/robots.txt': file(FORBIDS) }, free);
    await Promise.all([1, 2, 3].map((page) => admit(leaseOf(`http://a.test/${page}`, 0))));
    expect(asked.length).toBe(1);
    await time.advance(DAY_MS + 1);
    await admit(leaseOf('http://a.test/4', 0));
    expect(asked.length).toBe(2);
  });

  it('skips what is forbidden without using the turn, and asks for more of its domain to skip', async () => {
    const { admit, gate, settlementOf, landed, skipped, leaseOf } = scene({
      'http://a.test/robots.txt': file(FORBIDS),
    });
    await admit('http://a.test/');
    landed.length = 0;
    expect(gate.bulkSkipDomains()).toBeUndefined();
    expect(await settlementOf('http://a.test/private/1')).toMatchObject({ kind: 'skipped', reason: 'robotsTxt' });
    expect(landed).toEqual([]);
    expect(skipped).toEqual([{ url: 'http://a.test/private/1', reason: 'robotsTxt' }]);
    expect(gate.bulkSkipDomains()).toEqual(['a.test']);
    const some = await gate.bulkSkip([leaseOf('http://a.test/private/2'), leaseOf('http://a.test/open')]);
    expect(some.map(({ settlement }) => settlement.kind)).toEqual(['skipped', 'untouched']);
    // With nothing to skip among them, no more are asked for.
    await gate.bulkSkip([leaseOf('http://a.test/open')]);
    expect(gate.bulkSkipDomains()).toBeUndefined();
  });

  it('tells of links that are forbidden as soon as the rules are at hand, and not before', async () => {
    const { gate, admit } = scene({ 'http://a.test/robots.txt': file(FORBIDS) });
    expect(gate.refusal('http://a.test/private')).toBeUndefined();
    await admit('http://a.test/');
    expect(gate.refusal('http://a.test/private')).toBe('robotsTxt');
    expect(gate.refusal('http://a.test/open')).toBeUndefined();
  });

  it('skips a host that asks for a longer delay than anybody waits', async () => {
    const { admit, settlementOf } = scene({ 'http://a.test/robots.txt': file('User-agent: *\nCrawl-delay: 61') });
    await admit('http://a.test/');
    expect(await settlementOf('http://a.test/')).toMatchObject({ kind: 'skipped', reason: 'crawlDelay' });
  });

  it('never asks an excluded domain, not even for its robots.txt', async () => {
    const { settlementOf, asked } = scene({});
    expect(await settlementOf('http://excluded.test/')).toMatchObject({ kind: 'skipped', reason: 'DOMAIN_EXCLUDED' });
    expect(asked).toEqual([]);
  });

  it('rests a host whose robots.txt fails, fails its URLs after three tries, and tries again in an hour', async () => {
    let answer: RobotsAnswer = status(500);
    const { settlementOf, asked, time, troubles } = scene({ 'http://a.test/robots.txt': () => answer });
    for (const waitMs of [5_000, 25_000]) {
      expect(await settlementOf('http://a.test/')).toMatchObject({ kind: 'untouched' });
      // Too early: nobody is asked.
      const readings = asked.length;
      expect(await settlementOf('http://a.test/')).toMatchObject({ kind: 'untouched' });
      expect(asked.length).toBe(readings);
      await time.advance(waitMs);
    }
    await settlementOf('http://a.test/');
    for (const _ of [1, 2]) {
      expect(await settlementOf('http://a.test/')).toMatchObject({ kind: 'failed', reason: 'ROBOTS_UNREACHABLE' });
    }
    expect([asked.length, troubles]).toEqual([3, ['http://a.test ROBOTS_UNREACHABLE']]);
    answer = file('');
    await time.advance(HOUR_MS);
    expect(await settlementOf('http://a.test/')).toMatchObject({ kind: 'untouched' });
    expect(await settlementOf('http://a.test/')).toBe('go');
  });

  it('fails a seed within seconds when its host cannot be reached, with the reason, and does not retry it', async () => {
    const errors: CrawlError[] = [];
    const { settlementOf, time, asked } = scene(
      { 'http://a.test/robots.txt': unreached },
      {
        refuse: async ({ id }, error) => {
          errors.push(error);
          return { settlement: { kind: 'failed', lease: id, reason: error.code }, items: [] };
        },
      },
    );
    const seed = new Request({ url: 'http://a.test/', seeded: true });
    expect(await settlementOf(seed)).toMatchObject({ kind: 'untouched' });
    await time.advance(1_000);
    await settlementOf(seed);
    expect(await settlementOf(seed)).toMatchObject({ kind: 'failed', reason: 'CONNECT_REFUSED' });
    expect(asked.length).toBe(2);
    expect(errors[0]).toBeInstanceOf(NonRetryableError);
    expect(errors[0]!.message).toBe('nobody listens');
  });

  it('leaves a host alone that is down, and asks it again an hour later', async () => {
    const { admit, settlementOf, time } = scene({ 'http://a.test/robots.txt': file('') });
    await admit('http://a.test/');
    for (let failures = 0; failures < 5; failures++) {
      const decision = await admit('http://a.test/');
      if (decision.kind === 'go') decision.turn!.end({ failure: 'CONNECT_REFUSED' });
    }
    expect(await settlementOf('http://a.test/')).toMatchObject({ kind: 'failed', reason: 'HOST_DOWN' });
    await time.advance(HOUR_MS);
    expect(await settlementOf('http://a.test/')).toBe('go');
  });

  it('puts a lease back whose turn was taken before its domain was paced', async () => {
    const { admit, leaseOf, settlementOf } = scene({ 'http://a.test/robots.txt': file('') });
    await admit('http://a.test/');
    expect(await settlementOf(leaseOf('http://a.test/', 0))).toMatchObject({ kind: 'untouched' });
  });

  it('leaves a lease untouched that was lost before its robots.txt was asked for', async () => {
    const { admit, asked, landed } = scene({ 'http://a.test/robots.txt': file('') });
    const decision = await admit('http://a.test/', () => false);
    expect(decision).toMatchObject({ kind: 'ended', visit: { settlement: { kind: 'untouched' } } });
    expect([asked, landed]).toEqual([[], []]);
  });
});

const linksOf = (settlement: Settlement | string) => (settlement as Settlement).links!;

describe('a robots.txt that has moved to another domain', () => {
  const moved = { 'http://a.test/robots.txt': { kind: 'redirect', to: 'http://b.test/rules' } as const };

  it('is asked for in the queue of that domain, and its rules hold here', async () => {
    const { settlementOf, asked, landed } = scene({ ...moved, 'http://b.test/rules': file(FORBIDS) });
    await settlementOf('http://a.test/');
    const sent = await settlementOf('http://a.test/');
    const [link] = linksOf(sent);
    expect(link).toMatchObject({ domain: 'b.test', forefront: true });
    expect(landed.at(-1)).toMatchObject({ pauseMs: RELAY_POLL_MS + 1 });
    const relay = Request.fromRecord(link!.record);
    expect(await settlementOf(relay)).toMatchObject({ kind: 'skipped', reason: 'robots.txt' });
    expect(asked).toEqual(['http://a.test/robots.txt', 'http://b.test/rules']);
    expect(await settlementOf('http://a.test/private')).toMatchObject({ reason: 'robotsTxt' });
  });

  it('is waited for, and given up when that domain gives no turn', async () => {
    const { settlementOf, time, asked } = scene(moved);
    await settlementOf('http://a.test/');
    await settlementOf('http://a.test/');
    await time.advance(RELAY_PATIENCE_MS - 1);
    expect(await settlementOf('http://a.test/')).toMatchObject({ kind: 'untouched' });
    expect(asked.length).toBe(1);
    await time.advance(1);
    expect(await settlementOf('http://a.test/')).toMatchObject({ kind: 'untouched' });
    // Counted as a reading that failed: the next one waits.
    await time.advance(5_000);
    await settlementOf('http://a.test/');
    expect(asked.length).toBe(2);
  });

  it('is asked for by the pod of that domain, and its answer comes back as a request', async () => {
    const elsewhere = scene({ 'http://b.test/rules': file(FORBIDS) }, { isElsewhere: (lane) => lane === 'a.test' });
    const here = scene(moved, { isElsewhere: (lane) => lane === 'b.test' });
    await here.settlementOf('http://a.test/');
    const sent = await here.settlementOf('http://a.test/');
    const relay = Request.fromRecord(linksOf(sent)[0]!.record);
    const done = await elsewhere.settlementOf(relay);
    const [back] = linksOf(done);
    expect(back).toMatchObject({ domain: 'a.test', forefront: true });
    const reply = Request.fromRecord(back!.record);
    expect(robotsRelayOf(here.leaseOf(reply))).toMatchObject({ sender: 'http://a.test' });
    expect(await here.settlementOf(reply)).toMatchObject({ kind: 'skipped', reason: 'robots.txt' });
    expect(await here.settlementOf('http://a.test/private')).toMatchObject({ reason: 'robotsTxt' });
  });

  it('counts for nothing when its answer comes after it was given up', async () => {
    const { settlementOf } = scene({ 'http://a.test/robots.txt': file('') });
    await settlementOf('http://a.test/');
    const late = createReply('http://b.test/rules', 'http://a.test', file(FORBIDS), 'orcrawl', 0);
    expect(await settlementOf(late)).toMatchObject({ kind: 'skipped', reason: 'robots.txt' });
    expect(await settlementOf('http://a.test/private')).toBe('go');
  });

  it('is not asked for where that domain is excluded', async () => {
    const to = 'http://excluded.test/rules';
    const { settlementOf, asked } = scene({ 'http://a.test/robots.txt': { kind: 'redirect', to } });
    await settlementOf('http://a.test/');
    expect(await settlementOf('http://a.test/')).toMatchObject({ kind: 'failed', reason: 'ROBOTS_UNREACHABLE' });
    expect(asked).toEqual(['http://a.test/robots.txt']);
  });

  it('fails like any other when nobody answers there', async () => {
    const { settlementOf, leaseOf } = scene({ ...moved, 'http://b.test/rules': unreached });
    await settlementOf('http://a.test/');
    const sent = await settlementOf('http://a.test/');
    const relay = Request.fromRecord(linksOf(sent)[0]!.record);
    expect(await settlementOf(leaseOf(relay))).toMatchObject({ kind: 'skipped', reason: 'robots.txt' });
    expect(await settlementOf('http://a.test/')).toMatchObject({ kind: 'untouched' });
  });
});
