import { describe, expect, it } from 'vitest';
import { createFrontierClient, type FrontierClient } from '../../frontier/client.js';
import { createMemoryFrontier } from '../../frontier/embedded/store/memory.js';
import type { QueueEntry } from '../../frontier/frontier.js';
import { CrawlError } from '../../errors.js';
import { Log, LogLevel } from '../../observe/log.js';
import { fingerprintOf } from '../../request/fingerprint.js';
import { createRoutingClient, linksOfName, packOutbox, podOfName, unpackOutbox } from './routing-client.js';
import { podOfDomain } from '../topology.js';

const PODS = 4;
const silent = new Log({ level: LogLevel.OFF });
const domains = Array.from({ length: 40 }, (_, n) => `site${n}.example`);
const entry = (domain: string): QueueEntry => {
  const record = `https://${domain}/`;
  return { fingerprint: fingerprintOf(record), domain, record };
};

async function setUp(send: (pod: number, entries: readonly QueueEntry[]) => Promise<void>) {
  const frontier = createMemoryFrontier({ holder: 'me', pacing: { delayMs: 0, turns: 10 }, access: 'owner' } as never);
  const own = createFrontierClient(frontier, { id: 'me' });
  const stopping = new AbortController();
  const client = createRoutingClient({
    own,
    pod: 0,
    pods: PODS,
    send,
    log: silent,
    checkAssignment: true,
    signal: stopping.signal,
    fullPauseMs: 1,
  });
  await own.add([entry(domains.find((domain) => podOfDomain(domain, PODS) === 0)!)]);
  const { leases } = await client.lease({ max: 1 });
  return { frontier, own, client, lease: leases[0]!.id, stopping };
}

const links = domains.map(entry);

describe('routing client', () => {
  it('adds requests to the pods that own them, and tells what its own pod made of them', async () => {
    const sent = new Map<number, readonly QueueEntry[]>();
    const { frontier, client } = await setUp(async (pod, entries) => void sent.set(pod, entries));
    const presences = await client.add(links);
    for (const [index, { domain }] of links.entries()) {
      const pod = podOfDomain(domain, PODS);
      if (pod !== 0) expect(sent.get(pod)!.some((one) => one.domain === domain)).toBe(true);
      // The first of its own was added when it was set up.
      const isKnown = pod === 0 && links.findIndex((one) => podOfDomain(one.domain, PODS) === 0) === index;
      expect(presences[index]).toBe(isKnown ? 'pending' : 'new');
    }
    const own = domains.filter((domain) => podOfDomain(domain, PODS) === 0).length;
    expect((await frontier.overview()).counters.accepted).toBe(own);
  });

  it('sends each link to the pod that owns its domain, before the visit is acknowledged', async () => {
    const sent = new Map<number, readonly QueueEntry[]>();
    let doneWhenSent = -1;
    const { frontier, client, lease } = await setUp(async (pod, entries) => {
      doneWhenSent = (await frontier.overview()).counters.done;
      sent.set(pod, entries);
    });
    await client.settle({ settlements: [{ kind: 'done', lease, links }] });
    const { counters } = await frontier.overview();
    expect(doneWhenSent).toBe(0);
    expect(counters.done).toBe(1);
    for (const [pod, entries] of sent) {
      expect(entries.map(({ domain }) => podOfDomain(domain, PODS))).toEqual(entries.map(() => pod));
    }
    const foreign = [...sent.values()].flat().length;
    expect(foreign).toBe(domains.filter((domain) => podOfDomain(domain, PODS) !== 0).length);
    expect(counters.accepted).toBe(domains.length - foreign);
    expect(client.figures).toMatchObject({ misplaced: 0, sentLinks: foreign, ownLinks: domains.length - foreign });
  });

  it('keeps links for a pod that is away in the outbox, in the step of the acknowledgement', async () => {
    const { frontier, client, lease } = await setUp(async (pod) => {
      if (pod === 2) throw new CrawlError('QUEUE_UNREACHABLE', 'away');
    });
    await client.settle({ settlements: [{ kind: 'done', lease, links }], notes: { other: '1' } });
    const { notes } = await frontier.overview();
    const [name] = Object.keys(notes).filter((key) => key.startsWith('outbox/')) as [string];
    const owned = links.filter(({ domain }) => podOfDomain(domain, PODS) === 2);
    expect(podOfName(name)).toBe(2);
    expect(linksOfName(name)).toBe(owned.length);
    expect(unpackOutbox(notes[name]!).map(({ domain }) => domain)).toEqual(owned.map(({ domain }) => domain));
    expect(notes.other).toBe('1');
  });

  it('sends nothing for a visit whose lease was lost', async () => {
    let sends = 0;
    const { client, lease } = await setUp(async () => void sends++);
    const answer = await client.settle({ settlements: [{ kind: 'done', lease, links }] }, 'an earlier life');
    expect(answer.held).toBe(false);
    expect(sends).toBe(0);
  });

  it('waits while the outbox is full, and goes on when there is room', async () => {
    const { own, lease, stopping } = await setUp(async () => undefined);
    let refusals = 3;
    const full: FrontierClient = {
      ...own,
      id: own.id,
      settle: (call, life) =>
        refusals-- > 0 ? Promise.reject(new CrawlError('QUEUE_FULL', 'full')) : own.settle(call, life),
    };
    const client = createRoutingClient({
      own: full,
      pod: 0,
      pods: PODS,
      send: () => Promise.resolve(),
      log: silent,
      checkAssignment: false,
      signal: stopping.signal,
      fullPauseMs: 1,
    });
    const answer = await client.settle({ settlements: [{ kind: 'done', lease, links }] });
    expect(answer.accepted).toEqual([true]);
    expect(refusals).toBeLessThan(0);
  });

  it('drops links for lost pods, and only those, when the outbox is full', async () => {
    const { own, lease, stopping } = await setUp(async () => undefined);
    const kept: string[] = [];
    const full: FrontierClient = {
      ...own,
      id: own.id,
      settle(call, life) {
        const names = Object.keys(call.notes ?? {});
        if (names.length > 1) {
          return Promise.reject(new CrawlError('QUEUE_FULL', 'full', { cause: new Error('OUTBOX') }));
        }
        kept.push(...names);
        return own.settle(call, life);
      },
    };
    const client = createRoutingClient({
      own: full,
      pod: 0,
      pods: PODS,
      send: () => Promise.reject(new Error('away')),
      isLost: (pod) => pod > 1,
      log: silent,
      checkAssignment: false,
      signal: stopping.signal,
      fullPauseMs: 1,
    });
    const answer = await client.settle({ settlements: [{ kind: 'done', lease, links }] });
    expect(answer.accepted).toEqual([true]);
    expect(kept.map(podOfName)).toEqual([1]);
    const lost = links.filter(({ domain }) => podOfDomain(domain, PODS) > 1);
    expect(client.figures.droppedForLost).toBe(lost.length);
  });

  it('gives entries back as they were packed', () => {
    const all: QueueEntry[] = [{ ...links[0]!, priority: 2, forefront: true }, links[1]!];
    expect(unpackOutbox(packOutbox(all))).toEqual([
      { ...links[0]!, priority: 2, forefront: true },
      { ...links[1]!, priority: 0, forefront: false },
    ]);
  });
});
