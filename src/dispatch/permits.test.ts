// Permits that several batches share: never too many, and nobody is left out.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Membership } from './dispatcher.js';
import { createPermits } from './permits.js';

/** Batches that start as much as they may whenever they are woken, as pools do. */
function batchesOver(count: number, names: readonly string[]) {
  const permits = createPermits<{ wake(): void }>(count);
  const started: string[] = [];
  const woken = new Set<string>();
  const members = new Map<string, Membership>();
  for (const name of names) members.set(name, permits.join({ wake: () => void woken.add(name) }));
  const startAll = (name: string) => {
    const member = members.get(name)!;
    while (member.mayStart()) {
      member.started();
      started.push(name);
    }
  };
  /** A task ends and its batch takes the slot again at once if it may; then those that were woken have their turn. */
  const end = (name: string) => {
    members.get(name)!.ended();
    startAll(name);
    while (woken.size > 0) {
      const next = woken.values().next().value!;
      woken.delete(next);
      startAll(next);
    }
  };
  return { permits, started, members, startAll, end };
}

describe('permits', () => {
  it('let one batch use them all', () => {
    const { permits, startAll } = batchesOver(8, ['a', 'b']);
    startAll('a');
    expect(permits.running).toBe(8);
  });

  it.each([1, 2, 7])('%i of them pass between two batches that each want all', (count) => {
    const { started, startAll, end } = batchesOver(count, ['a', 'b']);
    startAll('a');
    startAll('b');
    const running = [...started];
    for (let ended = 0; ended < 40; ended++) {
      const before = started.length;
      end(running.shift()!);
      running.push(...started.slice(before));
      expect(running).toHaveLength(count);
    }
    const ofB = started.slice(-20).filter((name) => name === 'b').length;
    expect(ofB).toBeGreaterThanOrEqual(8);
    expect(ofB).toBeLessThanOrEqual(12);
  });

  it('go on to others when the one that waited has nothing to start any more', () => {
    const { permits, members, startAll, end } = batchesOver(2, ['a', 'b']);
    startAll('a');
    const b = members.get('b')!;
    expect(b.mayStart()).toBe(false);
    // It is offered one and does not use it.
    members.get('a')!.ended();
    expect(b.mayStart()).toBe(true);
    end('a');
    expect(permits.running).toBe(2);
  });

  it('are all free when every batch has left, whatever happened before', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(fc.tuple(fc.nat(2), fc.constantFrom('start', 'end', 'leave')), { maxLength: 60 }),
        (count, steps) => {
          const permits = createPermits<{ wake(): void }>(count);
          const members = [0, 1, 2].map(() => permits.join({ wake: () => undefined }));
          const own = [0, 0, 0];
          const gone = new Set<number>();
          for (const [who, what] of steps) {
            if (gone.has(who)) continue;
            if (what === 'start' && members[who]!.mayStart()) {
              members[who]!.started();
              own[who]!++;
            } else if (what === 'end' && own[who]! > 0) {
              members[who]!.ended();
              own[who]!--;
            } else if (what === 'leave') {
              members[who]!.leave();
              own[who] = 0;
              gone.add(who);
            }
            expect(permits.running).toBe(own[0]! + own[1]! + own[2]!);
            expect(permits.running).toBeLessThanOrEqual(count);
          }
          // Somebody can always go while one is free.
          if (permits.running < count && gone.size < 3) {
            const left = [0, 1, 2].filter((who) => !gone.has(who));
            expect(left.some((who) => members[who]!.mayStart())).toBe(true);
          }
          for (const member of members) member.leave();
          expect(permits.running).toBe(0);
        },
      ),
    );
  });
});
