// What only a pod needs from its store: counters for its supervisor, the page allowance, the parse queue, links for
// unreachable pods, and the supervisor role.
import { CrawlError } from '../../errors.js';
import type { Caller, Counters, HolderId, QueueEntry } from '../frontier.js';
import type { Argument, Connection } from './server/connection.js';
import { type FingerprintOfRecord, type HandedLease, unpackHanded } from './packing.js';
import type { ScriptName } from './scripts.js';
import { pairs } from './server/start-checks.js';

/** One pod's counters at one instant; `leased` includes the parse queue, counted in `parsing`. */
export interface PodReading extends Counters {
  readonly parsing: number;
  readonly parseBytes: number;
  /** Links waiting for unreachable pods. */
  readonly outbox: number;
  /** Total pages allowed; undefined without a limit. */
  readonly allowance: number | undefined;
  /** Queued requests on disk, or about to be. */
  readonly spilled: number;
  readonly dueDomains: number;
  readonly restingDomains: number;
  /** Links dropped because their domain's budget was used up. */
  readonly dropped: number;
  /** Of `failed`: requests that ended because they ended their worker. */
  readonly lostWorkers: number;
}

/**
 * `limit`: from now on there is a limit, at least what is done and in progress. `known` is the allowance the caller
 * knows: if it differs, the call is a repeat and changes nothing.
 */
export type AllowanceAct =
  | { readonly act: 'limit' | 'lift' }
  | { readonly act: 'give' | 'take'; readonly pages: number; readonly known: number };

export interface AllowanceAnswer {
  /** False if another process coordinates now: nothing happened. */
  readonly held: boolean;
  /** Pages given or taken. */
  readonly pages: number;
  readonly allowance: number | undefined;
}

export interface OwnerAnswer {
  readonly isOurs: boolean;
  readonly token: string;
  readonly identity: string;
  /** Until the owner counts as gone. */
  readonly leftMs: number;
}

export interface LeadCall {
  readonly token: string;
  /** A leader silent for longer is replaced; 0 gives the lead up. */
  readonly ttlMs: number;
  readonly identity: string;
  /** Takes the lead if it is free. */
  readonly mayTake: boolean;
  /** Ends the crawl, if the caller leads. */
  readonly signal?: string;
}

export interface LeadAnswer {
  readonly isOurs: boolean;
  /** Of the current or last leader; 0 before the first. */
  readonly run: number;
  readonly signal: string | undefined;
  /** The leader; '' if there is none. */
  readonly identity: string;
}

export interface PullAnswer {
  /** False if the holder was lost: a new one is needed. */
  readonly held: boolean;
  readonly waiting: number;
  readonly leases: readonly HandedLease[];
}

/** Entries per call of `requeue`: with their domains they fit one script call. */
export const MAX_REQUEUED = 100;

export type Notes = Readonly<Record<string, string>>;

export interface PodOperations {
  reading(): Promise<PodReading>;
  /** `epoch` numbers the coordinator; an older one is refused. */
  changeAllowance(epoch: number, change: AllowanceAct): Promise<AllowanceAnswer>;
  /** Captures waiting for a parser, with their leases. */
  pull(call: Caller & { readonly max: number; readonly isForWork?: boolean }): Promise<PullAnswer>;
  /** Takes, keeps (`ttlMs` above 0) or gives up the supervisor role. */
  own(token: string, ttlMs: number, identity: string, deadToken?: string): Promise<OwnerAnswer>;
  /** Takes, keeps or gives up the lead over all machines of the crawl; only in the coordinating pod's store. */
  lead(call: LeadCall): Promise<LeadAnswer>;
  /** Some of the notes with links for unreachable pods: name and text. */
  outboxNotes(most: number): Promise<readonly (readonly [string, string])[]>;
  /** Names of captures waiting for a parser. */
  captures(): Promise<Set<string>>;
  /**
   * Queues failed requests again and makes notes true, in one step; at most `MAX_REQUEUED` of them. Their fingerprints
   * stay known, and they move from failed to queued.
   */
  requeue(call: Caller & { readonly entries: readonly QueueEntry[]; readonly notes: Notes }): Promise<void>;
  /** A plain command on one of the store's keys. */
  command(name: string, key: string, ...rest: Argument[]): Promise<unknown>;
  /** The server's own figures: `INFO`. */
  serverInfo(): Promise<string>;
}

