// What the parts of the embedded frontier share in a transaction: tables, hot numbers, domains, the time.
// Built once per opening; `begin` and `end` frame every transaction.
import { type ClockAnchor, type FrontierClock } from './clock.js';
import { createDomains, type Domains } from './domains.js';
import type { Pacing } from '../frontier.js';
import { freshHotState, type HotState, isSameButTime, loadHotState, saveHotState } from './hot-state.js';
import type { Tables } from '../tables/kv.js';
import { fingerprintOf } from '../../request/fingerprint.js';
import { domainFingerprint, packJson, requestFingerprint } from '../tables/packing.js';
import {
  extendStoredIndex,
  forgettingIndex,
  type ForgettingIndex,
  type IndexSource,
  ownedIndex,
  type SeenIndex,
  storedIndex,
} from './seen-index.js';

export interface MachineOptions {
  readonly pacing: Pacing;
  readonly leaseMs: number;
  readonly clock: FrontierClock;
  /** Whether no other process can change the tables, so that cached rows stay valid. */
  readonly owned: boolean;
  /** Fingerprints an owner keeps in memory; the rest stays in the store. */
  readonly maxSeenInMemory: number;
  /** Whether ended requests and rested domains leave the tables. Only for queues in memory. */
  readonly forgetEnded?: boolean;
  /** Whether a request that ended its holder leaves a note, for a pod that records fates. */
  readonly notesFates?: boolean;
  /** Total requests that may be done. */
  allowance: number;
}

export interface Machine {
  readonly tables: Tables;
  readonly options: MachineOptions;
  readonly hot: HotState;
  readonly domains: Domains;
  readonly seen: SeenIndex;
  /** The same index if ended requests are forgotten. */
  readonly forgetful: ForgettingIndex | undefined;
  /** Store time of this transaction. */
  readonly nowMs: number;
  setAnchor(anchor: ClockAnchor): void;
  /** Reads what another process or a failed transaction may have changed, and the time. */
  begin(): void;
  /** Writes what the transaction changed. */
  end(): void;
  /** After a failed transaction cached data is invalid. */
  distrust(): void;
  /** Moves a portion of an owner's index into the store; true when done. Only needed to share. */
  shareIndexes(portion: number): boolean;
}

/** Sets a note, or with null removes it. */
export function putNote({ tables }: Pick<Machine, 'tables'>, name: string, text: string | null): void {
  const { hi, lo } = fingerprintOf(name);
  if (text === null) tables.notes.remove(hi, lo);
  else tables.notes.put(hi, lo, packJson([name, text]));
}

export function createMachine(tables: Tables, options: MachineOptions): Machine {
  const hot = freshHotState();
  const requestIndex: IndexSource = {
    index: tables.seen,
    rows: tables.requests,
    fingerprintIn: requestFingerprint,
    from: () => hot.seenFrom,
    setFrom: (id) => (hot.seenFrom = id),
    next: () => hot.nextRequest,
  };
  const nameIndex: IndexSource = {
    index: tables.names,
    rows: tables.domains,
    fingerprintIn: domainFingerprint,
    from: () => hot.namesFrom,
    setFrom: (id) => (hot.namesFrom = id),
    next: () => hot.nextDomain,
  };
  const forgetful = options.forgetEnded ? forgettingIndex() : undefined;
  const forgetfulNames = options.forgetEnded ? forgettingIndex() : undefined;
  let seen: SeenIndex | undefined = forgetful ?? (options.owned ? undefined : storedIndex(requestIndex));
  let names: SeenIndex | undefined = forgetfulNames ?? (options.owned ? undefined : storedIndex(nameIndex));
  let isTrusted = false;
  let anchor: ClockAnchor | undefined;
  let nowMs = 0;
  let savedHot = freshHotState();

  const domains = createDomains({
    tables,
    hot,
    pacing: options.pacing,
    owned: options.owned,
    names: () => (names ??= ownedIndex(nameIndex, options.maxSeenInMemory)),
    forgetfulNames,
    nowMs: () => nowMs,
  });

  return {
    tables,
    options,
    hot,
    domains,
    get seen() {
      return (seen ??= ownedIndex(requestIndex, options.maxSeenInMemory));
    },
    forgetful,
    get nowMs() {
      return nowMs;
    },
    setAnchor(value) {
      anchor = value;
      nowMs = Math.max(hot.lastMs, anchor.offsetMs + options.clock.monotonicMs());
    },
    begin() {
      if (!isTrusted) {
        domains.forget();
        if (options.owned) domains.countTurns();
        loadHotState(tables.meta, hot);
        savedHot = { ...hot };
        isTrusted = options.owned;
      }
      nowMs = Math.max(hot.lastMs, (anchor?.offsetMs ?? 0) + options.clock.monotonicMs());
    },
    end() {
      domains.flush();
      // A transaction that changed nothing stays empty: a poll of an idle queue costs no write.
      if (isSameButTime(hot, savedHot)) return;
      hot.lastMs = nowMs;
      saveHotState(tables.meta, hot);
      Object.assign(savedHot, hot);
    },
    distrust() {
      isTrusted = false;
      domains.forget();
      if (options.owned && !forgetful) seen = names = undefined;
    },
    shareIndexes(portion) {
      return extendStoredIndex(requestIndex, portion) && extendStoredIndex(nameIndex, portion);
    },
  };
}
