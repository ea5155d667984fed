// PORT. The frontier: every accepted URL, what became of it, who holds it and when its domain may be asked.
// Guarantees 1, 2, 3 and 5 of DESIGN are kept here, by whichever backend; src/testing/conformance/conformance.ts
// states them as tests that every backend passes.
import type { Fingerprint } from '../request/fingerprint.js';
import type { Priority } from '../request/request.js';

/** One life of one process. A new life has a new id, so a late call of a lost one can be refused. */
export type HolderId = string;

/**
 * The caller, and its own number for this call. Numbers grow by one per call of a holder; a repeated
 * number gets the first answer again and changes nothing (the last `ANSWERS_KEPT` are remembered).
 * Any call renews everything its holder holds.
 */
export interface Caller {
  /** Which life of which process calls. */
  readonly holder: HolderId;
  /** Counts up with each call; a repeated number is answered as the first time. */
  readonly call: number;
}

/**
 * How many answers per holder a frontier remembers, so that a repeated call gets the first one.
 *
 * @example
 * const isForgotten = (call: number, lastCall: number) => call <= lastCall - ANSWERS_KEPT;
 */
export const ANSWERS_KEPT = 16;

/** A request as the frontier sees it; `record` is opaque. */
export interface QueueEntry {
  /** Of the request's unique key: the same one is accepted once. */
  readonly fingerprint: Fingerprint;
  /** The queue and pace it belongs to: a registrable domain or a host. */
  readonly domain: string;
  /** The request itself, in whatever form the caller writes it. */
  readonly record: string;
  /** From -2 to 2, default 0: higher ones go first within their domain. */
  readonly priority?: Priority;
  /** Before everything of the same priority in its domain; the last one in is the first out. */
  readonly forefront?: boolean;
}

/**
 * What `add` found: queued now, already waiting or in work, or already ended. A backend that keeps only the
 * fingerprints of requests says `pending` of whatever it accepted before.
 */
export type Presence = 'new' | 'pending' | 'ended';

/** A unit of work in one holder's hands. */
export interface Lease {
  /** Unique in this frontier for ever. */
  readonly id: number;
  /** Of the request's unique key. */
  readonly fingerprint: Fingerprint;
  /** Whose turn was taken for it. */
  readonly domain: string;
  /** As it was added, or as its last retry left it. */
  readonly record: string;
  /** As it was added. */
  readonly priority: Priority;
  /** How often this request's lease was lost with its holder. */
  readonly lostLeases: number;
  /** The domain's delay when its turn was taken: above 0, this is the only turn of the domain. */
  readonly delayMs: number;
  /**
   * Came along on the turn of another request of its domain (see `LeaseCall.bulkSkipDomains`) and holds none itself: it
   * is never sent. It is settled `skipped`, `failed` or `untouched`; another settlement is not accepted,
   * and a landing is ignored. Lost with its holder it goes back as `untouched` would: no rest for its domain,
   * and nothing added to its lost leases.
   */
  readonly bulkSkip?: true;
}

/** Asks for work. */
export interface LeaseCall extends Caller {
  /** At most so many; 0 only renews. */
  readonly max: number;
  /** Hand out nothing that could bring done + failed above this. */
  readonly maxEnded?: number;
  /**
   * Domains of which the caller expects to end many requests without asking for them (forbidden, host down),
   * at most `MAX_BULK_SKIP_DOMAINS`. Of each that gets a turn in this call, the next `BULK_SKIPS_PER_DOMAIN` of
   * its queue come along as bulk skips, `BULK_SKIPS_PER_CALL` in all: after the leases that hold a turn, in the order
   * of this list (a name repeated counts once) and each domain's in the order of its queue. Bulk skips count as leased and
   * towards `maxEnded`, but not towards `max`.
   */
  readonly bulkSkipDomains?: readonly string[];
}

/**
 * The most domains in `LeaseCall.bulkSkipDomains`.
 *
 * @example
 * const bulkSkipDomains = ['a.example', 'b.example'].slice(0, MAX_BULK_SKIP_DOMAINS);
 */
