// What the server tells the console: types only, shared with the page in src/console.
// Promise: everything is plain JSON; text that came from pages is in strings that the page shows as text.
import type { PageRow } from '../jobs/row-types.js';

export type JobState = 'running' | 'waiting' | 'paused' | 'completed' | 'failed' | 'cancelled';
export type JobAction = 'cancel' | 'resume' | 'retry';

export interface JobView {
  readonly id: string;
  readonly kind: 'crawl' | 'batch' | 'extract' | 'check' | 'pods';
  readonly url: string;
  readonly state: JobState;
  /** Why it failed, or why it does not go on. */
  readonly reason?: string;
  readonly owner: string;
  readonly createdAtMs: number;
  readonly endedAtMs?: number;
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  /** Outcomes listed, of all kinds. */
  readonly rows: number;
  /** Of kept results. */
  readonly bytes: number;
  readonly perSec: number;
  readonly can: readonly JobAction[];
}

/** The server as the page needs to know it. */
export interface ServerView {
  /** `server` starts jobs; the others show one crawl of the command line. */
  readonly mode: 'server' | 'crawl' | 'batch' | 'pods';
  readonly version: string;
  /** The name of the token that watches. */
  readonly token: string;
  readonly browser: boolean;
  readonly startedAtMs: number;
}

/** One moment of a job, in this order: see SAMPLE. Counts and bytes are totals, the rest is of the moment. */
export type Sample = readonly number[];

export const SAMPLE = {
  atSecs: 0,
  done: 1,
  failed: 2,
  bytes: 3,
  queued: 4,
  active: 5,
  memory: 6,
  p50: 7,
  p95: 8,
} as const;

export interface ErrorCount {
  readonly code: string;
  readonly count: number;
  readonly examples: readonly { readonly url: string; readonly error: string }[];
}

export interface DomainView {
  readonly host: string;
  readonly pages: number;
  readonly failed: number;
  readonly bytes: number;
  /** Mean load time. */
  readonly ms: number;
  /** Pages per second between its first and its last. */
  readonly pace: number;
  readonly lastAtMs: number;
}

/** What the rows of a job add up to. */
export interface FiguresView {
  /** Rows that are part of it. */
  readonly rows: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly types: Readonly<Record<string, number>>;
  readonly errors: readonly ErrorCount[];
  readonly robots: number;
  readonly bytes: number;
  readonly domains: number;
  readonly p50: number;
  readonly p95: number;
}

export interface PodView {
  readonly pod: number;
  readonly state: 'starting' | 'running' | 'silent' | 'stopped';
  readonly reason?: string;
  readonly where: string;
  readonly isHere: boolean;
  readonly pages: number;
  readonly failed: number;
  readonly perSec: number;
  readonly queued: number;
  readonly leased: number;
  readonly parsing: number;
  readonly workers: number;
  readonly workersWanted: number;
  readonly restarts: number;
  readonly memory: number;
  readonly cpu: number;
  readonly redisMemory?: number;
  readonly redisMemoryLimit?: number;
  readonly redisOps?: number;
  readonly redisCpu?: number;
  /** Load of its store over the mean of all. */
  readonly hot?: number;
}

/** A row and its place among the job's outcomes. */
export type NumberedRow = readonly [place: number, row: PageRow];

/** What `/events` sends: all of it first (`snapshot`), then what changed (`change`). */
export interface StreamData {
  /** Replaced values, by key. */
  readonly set: Readonly<Record<string, unknown>>;
  /** Keys that are gone. */
  readonly gone?: readonly string[];
  /** What was added to lists; `reset` names those that begin anew. */
  readonly add?: Readonly<Record<string, readonly unknown[]>>;
  readonly reset?: readonly string[];
}

export interface RowsAnswer {
  readonly rows: readonly NumberedRow[];
  /** Rows there are, before filtering. */
  readonly total: number;
  /** Where the search stopped: everything from here on was looked at. 0: nothing is left. */
  readonly before: number;
}

export interface DomainsAnswer {
  readonly domains: readonly DomainView[];
  readonly total: number;
}

export type { PageRow };
