// Unit test of the set of sessions against a plain map.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Session } from './session.js';
import { createSessionSet } from './session-set.js';

describe('the set of sessions', () => {
  it('agrees with a plain map and picks only what it holds, whatever happens', () => {
    const operation = fc.tuple(fc.constantFrom('add', 'remove'), fc.integer({ min: 0, max: 9 }));
    fc.assert(
      fc.property(fc.array(operation), fc.double({ min: 0, max: 0.999, noNaN: true }), (operations, chance) => {
        const sessions = Array.from({ length: 10 }, (_, index) => new Session({ id: `s${index}` }));
        const set = createSessionSet(() => chance);
        const model = new Map<string, Session>();
        for (const [what, index] of operations) {
          const session = sessions[index]!;
          if (what === 'add') {
            expect(set.add(session)).toBe(!model.has(session.id));
            model.set(session.id, session);
          } else {
            set.remove(session);
            model.delete(session.id);
          }
          expect(set.size).toBe(model.size);
          for (const { id } of sessions) expect(set.get(id)).toBe(model.get(id));
          const picked = set.pick();
          expect(picked === undefined ? model.size === 0 : model.has(picked.id)).toBe(true);
        }
      }),
    );
  });
});
