// Failed and skipped requests: listed for people; failed ones queued again.
// Promise: only a request that has failed is queued again, so doing it twice changes nothing; counters add up.
import type { QueueEntry } from '../frontier.js';
import { FAILED, QUEUED, requestState, SKIPPED, unpackRequest } from '../tables/packing.js';
import type { Machine } from './machine.js';
import { queueLast, readRequest, writeRequest } from './requests.js';

export interface FailedRequests {
  readonly requests: readonly { readonly record: string; readonly reason: string; readonly isSkipped?: true }[];
  /** Where to go on; undefined if that was all. */
  readonly next: number | undefined;
}

/** Rows looked at per call: keeps transactions short in a queue of millions. */
const ROWS_A_CALL = 20_000;

export function failedRequests(
  { tables, hot }: Machine,
  from: number,
  most: number,
  withSkipped = false,
): FailedRequests {
  const requests: { record: string; reason: string; isSkipped?: true }[] = [];
  let id = Math.max(1, from);
  for (const end = Math.min(hot.nextRequest, id + ROWS_A_CALL); id < end && requests.length < most; id++) {
    const row = tables.requests.get(0, id);
    const state = row && requestState(row);
    if (state !== FAILED && !(withSkipped && state === SKIPPED)) continue;
    const { record, reason } = unpackRequest(row!);
    requests.push({ record, reason, ...(state === SKIPPED && { isSkipped: true }) });
  }
  return { requests, next: id < hot.nextRequest ? id : undefined };
}

/** Each to the end of its domain's queue, with the record given. Returns how many had failed. */
export function requeueFailed(machine: Machine, entries: readonly QueueEntry[]): number {
  let count = 0;
  for (const { fingerprint, record } of entries) {
    const id = machine.seen.get(fingerprint.hi, fingerprint.lo);
    if (id < 0) continue;
    const request = readRequest(machine, id);
    if (request.state !== FAILED) continue;
    Object.assign(request, { state: QUEUED, reason: '', record, trial: 0, lostLeases: 0 });
    writeRequest(machine, id, request);
    machine.hot.failed--;
    queueLast(machine, id, request);
    count++;
  }
  return count;
}
