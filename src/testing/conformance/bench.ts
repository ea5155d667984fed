// What the frontier's conformance suites share: a clock they turn by hand, a backend opened and disposed around
// each test, and short words for calls. After each step the counters are checked to add up.
import type { FrontierClock } from '../../frontier/embedded/clock.js';
import type {
  Counters,
  Frontier,
  Landing,
  Lease,
  LeaseAnswer,
  Presence,
  QueueEntry,
  SettleAnswer,
  SettleCall,
  Settlement,
} from '../../frontier/frontier.js';
import { fingerprintOf } from '../../request/fingerprint.js';
import type { Backend, BackendOptions, BackendTraits, MakeBackend, TestRunner } from './conformance.js';

/** A clock that only moves when advanced. */
export interface HandClock extends FrontierClock {
  advance(ms: number): void;
  jumpWall(ms: number): void;
}

export function createHandClock(bootId = 'test-boot'): HandClock {
  let monotonicMs = 5_000;
  let wallMs = 1_800_000_000_000;
  return {
    bootId,
    monotonicMs: () => monotonicMs,
    wallMs: () => wallMs,
    advance(ms) {
      monotonicMs += ms;
      wallMs += ms;
    },
    jumpWall(ms) {
      wallMs += ms;
    },
  };
}

/** One holder's calls, numbered. */
export interface TestHolder {
  readonly id: string;
  add(...entries: QueueEntry[]): Promise<readonly Presence[]>;
  lease(max: number, maxEnded?: number, bulkSkipDomains?: readonly string[]): Promise<LeaseAnswer>;
  /** The records leased, in order. */
  leaseRecords(max: number): Promise<string[]>;
  settle(settlements: readonly Settlement[], more?: Partial<SettleCall>): Promise<SettleAnswer>;
  land(...landings: Landing[]): Promise<SettleAnswer>;
  /** Leases and ends all there is to lease, however few come at a time. */
  finishAll(): Promise<Lease[]>;
  /** Lands and ends all of them. */
  finish(leases: readonly Lease[]): Promise<SettleAnswer>;
  /** The number of its last call. */
  readonly lastCall: number;
}

export interface Scene {
  readonly clock: HandClock;
  readonly backend: Backend;
  readonly frontier: Frontier;
  holder(id?: string): TestHolder;
  counters(): Promise<Counters>;
  /** Dies and comes back on the same data. */
  killAndReopen(): Promise<void>;
  closeAndReopen(): Promise<void>;
}

export interface Bench extends TestRunner {
  /** What `add` says of a request that has ended. */
  readonly ended: Presence;
  /** Whether `find` tells what became of a request, and not only that it is known. */
  readonly findsRequests: boolean;
  /** A test on a fresh backend. */
  scene(name: string, options: Partial<Omit<BackendOptions, 'clock'>>, test: (scene: Scene) => Promise<void>): void;
  /** A fresh backend for tests that need many. */
  withScene(options: Partial<Omit<BackendOptions, 'clock'>>, use: (scene: Scene) => Promise<void>): Promise<void>;
}

export const NO_DELAY = { delayMs: 0, turns: 1_000 } as const;
export const LEASE_MS = 10_000;

/** An entry whose record is `text`. */
export function entry(text: string, domain = 'a.example', more: Partial<QueueEntry> = {}): QueueEntry {
  return { fingerprint: fingerprintOf(text), domain, record: text, ...more };
}

export function entries(count: number, domain = 'a.example', from = 0): QueueEntry[] {
  return Array.from({ length: count }, (_, i) => entry(`${domain}/${from + i}`, domain));
}

export const done = (lease: Lease): Settlement => ({ kind: 'done', lease: lease.id });

export function addsUp({ accepted, queued, retrying, leased, done, failed, skipped }: Counters): boolean {
  const all = [accepted, queued, retrying, leased, done, failed, skipped];
  return all.every((count) => count >= 0) && accepted === queued + retrying + leased + done + failed + skipped;
}

export function createBench(runner: TestRunner, make: MakeBackend, traits: BackendTraits = {}): Bench {
  const findsRequests = traits.remembers !== 'fingerprints';
  async function withScene(
    options: Partial<Omit<BackendOptions, 'clock'>>,
    use: (scene: Scene) => Promise<void>,
  ): Promise<void> {
    const clock = createHandClock();
    const backend = await make({ pacing: NO_DELAY, leaseMs: LEASE_MS, ...options, clock });
    let frontier = await backend.open();
    let holders = 0;
    const counters = async (): Promise<Counters> => {
      const overview = await frontier.overview();
      runner.expect(addsUp(overview.counters), JSON.stringify(overview.counters)).toBe(true);
      return overview.counters;
    };
    try {
      await use({
        clock,
        backend,
        get frontier() {
          return frontier;
        },
        counters,
        holder: (id = `holder-${++holders}`) => createTestHolder(() => frontier, id),
        async killAndReopen() {
          await backend.kill();
          frontier = await backend.open();
        },
        async closeAndReopen() {
          await frontier.close();
          frontier = await backend.open();
        },
      });
      await counters();
    } finally {
      await frontier.close();
      await backend.dispose();
    }
  }

  return {
    ...runner,
    findsRequests,
    ended: findsRequests ? 'ended' : 'pending',
    withScene,
    scene(name, options, test) {
      runner.it(name, () => withScene(options, test));
    },
  };
}

function createTestHolder(frontier: () => Frontier, id: string): TestHolder {
  let call = 0;
  const caller = () => ({ holder: id, call: ++call });
  const settle: TestHolder['settle'] = (settlements, more = {}) =>
    frontier().settle({ ...caller(), settlements, ...more });
  return {
    id,
    get lastCall() {
      return call;
    },
    add: (...list) => frontier().add({ ...caller(), entries: list }),
    lease: (max, maxEnded, bulkSkipDomains) =>
      frontier().lease({
        ...caller(),
        max,
        ...(maxEnded === undefined ? {} : { maxEnded }),
        ...(bulkSkipDomains === undefined ? {} : { bulkSkipDomains }),
      }),
    async leaseRecords(max) {
      const { leases } = await this.lease(max);
      return leases.map(({ record }) => record);
    },
    settle,
    async finishAll() {
      const all: Lease[] = [];
      for (;;) {
        const { leases } = await this.lease(1_000);
        if (leases.length === 0) return all;
        await this.finish(leases);
        all.push(...leases);
      }
    },
    land: (...landings) => settle([], { landings }),
    finish: (leases) => settle(leases.map(done), { landings: leases.map((lease) => ({ lease: lease.id })) }),
  };
}