export const MAX_BULK_SKIP_DOMAINS = 64;
/**
 * The most bulk skips of one domain per lease call.
 *
 * @example
 * const skips = ['first', 'second'].slice(0, BULK_SKIPS_PER_DOMAIN);
 */
export const BULK_SKIPS_PER_DOMAIN = 64;
/**
 * The most bulk skips of all domains per lease call.
 *
 * @example
 * const room = BULK_SKIPS_PER_CALL - 2;
 */
export const BULK_SKIPS_PER_CALL = 512;

/**
 * What a lease call got. When fewer than asked: `waiting` means something is queued, held or not due yet
 * (`nextDueMs` tells how long until the next queued one may be due, if any is), `exhausted` that nothing
 * is pending anywhere in this frontier.
 */
export interface LeaseAnswer {
  /** What the caller now holds in addition. */
  readonly leases: readonly Lease[];
  /** `more`: ask again; `waiting`: nothing is due yet; `exhausted`: nothing is left. */
  readonly state: 'more' | 'waiting' | 'exhausted';
  /** With `waiting`: how long until something is due, if that is known. */
  readonly nextDueMs?: number;
}

/**
 * The response to a leased request has ended or failed: its domain's turn is free again and the delay runs
 * from now. A lease that is settled without ever having landed gives its turn back unused: no delay.
 */
export interface Landing {
  /** The lease whose response has ended: its domain's delay runs from now. */
  readonly lease: number;
  /** From now on the domain's delay is this. */
  readonly delayMs?: number;
  /** The domain rests at least this long, whatever its delay. */
  readonly pauseMs?: number;
}

/** How one leased request ends or goes back. `record`, when given, replaces the stored one. */
export type Settlement = {
  readonly lease: number;
  readonly record?: string;
  readonly links?: readonly QueueEntry[];
} & (
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'skipped'; readonly reason: string }
  /** Again after its own wait; then (at once, with 0) at the front of its domain, or with `back` at its end. */
  | { readonly kind: 'retry'; readonly afterMs: number; readonly back?: boolean }
  /**
   * Not visited: back to where it was in its domain's queue. A turn that has not landed goes back unused, as if
   * never taken; one that has (it was spent on the host's robots.txt) is spent, and the delay runs.
   */
  | { readonly kind: 'untouched' }
  /**
   * Fetched, and its capture waits under this name: the lease goes with it to the parse queue, where it does not expire.
   * Only of a frontier that has one (Redis); elsewhere it is refused as `REQUEST_INVALID`.
   */
  | { readonly kind: 'handed'; readonly capture: string; readonly bytes: number }
);

/** Ends visits and landings, and sets notes, in one atomic step. */
export interface SettleCall extends Caller {
  /** Responses that ended, before the visits they belong to do. */
  readonly landings?: readonly Landing[];
  /** Visits that end or go back. */
  readonly settlements: readonly Settlement[];
  /** Small facts that become true in the same atomic step (segment lengths, run state); null deletes. */
  readonly notes?: Readonly<Record<string, string | null>>;
}

/**
 * `held` is false when the holder was lost: then nothing of the call took effect, notes and links included,
 * and the holder must begin a new life. Otherwise `accepted[i]` tells whether settlement i was its to make.
 */
export interface SettleAnswer {
  /** False: the caller is counted as lost, and holds nothing any more. */
  readonly held: boolean;
  /** By settlement: false for a lease that the caller no longer holds. */
  readonly accepted: readonly boolean[];
}

/** accepted = queued + retrying + leased + done + failed + skipped, at every instant. */
export interface Counters {
  /** All that were ever new. */
  readonly accepted: number;
  /** Wait for the first or next visit. */
  readonly queued: number;
  /** Wait for the time of their retry. */
  readonly retrying: number;
  /** In the hands of a process. */
  readonly leased: number;
  /** Ended well. */
  readonly done: number;
  /** Ended badly, for good. */
  readonly failed: number;
  /** Ended without a visit, such as what robots.txt forbids. */
  readonly skipped: number;
}

