// What the machine needs of a backend: openings as processes have them, and the faults it can be put through.
// A backend offers what it has; steps for what it lacks do nothing.
import type { Frontier, Lease, SettleAnswer, SettleCall } from '../../frontier/frontier.js';
import type { HandClock } from '../conformance/bench.js';
import type { ModelRules } from './state.js';
import type { Setting } from './steps.js';

export interface ModelOpening {
  readonly frontier: Frontier;
  /** Settles with links for other pods sent there first; rejecting them while a pod is away. */
  settle?(call: SettleCall, isAway: (pod: number) => boolean): Promise<SettleAnswer>;
  /** One round of the keeper of spilled requests. */
  keep?(): Promise<void>;
  pull?(call: { holder: string; call: number; max: number }): Promise<{ held: boolean; leases: readonly Lease[] }>;
  /** Pages that may be done in all; Infinity for no limit. What is in work is never taken. */
  allow?(pages: number): Promise<number>;
}

export interface ModelStore {
  readonly rules: Omit<ModelRules, 'pacing' | 'leaseMs'>;
  readonly openings: readonly ModelOpening[];
  /** Ends one opening, cleanly or as `kill -9` would, and opens the store again after this time. */
  reopen(index: number, how: 'close' | 'kill', awayMs: number): Promise<void>;
  /** Store time against the clock's: a store may ignore some of the time that passed while it was closed. */
  behindMs(): Promise<number>;
  /** Any call that the store keeps the time of: its wall clock has jumped. */
  tick?(): Promise<void>;
  /** The server is killed and started again with what it had written. */
  restart?(): Promise<void>;
  /** The store is killed and comes back as it was at the last mark; `andAll`: so are all processes that have it open.
   * Answers which openings found themselves over by it, and were opened anew. */
  mark?(): Promise<void>;
  loseTail?(andAll: boolean): Promise<readonly number[]>;
  /** Numbers of the store, none of which may be below zero. */
  numbers?(): Promise<Readonly<Record<string, number>>>;
  /** How much of a domain's budget is used, where there is one. */
  budgetUsed?(domain: string): Promise<number>;
  /** Numbers that must be zero when nothing is pending. */
  readonly zeroAtEnd?: readonly string[];
  /** Takes in links that other pods sent; `isCut`: dies before it has removed them. */
  takeIn?(isCut: boolean): Promise<void>;
  readonly inboxLinks?: number;
  /** Delivers the links that wait for other pods. */
  deliver?(isAway: (pod: number) => boolean): Promise<void>;
  /** Links from another pod: into the queue at once, or to an inbox. */
  readonly receives?: 'queue' | 'inbox';
}

export interface ModelWorld {
  readonly clock: HandClock;
  readonly stores: readonly ModelStore[];
  podOf(domain: string): number;
  dispose(): Promise<void>;
}

export type MakeWorld = (setting: Setting, clock: HandClock) => Promise<ModelWorld>;
