// Which fetches count as slow, which of them are ended for others, and what becomes of requests to slow hosts.
import { describe, expect, it } from 'vitest';
import type { CrawlError } from '../errors.js';
import { createSlowShare, ENOUGH_BYTES, type SlowShare, type SlowShareOptions, SWEEP_MS } from './slow-share.js';

/** A pool of ten slots, some fetches in it, and a clock that stands until it is moved. */
function bench(given: Partial<SlowShareOptions> = {}) {
  let nowMs = 1_000;
  let sweep: (() => void) | undefined;
  const share = createSlowShare({
    share: 0.3,
    patienceMs: 2_000,
    domainOf: (url) => new URL(url).hostname,
    now: () => nowMs,
    random: () => 0.5,
    every: (act) => {
      sweep = act;
      return () => (sweep = undefined);
    },
    ...given,
  }) as SlowShare;
  const waiting: string[] = [];
  let busy = 0;
  let roomsMade = 0;
  const leave = share.join({
    slots: () => 10,
    running: () => busy,
    waiting: () => waiting,
    makeRoom: () => void roomsMade++,
  });

  function fetch(host: string) {
    const one = {
      url: `http://${host}/`,
      heads: 0,
      receivedBytes: 0,
      ended: undefined as CrawlError | undefined,
      end(error: CrawlError) {
        one.ended = error;
        busy--;
      },
      arrive(headMs: number) {
        busy--;
        share.leave(one, headMs);
      },
      fail() {
        busy--;
        share.leave(one);
      },
    };
    busy++;
    share.enter(one);
    return one;
  }

  return {
    share,
    waiting,
    fetch,
    leave,
    fetches: (count: number, name = 'slow') => Array.from({ length: count }, (_, n) => fetch(`${name}${n}.example`)),
    /** Lets time pass, looking as often as the timer would. */
    pass(ms: number) {
      for (let left = ms; left > 0; left -= SWEEP_MS) {
        nowMs += SWEEP_MS;
        sweep?.();
      }
    },
    /** Time passes and nobody looks: the process was stopped. */
    freeze(ms: number) {
      nowMs += ms;
      sweep?.();
    },
    isLooking: () => sweep !== undefined,
    roomsMade: () => roomsMade,
    setBusy(count: number) {
      busy = count;
    },
  };
}

const endedOf = (fetches: readonly { ended: CrawlError | undefined }[]) =>
  fetches.map(({ ended }) => ended?.code === 'FETCH_SLOW');

describe('a slow fetch', () => {
  it('is one that receives nothing for as long as the patience', () => {
    const { share, fetch, pass } = bench();
    fetch('a.example');
    pass(1_800);
    expect(share.figures.slow).toBe(0);
    pass(400);
    expect(share.figures.slow).toBe(1);
  });

  it('is one that answers and then drips', () => {
    const { share, fetch, pass } = bench();
    const one = fetch('a.example');
    pass(1_000);
    one.heads = 1;
    for (let second = 0; second < 2; second++) {
      one.receivedBytes += 1;
      pass(1_000);
    }
    expect(share.figures.slow).toBe(0);
    pass(600);
    expect(share.figures.slow).toBe(1);
  });

  it('is not one whose body comes steadily, however long it takes', () => {
    const { share, fetch, pass } = bench();
    const one = fetch('a.example');
    pass(1_000);
    one.heads = 1;
    for (let second = 0; second < 60; second++) {
      one.receivedBytes += ENOUGH_BYTES;
      pass(1_000);
      expect(share.figures.slow).toBe(0);
    }
  });

  it('is no longer one when it begins to flow', () => {
    const { share, fetch, pass } = bench();
    const one = fetch('a.example');
    pass(3_000);
    expect(share.figures.slow).toBe(1);
    one.heads = 1;
    pass(200);
    expect(share.figures.slow).toBe(0);
  });

  it('is judged by what is usual: where answers take a second, four seconds are fine', () => {
    const { share, fetch, pass } = bench();
    for (let n = 0; n < 100; n++) fetch('a.example').arrive(1_000);
    fetch('b.example');
    pass(3_800);
    expect(share.figures.slow).toBe(0);
    pass(600);
    expect(share.figures.slow).toBe(1);
  });

  it('is not one because this process stood still', () => {
    const { share, fetches, waiting, freeze } = bench();
    const all = fetches(10);
    waiting.push('other.example');
    freeze(60_000);
    expect(share.figures.slow).toBe(0);
    expect(endedOf(all)).not.toContain(true);
  });
});

