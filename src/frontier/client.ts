// A process as a client of its frontier: numbers its calls, repeats one whose answer was lost, and never has more of them
// under way than the frontier can tell apart.
// It is one holder at a time, and a new one when the frontier says that the last is lost.
import { randomBytes } from 'node:crypto';
import { killPoint } from '../base/kill-points.js';
import { CrawlError } from '../errors.js';
import {
  ANSWERS_KEPT,
  type Frontier,
  type HolderId,
  type LeaseAnswer,
  type LeaseCall,
  type Presence,
  type QueueEntry,
  type SettleAnswer,
  type SettleCall,
} from './frontier.js';

export interface FrontierClient {
  /** The current holder: only it can settle its leases. */
  readonly id: HolderId;
  add(entries: readonly QueueEntry[]): Promise<readonly Presence[]>;
  lease(call: Omit<LeaseCall, 'holder' | 'call'>): Promise<LeaseAnswer>;
  /**
   * `held: false` if the holder of the leases (by default the current one) was lost; the next call is made by a
   * new one.
   */
  settle(call: Omit<SettleCall, 'holder' | 'call'>, life?: HolderId): Promise<SettleAnswer>;
  /** Renews all leases. */
  renew(): Promise<void>;
  /**
   * Whether that holder's requests may still be sent: by this process's monotonic clock, its last call was within
   * the lease time.
   */
  isGood(life: HolderId): boolean;
}

export interface FrontierClientOptions {
  readonly id?: HolderId;
  /** How long the frontier waits for a silent holder; Infinity (default) for an owner, whose leases do not expire. */
  readonly leaseMs?: number;
  /** All leases were lost: settling visits in progress will be refused. */
  readonly onLost?: (id: HolderId) => void;
}

export function newHolderId(): HolderId {
  return `${process.pid.toString(36)}-${randomBytes(9).toString('base64url')}`;
}

const isLost = (error: unknown): boolean => error instanceof CrawlError && error.code === 'LEASE_LOST';

export function createFrontierClient(frontier: Frontier, options: FrontierClientOptions = {}): FrontierClient {
  let id = options.id ?? newHolderId();
  let calls = 0;
  /** Numbers of the calls under way, oldest first. */
  let open = new Set<number>();
  let waiting: (() => void)[] = [];
  const { leaseMs = Infinity } = options;
  let heardAtMs = performance.now();

  function beginNewLife(): void {
    const lost = id;
    id = newHolderId();
    calls = 0;
    open = new Set();
    wakeAll();
    options.onLost?.(lost);
  }

  /** The frontier has forgotten what came so many calls before: one more now, and the oldest could not be answered. */
  function isFull(): boolean {
    const [oldest = Infinity] = open;
    return calls + 1 - oldest >= ANSWERS_KEPT;
  }

  function wakeAll(): void {
    const woken = waiting;
    waiting = [];
    for (const wake of woken) wake();
  }

  /** To be asked in a loop: whoever is woken first may fill the room. */
  const room = (): Promise<void> => new Promise((wake) => void waiting.push(wake));

  /** Makes a call; repeats it with the same number if it is unknown whether the first one arrived. */
  async function numbered<T>(
    step: 'add' | 'lease' | 'settle',
    make: (caller: { holder: HolderId; call: number }) => Promise<T>,
  ): Promise<T> {
    while (isFull()) await room();
    killPoint(`frontier.before-${step}`);
    const caller = { holder: id, call: ++calls };
    const mine = open.add(caller.call);
    const calledAtMs = performance.now();
    try {
      const answering = make(caller);
      if (step === 'settle') killPoint('frontier.sent-settle');
      const answer = await answering;
      killPoint(`frontier.after-${step}`);
      // From the start of the call: the frontier counts from a later moment.
      heardAtMs = Math.max(heardAtMs, calledAtMs);
      return answer;
    } catch (error) {
      if (!(error instanceof CrawlError) || error.class !== 'transient' || isLost(error)) throw error;
      return await make(caller);
    } finally {
      mine.delete(caller.call);
      wakeAll();
    }
  }

  async function lease(call: Omit<LeaseCall, 'holder' | 'call'>): Promise<LeaseAnswer> {
    let life: HolderId | undefined;
    const make = (): Promise<LeaseAnswer> =>
      numbered('lease', (caller) => {
        life = caller.holder;
        return frontier.lease({ ...call, ...caller });
      });
    try {
      return await make();
    } catch (error) {
      if (!isLost(error)) throw error;
      if (life === id) beginNewLife();
      return make();
    }
  }

  return {
    get id() {
      return id;
    },
    add: (entries) => numbered('add', (caller) => frontier.add({ ...caller, entries })),
    lease,
    async settle(call, life = id) {
      // Waited for here: a life may end meanwhile.
      while (isFull()) await room();
      if (life !== id) return { held: false, accepted: call.settlements.map(() => false) };
      const answer = await numbered('settle', (caller) => frontier.settle({ ...call, ...caller }));
      if (!answer.held && life === id) beginNewLife();
      return answer;
    },
    async renew() {
      await lease({ max: 0 });
    },
    isGood: (life) => life === id && performance.now() - heardAtMs < leaseMs,
  };
}
