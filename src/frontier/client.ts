// A process as a client of its frontier: numbers its calls and repeats one whose answer was lost.
// It is one holder at a time, and a new one when the frontier says that the last is lost.
import { randomBytes } from 'node:crypto';
import { killPoint } from '../base/kill-points.js';
import { CrawlError } from '../errors.js';
import type {
  Frontier,
  HolderId,
  LeaseAnswer,
  LeaseCall,
  Presence,
  QueueEntry,
  SettleAnswer,
  SettleCall,
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

export function createFrontierClient(frontier: Frontier, options: FrontierClientOptions = {}): FrontierClient {
  let id = options.id ?? newHolderId();
  let calls = 0;
  const { leaseMs = Infinity } = options;
  let heardAtMs = performance.now();

  function beginNewLife(): void {
    const lost = id;
    id = newHolderId();
    calls = 0;
    options.onLost?.(lost);
  }

  /** Makes a call; repeats it with the same number if it is unknown whether the first one arrived. */
  async function numbered<T>(
    step: 'add' | 'lease' | 'settle',
    make: (caller: { holder: HolderId; call: number }) => Promise<T>,
  ): Promise<T> {
    killPoint(`frontier.before-${step}`);
    const caller = { holder: id, call: ++calls };
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
      if (!(error instanceof CrawlError) || error.class !== 'transient' || error.code === 'LEASE_LOST') throw error;
      return make(caller);
    }
  }

  async function lease(call: Omit<LeaseCall, 'holder' | 'call'>): Promise<LeaseAnswer> {
    const life = id;
    try {
      return await numbered('lease', (caller) => frontier.lease({ ...call, ...caller }));
    } catch (error) {
      if (!(error instanceof CrawlError) || error.code !== 'LEASE_LOST') throw error;
      if (life === id) beginNewLife();
      return numbered('lease', (caller) => frontier.lease({ ...call, ...caller }));
    }
  }

  return {
    get id() {
      return id;
    },
    add: (entries) => numbered('add', (caller) => frontier.add({ ...caller, entries })),
    lease,
    async settle(call, life = id) {
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
