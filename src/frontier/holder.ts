// One life of this process in a frontier: numbers its calls, repeats one whose answer was lost, and begins
// a new life when the frontier says that this one is over.
import { randomBytes } from 'node:crypto';
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

export interface Holder {
  readonly id: HolderId;
  add(entries: readonly QueueEntry[]): Promise<readonly Presence[]>;
  lease(call: Omit<LeaseCall, 'holder' | 'call'>): Promise<LeaseAnswer>;
  /** `held: false` when this life was over; the next call is made in a new one. */
  settle(call: Omit<SettleCall, 'holder' | 'call'>): Promise<SettleAnswer>;
  /** Keeps what is held, without asking for more. */
  renew(): Promise<void>;
}

export interface HolderOptions {
  readonly id?: HolderId;
  /** Everything held was taken away: what is under way will be refused. */
  readonly onLost?: (id: HolderId) => void;
}

export function newHolderId(): HolderId {
  return `${process.pid.toString(36)}-${randomBytes(9).toString('base64url')}`;
}

export function createHolder(frontier: Frontier, options: HolderOptions = {}): Holder {
  let id = options.id ?? newHolderId();
  let calls = 0;

  function beginNewLife(): void {
    const lost = id;
    id = newHolderId();
    calls = 0;
    options.onLost?.(lost);
  }

  /** Makes a call; once more under the same number if it is unknown whether the first one arrived. */
  async function numbered<T>(make: (caller: { holder: HolderId; call: number }) => Promise<T>): Promise<T> {
    const caller = { holder: id, call: ++calls };
    try {
      return await make(caller);
    } catch (error) {
      if (!(error instanceof CrawlError) || error.class !== 'transient' || error.code === 'LEASE_LOST') throw error;
      return make(caller);
    }
  }

  async function lease(call: Omit<LeaseCall, 'holder' | 'call'>): Promise<LeaseAnswer> {
    const life = id;
    try {
      return await numbered((caller) => frontier.lease({ ...call, ...caller }));
    } catch (error) {
      if (!(error instanceof CrawlError) || error.code !== 'LEASE_LOST') throw error;
      if (life === id) beginNewLife();
      return numbered((caller) => frontier.lease({ ...call, ...caller }));
    }
  }

  return {
    get id() {
      return id;
    },
    add: (entries) => numbered((caller) => frontier.add({ ...caller, entries })),
    lease,
    async settle(call) {
      const life = id;
      const answer = await numbered((caller) => frontier.settle({ ...call, ...caller }));
      if (!answer.held && life === id) beginNewLife();
      return answer;
    },
    async renew() {
      await lease({ max: 0 });
    },
  };
}