describe('slots', () => {
  it('are taken from the fetches that became slow last, down to the share', () => {
    const { fetches, waiting, pass, share } = bench();
    const all = fetches(10);
    waiting.push(...Array.from({ length: 20 }, (_, n) => `healthy${n}.example`));
    pass(2_200);
    expect(endedOf(all)).toEqual([...Array(3).fill(false), ...Array(7).fill(true)]);
    expect(share.figures).toMatchObject({ slow: 3, ended: 7 });
    // Those that keep their places keep them.
    pass(60_000);
    expect(share.figures).toMatchObject({ slow: 3, ended: 7 });
  });

  it('are taken only as far as others need them', () => {
    const { fetches, waiting, pass } = bench();
    const all = fetches(10);
    waiting.push('a.example', 'b.example');
    pass(2_000);
    waiting.length = 0;
    pass(10_000);
    expect(endedOf(all)).toEqual([...Array(8).fill(false), true, true]);
  });

  it('are left to slow fetches while nothing waits, or a slot is free', () => {
    const idle = bench();
    const all = idle.fetches(10);
    idle.pass(60_000);
    expect(endedOf(all)).not.toContain(true);

    const roomy = bench();
    const nine = roomy.fetches(9);
    roomy.waiting.push('other.example');
    roomy.pass(60_000);
    expect(endedOf(nine)).not.toContain(true);
  });

  it('are not taken for requests to other slow hosts', () => {
    const { fetches, waiting, pass } = bench();
    const all = fetches(10);
    pass(3_000);
    waiting.push('slow0.example', 'slow5.example');
    pass(60_000);
    expect(endedOf(all)).not.toContain(true);
  });

  it('of a share of nothing are all given up, and of a share of everything nobody looks', () => {
    const { fetches, waiting, pass } = bench({ share: 0 });
    const all = fetches(10);
    waiting.push(...Array.from({ length: 20 }, (_, n) => `healthy${n}.example`));
    pass(2_200);
    expect(endedOf(all)).not.toContain(false);
    expect(createSlowShare({ share: 1, patienceMs: 2_000, domainOf: String })).toBeUndefined();
  });

  it('of several runs are shared', () => {
    const { share, fetches, waiting, pass, leave } = bench();
    const other = share.join({ slots: () => 10, running: () => 5, waiting: () => [], makeRoom: () => undefined });
    const five = fetches(5);
    waiting.push('a.example', 'b.example');
    pass(2_200);
    expect(endedOf(five)).toEqual([false, false, false, true, true]);
    other();
    leave();
  });
});

describe('a request to a host that was slow', () => {
  /** Ten hosts hung, seven of them lost their slots, others run there now. */
  function crowded() {
    const at = bench();
    const all = at.fetches(10);
    at.waiting.push(...Array.from({ length: 20 }, (_, n) => `healthy${n}.example`));
    at.pass(2_200);
    at.setBusy(10);
    return { ...at, all };
  }

  it('goes back to the queue while the share is full and others need the slots', () => {
    const { share } = crowded();
    expect(share.waitMs('slow8.example', true)).toBe(1_000);
    expect(share.waitMs('slow9.example', true)).toBe(1_000);
    expect(share.waitMs('healthy1.example', true)).toBe(0);
    expect(share.figures.putBack).toBe(2);
  });

  it('waits longer when there are thousands, so that the queue is not kept busy with them', () => {
    const { share, fetches, pass } = crowded();
    fetches(5_000, 'more');
    pass(3_000);
    expect(share.waitMs('more9.example', true)).toBe(50_100);
  });

  it('gets a place of the share when one is free, one request for one place', () => {
    const { share, all } = crowded();
    all[0]!.fail();
    expect(share.waitMs('slow8.example', true)).toBe(0);
    expect(share.waitMs('slow9.example', true)).toBeGreaterThan(0);
  });

  it('keeps its place until its own time is up', () => {
    const { share, all, fetch, pass } = crowded();
    all[0]!.fail();
    expect(share.waitMs('slow8.example', true)).toBe(0);
    const again = fetch('slow8.example');
    expect(share.figures.slow).toBe(3);
    pass(30_000);
    expect(again.ended).toBeUndefined();
  });

  it('may run anywhere when the others have gone', () => {
    const at = crowded();
    at.waiting.length = 0;
    at.setBusy(3);
    at.pass(4_000);
    expect(at.share.waitMs('slow9.example', true)).toBeGreaterThan(0);
    at.pass(2_000);
    expect(at.share.waitMs('slow9.example', true)).toBe(0);
  });

  it('is forgotten with the first answer in time, and after ten minutes', () => {
    const { share, all, fetch, pass } = crowded();
    all[0]!.fail();
    fetch('slow8.example').arrive(100);
    all[1]!.fail();
    expect(share.waitMs('slow8.example', true)).toBe(0);
    // Its place is not one of the share's: it is a host like any other.
    fetch('slow8.example');
    expect(share.figures.slow).toBe(1);
    pass(601_000);
    expect(share.waitMs('slow9.example', true)).toBe(0);
  });
});

it('forgives a host that has answered in time one slow fetch, and not two in a row', () => {
  const { share, fetch, fetches, pass, waiting } = bench();
  fetches(9);
  waiting.push('other.example');
  pass(2_200);
  fetch('good.example').arrive(100);
  for (const isForgiven of [true, false]) {
    fetch('good.example');
    pass(2_400);
    expect(share.waitMs('good.example', true) === 0).toBe(isForgiven);
  }
});

it('asks its runs to look for others while the share is full', () => {
  const at = bench();
  at.fetches(2);
  at.pass(4_000);
  expect(at.roomsMade()).toBe(0);
  at.fetches(2, 'more');
  at.pass(4_000);
  expect(at.roomsMade()).toBeGreaterThan(0);
});

it('stops looking when nothing is under way', () => {
  const at = bench();
  const one = at.fetch('a.example');
  expect(at.isLooking()).toBe(true);
  one.arrive(10);
  at.pass(400);
  expect(at.isLooking()).toBe(false);
});
