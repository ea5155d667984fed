// The suites that every backend of a port passes: what the port promises, as sentences that run.
// The test runner is an argument, so that this ships without one and your own backend can use it.
import type { Frontier, Pacing } from '../../frontier/frontier.js';
import type { FrontierClock } from '../../frontier/embedded/clock.js';
import { accountingSuite } from './accounting.js';
import { holdingSuite } from './holding.js';
import { modelSuite } from './model.js';
import { pacingSuite } from './pacing.js';
import { queueingSuite } from './queueing.js';
import { bulkSkipSuite } from './bulk-skip.js';
import { suspectsSuite } from './suspects.js';
import { createBench, type Bench } from './bench.js';

/** What the suites need of a test runner: vitest and others that speak its language. */
export interface TestRunner {
  /** Groups tests under a name. */
  describe(name: string, suite: () => void): void;
  /** Declares a test. */
  it(name: string, test: () => Promise<void>, timeoutMs?: number): void;
  /** Begins an assertion. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- matchers are the runner's own.
  expect(actual: unknown, message?: string): any;
}

/** How the suite wants a frontier opened. */
export interface BackendOptions {
  /** How the frontier paces domains. */
  readonly pacing: Pacing;
  /** How long a lease holds. */
  readonly leaseMs: number;
  /** The backend takes its time from here; the suites never sleep. */
  readonly clock: FrontierClock;
}

/** One set of data of the backend under test. */
export interface Backend {
  /** Opens the data: the first time, or again after `close` or `kill`. */
  open(): Promise<Frontier>;
  /** Ends the last opening as `kill -9` would end its process: nothing is given back. */
  kill(): Promise<void>;
  /** Removes the data and frees everything. */
  dispose(): Promise<void>;
}

/** Makes a fresh backend for one test. */
export type MakeBackend = (options: BackendOptions) => Promise<Backend>;

/** What a backend does differently on purpose. */
export interface BackendTraits {
  /**
   * What the backend keeps of a request that is not in its hands any more: by default all of it, to be found.
   * One that keeps `fingerprints` only answers `pending` and `known` where others tell how a request ended.
   */
  readonly remembers?: 'requests' | 'fingerprints';
}

/**
 * The promises of the frontier port, run against one backend.
 *
 * @example
 * frontierSuite('memory', { describe, it, expect }, async (options) => memoryBackend(options));
 */
export function frontierSuite(name: string, runner: TestRunner, make: MakeBackend, traits: BackendTraits = {}): void {
  const bench: Bench = createBench(runner, make, traits);
  runner.describe(`frontier on ${name}`, () => {
    queueingSuite(bench);
    pacingSuite(bench);
    bulkSkipSuite(bench);
    holdingSuite(bench);
    suspectsSuite(bench);
    accountingSuite(bench);
    modelSuite(bench, make);
  });
}
