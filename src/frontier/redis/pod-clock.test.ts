import { describe, expect, it } from 'vitest';
import { createHandClock } from '../../testing/conformance/bench.js';
import { createPodClock } from './pod-clock.js';

describe('a process’s view of pod time', () => {
  it('moves nothing before it has heard of pod time', () => {
    const clock = createPodClock(createHandClock());
    expect(clock.bounds()).toMatchObject({ heardSeq: -1, upperMs: 0 });
  });

  it('allows as much time as its own monotonic clock saw pass, and no less than surely passed', () => {
    const hand = createHandClock();
    const clock = createPodClock(hand);
    const { sentMs } = clock.bounds();
    hand.advance(40);
    clock.heard(1_000, sentMs, 1);
    hand.advance(100);
    // Pod time was read at some moment of the 40 ms that the call took.
    expect(clock.bounds()).toMatchObject({ passedMs: 100, heardSeq: 1, upperMs: 1_140 });
  });

  it('does not follow a wall clock that jumps', () => {
    const hand = createHandClock();
    const clock = createPodClock(hand);
    clock.heard(1_000, clock.bounds().sentMs, 1);
    hand.jumpWall(3_600_000);
    hand.advance(5);
    expect(clock.bounds()).toMatchObject({ passedMs: 5, heardSeq: 1, upperMs: 1_005 });
  });

  it('is not set back by a reply that was overtaken', () => {
    const hand = createHandClock();
    const clock = createPodClock(hand);
    const early = clock.bounds().sentMs;
    hand.advance(10);
    const late = clock.bounds().sentMs;
    clock.heard(2_000, late, 2);
    clock.heard(1_500, early, 1);
    expect(clock.bounds()).toMatchObject({ passedMs: 0, heardSeq: 2, upperMs: 2_000 });
  });
});
