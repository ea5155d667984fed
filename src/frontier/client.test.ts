import { describe, expect, it } from 'vitest';
import { CrawlError } from '../errors.js';
import { fingerprintOf } from '../request/fingerprint.js';
import { ANSWERS_KEPT, type Frontier } from './frontier.js';
import { createFrontierClient } from './client.js';
import { createMemoryFrontier } from './embedded/store/memory.js';

const entry = { fingerprint: fingerprintOf('1'), domain: 'a.example', record: '1' };

function createClock() {
  let nowMs = 0;
  return {
    pass: (ms: number) => (nowMs += ms),
    clock: { monotonicMs: () => nowMs, wallMs: () => 1e12 + nowMs, bootId: 'test' },
  };
}

describe('a frontier client', () => {
  it('repeats a call whose answer was lost under the same number', async () => {
    const frontier = createMemoryFrontier({ pacing: { delayMs: 0, turns: 1 } });
    let lostAnswers = 1;
    const flaky: Frontier = {
      ...frontier,
      async lease(call) {
        const answer = await frontier.lease(call);
        if (lostAnswers-- > 0) throw new CrawlError('CONNECT_RESET', 'the answer did not arrive');
        return answer;
      },
    };
    const client = createFrontierClient(flaky, { id: 'one' });
    await client.add([entry]);
    const { leases } = await client.lease({ max: 1 });
    expect(leases).toHaveLength(1);
    expect((await frontier.overview()).counters).toMatchObject({ leased: 1 });
  });

  it('begins a new life when it was lost, and says so', async () => {
    const { clock, pass } = createClock();
    const frontier = createMemoryFrontier({ pacing: { delayMs: 0, turns: 1 }, leaseMs: 100, clock });
    const lost: string[] = [];
    const client = createFrontierClient(frontier, { id: 'one', onLost: (id) => lost.push(id) });
    await client.add([entry]);
    await client.lease({ max: 1 });
    pass(101);
    const { leases } = await client.lease({ max: 1 });
    expect(lost).toEqual(['one']);
    expect(client.id).not.toBe('one');
    expect(leases).toMatchObject([{ record: '1', lostLeases: 1 }]);
  });

  it('keeps what it holds by renewing', async () => {
    const { clock, pass } = createClock();
    const frontier = createMemoryFrontier({ pacing: { delayMs: 0, turns: 1 }, leaseMs: 100, clock });
    const client = createFrontierClient(frontier, { id: 'one' });
    await client.add([entry]);
    const { leases } = await client.lease({ max: 1 });
    for (let i = 0; i < 5; i++) {
      pass(90);
      await client.renew();
    }
    const answer = await client.settle({ settlements: [{ kind: 'done', lease: leases[0]!.id }] });
    expect(answer).toEqual({ held: true, accepted: [true] });
  });

  it('has no more calls under way than the frontier remembers, in whatever order they arrive', async () => {
    const frontier = createMemoryFrontier({ pacing: { delayMs: 0, turns: 1 } });
    const held: (() => void)[] = [];
    let highest = 0;
    const slow: Frontier = {
      ...frontier,
      async add(call) {
        highest = call.call;
        if (call.call === 1) await new Promise<void>((resume) => void held.push(resume));
        return frontier.add(call);
      },
    };
    const client = createFrontierClient(slow, { id: 'one' });
    const added = Array.from({ length: 50 }, (_, n) => client.add([{ ...entry, fingerprint: fingerprintOf(`${n}`) }]));
    await new Promise((resume) => setTimeout(resume, 0));
    expect(highest).toBe(ANSWERS_KEPT);
    held[0]!();
    expect((await Promise.all(added)).flat()).toEqual(Array(50).fill('new'));
    expect(highest).toBe(50);
  });
});