export function createPodOperations(options: {
  readonly run: (name: ScriptName, args: readonly Argument[]) => Promise<unknown[]>;
  readonly connection: Pick<Connection, 'command'>;
  readonly prefix: string;
  readonly token: string;
  readonly fingerprintOf: FingerprintOfRecord | undefined;
  /** A holder is about to take requests: they are returned when the store is closed. */
  readonly hold: (holder: HolderId, isForWork: boolean) => void;
  readonly requeue: PodOperations['requeue'];
}): PodOperations {
  const { run, prefix, connection } = options;
  return {
    async reading() {
      const [numbers] = (await run('reading', [])) as [number[]];
      const [accepted, queued, retrying, leased, done, failed, skipped] = numbers as [...Numbers7];
      const [parsing, parseBytes, outbox, allowance, spilled, dueDomains, restingDomains] = numbers.slice(7) as [
        ...Numbers7,
      ];
      const [dropped = 0, lostWorkers = 0] = numbers.slice(14);
      return {
        ...{ accepted, queued, retrying, done, failed, skipped },
        leased: leased + parsing,
        ...{ parsing, parseBytes, outbox, spilled, dueDomains, restingDomains, dropped, lostWorkers },
        allowance: allowance < 0 ? undefined : allowance,
      };
    },
    async changeAllowance(epoch, change) {
      const numbers = 'pages' in change ? [change.pages, change.known] : [0, 0];
      const answer = (await run('allowance', [epoch, change.act, ...numbers])) as [number, number, number];
      const [held, changed, allowance] = answer;
      return { held: held === 1, pages: changed, allowance: allowance < 0 ? undefined : allowance };
    },
    async pull({ holder, call, max, isForWork = true }) {
      options.hold(holder, isForWork);
      const answer = await run('pull', [holder, call, 'pull', max, options.token]);
      const [held, waiting, entries] = answer as [number, number, Buffer[]];
      if (held === 0) return { held: false, waiting: 0, leases: [] };
      return { held: true, waiting, leases: entries.map((entry) => unpackHanded(entry, options.fingerprintOf)) };
    },
    async own(token, ttlMs, identity, deadToken = '') {
      const answer = await run('own', [token, String(ttlMs), identity, deadToken]);
      const [isOurs, owner, who, leftMs] = answer as [number, Buffer, Buffer, number];
      return { isOurs: isOurs === 1, token: String(owner), identity: String(who), leftMs: Math.max(0, leftMs) };
    },
    async lead({ token, ttlMs, identity, mayTake, signal = '' }) {
      // Seconds: above any number that a store restored from an old backup has forgotten.
      const least = Math.floor(Date.now() / 1_000);
      const args = [token, String(ttlMs), identity, mayTake ? '1' : '0', signal, String(least)];
      const [isOurs, number, text, who] = (await run('lead', args)) as [number, number, Buffer, Buffer];
      if (!Number.isSafeInteger(number)) throw new CrawlError('QUEUE_CORRUPT', 'global:coordinator is not a number');
      return { isOurs: isOurs === 1, run: number, signal: String(text) || undefined, identity: String(who) };
    },
    async outboxNotes(most) {
      const notes: [string, string][] = [];
      let cursor = '0';
      do {
        const scan = await connection.command('HSCAN', `${prefix}outbox`, cursor, 'COUNT', String(most));
        const [next, flat] = scan as [Buffer, Buffer[]];
        cursor = String(next);
        notes.push(...pairs(flat));
      } while (cursor !== '0' && notes.length < most);
      return notes;
    },
    async captures() {
      const names = new Set<string>();
      for (let from = 0; ; from += CAPTURES_A_READ) {
        const range = [String(from), String(from + CAPTURES_A_READ - 1)] as const;
        const entries = (await connection.command('LRANGE', `${prefix}fetch:queue`, ...range)) as Buffer[];
        for (const entry of entries) names.add(unpackHanded(entry, NO_FINGERPRINT).capture);
        if (entries.length < CAPTURES_A_READ) return names;
      }
    },
    requeue: options.requeue,
    command: (name, key, ...rest) => connection.command(name, prefix + key, ...rest),
    serverInfo: async () => String(await connection.command('INFO')),
  };
}

const CAPTURES_A_READ = 1_000;
const NO_FINGERPRINT: FingerprintOfRecord = () => ({ hi: 0, lo: 0 });
type Numbers7 = [number, number, number, number, number, number, number];
