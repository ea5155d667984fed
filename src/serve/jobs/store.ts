// PORT. Jobs, their results and the events that are due to their webhooks, kept for all servers that share them.
// Promise: what a call resolved is there after `kill -9`; a page that is put twice under one key is one result.
import { createHash } from 'node:crypto';
import type { WebhookWish } from '../api/schemas.js';
import type { CheckSummary, Monitor } from '../monitor/monitor.js';
import type { JobRows, PageFacts } from './rows.js';

export type JobKind = 'crawl' | 'batch' | 'extract' | 'check';
export type JobStatus = 'scraping' | 'completed' | 'failed' | 'cancelled';

/** How far the webhook of a job has come. */
export interface Delivery {
  /** Events before this number were delivered, or given up after the last retry. */
  readonly next: number;
  /** Failed tries of the event that is due. */
  readonly tries: number;
  /** Not before this time. */
  readonly dueAtMs: number;
}

export interface Job {
  readonly id: string;
  readonly kind: JobKind;
  /** The name of the token that started it. */
  readonly owner: string;
  readonly url: string;
  readonly status: JobStatus;
  readonly createdAtMs: number;
  readonly endedAtMs?: number;
  /** Why it failed, or why it does not go on now. */
  readonly reason?: string;
  /** The checked body. */
  readonly request: unknown;
  readonly webhook?: Exclude<WebhookWish, string>;
  readonly webhookId?: string;
  readonly delivery?: Delivery;
  /** Pages known of so far. */
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  readonly events: number;
  /** Bytes of all results. */
  readonly bytes: number;
  /** Entries of its list: URLs of a batch, targets of a check. */
  readonly urls: number;
  /** Outcomes of all kinds. */
  readonly rows: number;
  /** What a check of a monitor found. */
  readonly summary?: CheckSummary;
  /** Pages that its token was charged for so far. */
  readonly charged?: number;
}

export type NewJob = Pick<Job, 'kind' | 'owner' | 'url' | 'request' | 'webhook' | 'charged'> & { readonly id: string };

/** What became of one page: its document, why it failed, or that robots.txt forbids it. */
export type Outcome = { readonly key: string; readonly facts?: PageFacts } & (
  | { readonly kind: 'document'; readonly document: string; readonly url?: string }
  | { readonly kind: 'error'; readonly error: JobError }
  | { readonly kind: 'robots'; readonly url: string }
);

export interface JobError {
  readonly id: string;
  readonly timestamp: string;
  readonly url: string;
  readonly code: string;
  readonly error: string;
}

export type EventType = 'started' | 'page' | 'completed' | 'failed';
/** An event of a job; that of a page names its result. */
export interface JobEvent {
  readonly type: EventType;
  readonly result?: number;
  readonly error?: string;
}

export interface ResultPage {
  /** Each a document as JSON. */
  readonly documents: readonly string[];
  /** Where the next page begins; undefined at the end of what there is. */
  readonly next: number | undefined;
}

export interface JobStore {
  /** Keeps a job and its list. With a key that was used before, the earlier job is the answer and nothing changes. */
  create(job: NewJob, urls?: readonly string[], idempotencyKey?: string): Promise<Job>;
  read(id: string): Promise<Job | undefined>;
  /** All jobs, the oldest first. */
  list(): Promise<Job[]>;
  /** Changes a job in one step; `undefined` leaves it as it is. Resolves to what it is then. */
  change(id: string, change: (job: Job) => Partial<Job> | undefined): Promise<Job | undefined>;
  /** Ends a job that is still running, with its last event. False when it had ended already. */
  end(id: string, status: Exclude<JobStatus, 'scraping'>, reason?: string): Promise<boolean>;
  remove(id: string): Promise<void>;
  readonly pages: JobPages;
  readonly rows: JobRows;
  readonly values: KeptValues;
  readonly monitors: MonitorRows;
  close(): Promise<void>;
}

export interface JobPages {
  /** Keeps outcomes together with their events; those whose key is there already change nothing. */
  put(id: string, outcomes: readonly Outcome[]): Promise<void>;
  /** Results in the order in which they came. */
  results(id: string, from: number, limits: { maxItems: number; maxBytes: number }): Promise<ResultPage>;
  errors(id: string): Promise<{ errors: JobError[]; robotsBlocked: string[] }>;
  /** Adds URLs to a batch that runs. False when it has ended. */
  append(id: string, urls: readonly string[]): Promise<boolean>;
  /** URLs of a batch that have no outcome yet, from a place on. */
  pending(id: string, from: number, max: number): Promise<{ urls: { index: number; url: string }[]; next: number }>;
  event(id: string, number: number): Promise<JobEvent | undefined>;
}

/** Values under names: the last version of a page, pages of a token and day, and the like. Each call is one step. */
export interface KeptValues {
  /** Keeps a value, and gives the one before it. */
  swap(name: string, value: string): Promise<string | undefined>;
  peek(name: string): Promise<string | undefined>;
  /** Adds to a number, which is 0 at first. Resolves to the sum. */
  add(name: string, by: number): Promise<number>;
}

/** The monitors of all tokens. */
export interface MonitorRows {
  read(id: string): Promise<Monitor | undefined>;
  /** The oldest first. */
  list(): Promise<Monitor[]>;
  /** Makes or changes one in one step; `undefined` leaves it as it is. Resolves to what it is then. */
  change(id: string, change: (before: Monitor | undefined) => Monitor | undefined): Promise<Monitor | undefined>;
  /** False when there was none. */
  remove(id: string): Promise<boolean>;
}

/** The key of a batch's URL: its place in the list. */
export const batchKey = (index: number): string => `#${index}`;

/** Names and keys are of any length; keys of a store should be short. */
export const hashed = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** The names of the queues that belong to a job: a check has one per target. */
export const queuesOf = ({ id, kind, urls }: Pick<Job, 'id' | 'kind' | 'urls'>): string[] =>
  kind === 'crawl' ? [id] : kind === 'check' ? Array.from({ length: urls }, (_, index) => `${id}-${index}`) : [];

/** A job as it begins. */
export function newJob(given: NewJob, urls: number, nowMs: number, webhookId: string): Job {
  return {
    ...given,
    status: 'scraping',
    createdAtMs: nowMs,
    total: given.kind === 'batch' ? urls : 0,
    completed: 0,
    failed: 0,
    events: 0,
    bytes: 0,
    urls,
    rows: 0,
    ...(given.webhook && { webhookId, delivery: { next: 0, tries: 0, dueAtMs: 0 } }),
  };
}

/** What an outcome counts for in the bytes of its job. */
export const bytesOf = (outcome: Outcome): number =>
  outcome.kind === 'document' ? Buffer.byteLength(outcome.document) : 200;

/** What an outcome adds to the counters of its job. */
export function counted(before: Job, outcome: Outcome): Job {
  const job = { ...before, rows: before.rows + 1, bytes: before.bytes + bytesOf(outcome) };
  switch (outcome.kind) {
    case 'document':
      return { ...job, completed: job.completed + 1 };
    case 'error':
      return { ...job, failed: job.failed + 1 };
    case 'robots':
      return job;
    default:
      return outcome satisfies never;
  }
}

/** Whether the webhook of a job wants an event. */
export function wants(job: Job, type: EventType): boolean {
  return job.webhook !== undefined && (job.webhook.events?.includes(type) ?? true);
}
