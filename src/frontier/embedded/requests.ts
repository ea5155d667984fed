// A request's path through the tables: accepted once, queued in its domain, waiting for a retry, ended.
// Every step moves exactly one count between counters, so that they always add up.
import type { Presence, QueueEntry } from '../frontier.js';
import { joinLine, placeOf, takePlace } from './domain-queue.js';
import type { Domain } from './domains.js';
import type { Machine } from './machine.js';
import {
  DONE,
  FAILED,
  packRequest,
  QUEUED,
  type RequestRow,
  requestState,
  restateRequest,
  RETRYING,
  SKIPPED,
  unpackRequest,
} from '../tables/packing.js';

/** Marks each entry as seen and queues the new ones. */
export function acceptEntries(machine: Machine, entries: readonly QueueEntry[]): Presence[] {
  return entries.map((entry) => acceptEntry(machine, entry));
}

function acceptEntry(machine: Machine, entry: QueueEntry): Presence {
  const { tables, hot, seen, domains } = machine;
  const { hi, lo } = entry.fingerprint;
  const known = seen.get(hi, lo);
  if (known >= 0) {
    const row = tables.requests.get(0, known);
    return row && requestState(row) >= DONE ? 'ended' : 'pending';
  }
  const id = hot.nextRequest++;
  seen.add(hi, lo, id);
  const domain = domains.named(entry.domain);
  const priority = entry.priority ?? 0;
  const request: RequestRow = {
    state: QUEUED,
    priority,
    lostLeases: 0,
    trial: 0,
    domain: domain.id,
    hi,
    lo,
    reason: '',
    record: entry.record,
  };
  tables.requests.put(0, id, packRequest(request));
  enter(machine, domain, true);
  if (priority === 0 && !entry.forefront) joinLine(machine, domain, id);
  else takePlace(machine, domain, id, placeOf(priority, entry.forefront ? -hot.nextFront++ : hot.nextBack++));
  domains.requestAccepted(domain);
  hot.accepted++;
  return 'new';
}

/** `isFresh`: the domain's wait starts now if it had nothing queued; otherwise it keeps its place among domains. */
export function enter(machine: Machine, domain: Domain, isFresh: boolean): void {
  if (isFresh && domain.queued === 0) domain.readyMs = machine.nowMs;
  machine.hot.queued++;
  machine.domains.mark(domain);
}

/** To the front of its priority in its domain. */
export function queueInFront(machine: Machine, id: number, request: RequestRow): void {
  const domain = machine.domains.byId(request.domain);
  enter(machine, domain, true);
  takePlace(machine, domain, id, placeOf(request.priority, -machine.hot.nextFront++));
}

/** To the end of its priority in its domain. */
export function queueLast(machine: Machine, id: number, request: RequestRow): void {
  const domain = machine.domains.byId(request.domain);
  enter(machine, domain, true);
  if (request.priority === 0) joinLine(machine, domain, id);
  else takePlace(machine, domain, id, placeOf(request.priority, machine.hot.nextBack++));
}

/** Back to its old place, as if it had never left. */
export function queueBack(machine: Machine, domain: Domain, id: number, place: number): void {
  enter(machine, domain, false);
  takePlace(machine, domain, id, place);
}

export function readRequest(machine: Machine, id: number): RequestRow {
  const row = machine.tables.requests.get(0, id);
  if (!row) throw new Error(`the queue refers to request ${id}, which it does not contain`);
  return unpackRequest(row);
}

export function writeRequest(machine: Machine, id: number, request: RequestRow): void {
  machine.tables.requests.put(0, id, packRequest(request));
}

/** Out of the queue until `afterMs` from now; then at the front of its domain, or at its end. */
export function wait(machine: Machine, id: number, request: RequestRow, afterMs: number, toEnd = false): void {
  request.state = RETRYING;
  writeRequest(machine, id, request);
  machine.tables.waiting.put(machine.nowMs + afterMs, id, toEnd ? TO_END : TO_FRONT);
  machine.hot.retrying++;
}

const TO_FRONT = Buffer.from([0]);
const TO_END = Buffer.from([1]);

// Keeps a lease call short when very many retries are due at once; the next call continues.
const MAX_RETURNS = 1_000;

/** Queues the requests whose wait is over. */
export function returnFromWaiting(machine: Machine): void {
  const { tables, hot, nowMs } = machine;
  if (hot.retrying === 0) return;
  const over: { atMs: number; id: number; toEnd: boolean }[] = [];
  tables.waiting.scan(0, 0, nowMs, (atMs, id, row) => {
    over.push({ atMs, id, toEnd: row[0] === TO_END[0] });
    return over.length < MAX_RETURNS;
  });
  // Each goes to the very front, so the one that waited longest goes last.
  for (const { atMs, id, toEnd } of over.reverse()) {
    tables.waiting.remove(atMs, id);
    const request = readRequest(machine, id);
    request.state = QUEUED;
    writeRequest(machine, id, request);
    hot.retrying--;
    if (toEnd) queueLast(machine, id, request);
    else queueInFront(machine, id, request);
  }
}

const COUNTER = { [DONE]: 'done', [FAILED]: 'failed', [SKIPPED]: 'skipped' } as const;

export type EndState = keyof typeof COUNTER;

/** Ends a request that is no longer held. Its record stays for `find`, unless the queue forgets. */
export function endRequest(machine: Machine, id: number, state: EndState, reason: string, record?: string): void {
  if (machine.forgetful) {
    const { hi, lo, domain } = readRequest(machine, id);
    machine.forgetful.remove(hi, lo);
    machine.domains.requestEnded(domain);
    machine.tables.requests.remove(0, id);
    machine.hot[COUNTER[state]]++;
    return;
  }
  if (reason === '' && record === undefined) {
    const row = machine.tables.requests.get(0, id);
    if (!row) throw new Error(`the queue refers to request ${id}, which it does not contain`);
    machine.tables.requests.put(0, id, restateRequest(row, state));
  } else {
    const request = readRequest(machine, id);
    request.state = state;
    request.reason = reason;
    if (record !== undefined) request.record = record;
    writeRequest(machine, id, request);
  }
  machine.hot[COUNTER[state]]++;
}