/**
 * What became of a request. `known`: accepted once, and a backend that keeps only the fingerprints of requests (for
 * broad crawls) cannot tell more; its record is ''.
 */
export interface Found {
  /** `known`: it was accepted, and no more is kept of it. */
  readonly state: 'queued' | 'retrying' | 'leased' | 'done' | 'failed' | 'skipped' | 'known';
  /** As it was last written. */
  readonly record: string;
  /** As it was added. */
  readonly priority: Priority;
  /** Of `failed` and `skipped`. */
  readonly reason?: string;
}

/** The counters and notes of a frontier. */
export interface Overview {
  /** Requests by state. */
  readonly counters: Counters;
  /** Small facts that settlements set. */
  readonly notes: Readonly<Record<string, string>>;
}

/** How a frontier paces domains. */
export interface Pacing {
  /** Rest between the end of one response and the start of the next request of a domain, until a landing sets another. */
  readonly delayMs: number;
  /** Turns of a domain whose delay is 0: how many of its requests may be open at once. A delay means one turn. */
  readonly turns: number;
}

/**
 * What is known of why a holder was lost: one of these of its leases ended it, and the rest are innocent. With a `code`
 * the one lease is known for sure and fails with it at once.
 */
export interface Blame {
  /** Those that may have ended their holder. */
  readonly leases: readonly number[];
  /** With it, they fail at once by this code. */
  readonly code?: string;
}

/**
 * Every accepted URL, what became of it, who holds it, and when its domain may be asked again. `frontierSuite` of
 * `orcrawl/testing` checks a backend against these promises.
 */
export interface Frontier {
  /** Marks each request seen and queues the new ones, each in one atomic step. Durable when it resolves. */
  add(call: Caller & { readonly entries: readonly QueueEntry[] }): Promise<readonly Presence[]>;

  /**
   * Leases due requests, taking each one's turn: no domain is handed out beyond its turns, nor before its
   * next allowed time. Longest-due domain first, one request of it, then the next domain.
   */
  lease(call: LeaseCall): Promise<LeaseAnswer>;

  /** Lands responses and settles visits with their links and notes, all in one atomic step. */
  settle(call: SettleCall): Promise<SettleAnswer>;

  /**
   * Takes everything from a holder known to be gone; resolves to how many leases were lost. Each request goes to the
   * front of its domain as a *suspect*, since any of them may have ended the holder. A holder that falls silent is lost
   * in the same way. A turn lost this way rests its domain for its delay. Bulk skips are counted in the answer, and
   * go back untouched.
   *
   * A suspect is leased only to a holder that holds nothing, in a *trial*: together with at most half as many suspects
   * as were lost together, and with nothing else until all of them are settled. Any settlement but `untouched` and
   * `handed` clears it. Below four it is tried alone, and the `LOSSES_ALONE`th loss alone fails it with `WORKER_LOST`.
   * While a suspect is due and every holder is busy, one of them gets nothing until it holds nothing.
   *
   * With `blame` only those leases become suspects, or fail; the rest go back to their places, unsuspected. Blame that
   * names nothing the holder holds is ignored.
   */
  release(holder: HolderId, blame?: Blame): Promise<number>;

  /** What became of each request, or undefined where it was never accepted. */
  find(fingerprints: readonly Fingerprint[]): Promise<readonly (Found | undefined)[]>;

  /** The counters and all notes, of one moment. */
  overview(): Promise<Overview>;

  /** Gives back what this process holds, untouched, and frees every resource. */
  close(): Promise<void>;
}

/**
 * A request whose holder is lost so often while it holds nothing else ends as `WORKER_LOST`.
 *
 * @example
 * const hasEnded = (lossesAlone: number) => lossesAlone >= LOSSES_ALONE;
 */
export const LOSSES_ALONE = 3;
