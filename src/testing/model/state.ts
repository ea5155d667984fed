// What the model keeps: requests, domains with their queues in order, holders and counts. Plain data without rules.
import type { HolderId, Pacing, QueueEntry } from '../../frontier/frontier.js';

export interface ModelRules {
  readonly pacing: Pacing;
  readonly leaseMs: number;
  /** What `add` and `find` can tell of a request that ended. */
  readonly remembers: 'requests' | 'fingerprints';
  /** A filter may take a new request for a known one. */
  readonly isFilter?: boolean;
  /** Requests accepted of a domain in all, without those put in front. */
  readonly budget?: number;
  /** The tail of a line may be on disk: what waits behind the line may overtake it, and a lease may get less. */
  readonly spills?: boolean;
  /** The holder of an owner, whose leases do not expire. */
  readonly unexpiring?: HolderId;
}

export type ModelState = 'queued' | 'retrying' | 'leased' | 'parsing' | 'done' | 'failed' | 'skipped';

export interface ModelRequest {
  entry: QueueEntry;
  state: ModelState;
  /** Smaller is served first within a priority; of equals either may be. */
  order: number;
  /** Joined the end of the line and has not left it since. */
  isInLine: boolean;
  retryMs: number;
  toEnd: boolean;
  lost: number;
  /** Of a suspect: of how many it may be one; at most `LOSSES_ALONE`, alone, and so many losses are left. 0: none. */
  trial: number;
  holder: HolderId;
  lease: number;
  landed: boolean;
  bulkSkip: boolean;
  record: string;
  reason: string;
}

export interface ModelDomain {
  readonly name: string;
  delayMs: number;
  allowedMs: number;
  /** Since when it could have been asked, as far as its queue and turns go. */
  readyMs: number;
  /** Turns that are out. */
  out: number;
  /** What is queued, in the order it is served. */
  readonly queue: ModelRequest[];
  /** Requests that used its budget. */
  used: number;
}

/** All that the model knows; plain data, so that it can be copied. */
export interface State {
  readonly requests: Map<string, ModelRequest>;
  readonly domains: Map<string, ModelDomain>;
  /** When each that holds something was last heard of, in the order of their first lease. */
  readonly seenMs: Map<HolderId, number>;
  readonly held: Map<HolderId, Set<ModelRequest>>;
  readonly lost: Set<HolderId>;
  /** Refused by a budget. */
  readonly dropped: Set<string>;
  readonly retrying: Set<ModelRequest>;
  readonly parsing: ModelRequest[];
  readonly notes: Map<string, string>;
  readonly counts: Record<ModelState, number>;
  front: number;
  back: number;
  allowance: number;
  /** Takes no more until it holds nothing and can take a trial. */
  judge: HolderId;
  /** Nothing is leased before: the store has just come back. */
  quietMs: number;
}

export const keyOf = ({ hi, lo }: { readonly hi: number; readonly lo: number }): string => `${hi}-${lo}`;

export const isEnded = ({ state }: ModelRequest): boolean =>
  state === 'done' || state === 'failed' || state === 'skipped';
export const priorityOf = ({ entry }: ModelRequest): number => entry.priority ?? 0;

export const isSuspect = ({ trial }: ModelRequest): boolean => trial > 0;
/** Suspects come before everything else, regardless of priority. */
const rankOf = (request: ModelRequest): number => (isSuspect(request) ? Infinity : priorityOf(request));

/** Below zero when `a` is served before `b` of the same domain. */
export function byPlace(a: ModelRequest, b: ModelRequest): number {
  const [rankA, rankB] = [rankOf(a), rankOf(b)];
  return rankA === rankB ? a.order - b.order : rankB - rankA;
}

export function freshState(): State {
  return {
    ...{ requests: new Map(), domains: new Map(), seenMs: new Map(), held: new Map(), lost: new Set() },
    ...{ dropped: new Set(), retrying: new Set(), parsing: [], notes: new Map() },
    counts: { queued: 0, retrying: 0, leased: 0, parsing: 0, done: 0, failed: 0, skipped: 0 },
    ...{ front: 0, back: 0, allowance: Number.POSITIVE_INFINITY, judge: '', quietMs: 0 },
  };
}
