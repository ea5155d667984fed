// Conformance: random histories against a model of the port that is too simple to be wrong.
// A backend of your own is driven through what every frontier has; faults of its store are its own to test.
import type { Bench } from './bench.js';
import type { Backend, MakeBackend } from './conformance.js';
import { type History, historyOf, playHistory } from '../model/run.js';
import type { MakeWorld, ModelOpening } from '../model/store.js';

const HISTORIES = 15;
const STEPS = 120;

/** The machine's view of a backend that only opens, closes and dies. */
export function worldOf(make: MakeBackend, remembers: 'requests' | 'fingerprints'): MakeWorld {
  return async ({ pacing, leaseMs }, clock) => {
    const backend: Backend = await make({ pacing, leaseMs, clock });
    const openings: ModelOpening[] = [{ frontier: await backend.open() }];
    const store = {
      rules: { remembers },
      openings,
      behindMs: () => Promise.resolve(0),
      async reopen(_index: number, how: 'close' | 'kill') {
        await (how === 'close' ? openings[0]!.frontier.close() : backend.kill());
        openings[0] = { frontier: await backend.open() };
      },
    };
    return {
      clock,
      stores: [store],
      podOf: () => 0,
      async dispose() {
        await openings[0]!.frontier.close();
        await backend.dispose();
      },
    };
  };
}

export function modelSuite(bench: Bench, make: MakeBackend): void {
  const world = worldOf(make, bench.findsRequests ? 'requests' : 'fingerprints');
  bench.describe('model', () => {
    for (let seed = 1; seed <= HISTORIES; seed++) {
      const history: History = historyOf(seed, { choices: {}, steps: STEPS });
      bench.it(`agrees with a simple model in random history ${seed}`, () => playHistory(history, world));
    }
  });
}
