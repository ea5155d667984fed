// A request's way through the tables: accepted once, queued in its domain, waiting for a retry, ended.
// Every step here moves exactly one count from one counter to another, so that they always add up.
import type { Presence, QueueEntry } from './frontier.js';
import type { Domain } from './domains.js';
import type { Machine } from './machine.js';
import {
  DONE,
  FAILED,
  packNumber,
  packRequest,
  placeOf,
  QUEUED,
  type RequestRow,
  requestState,
  restateRequest,
  RETRYING,
  SKIPPED,
  unpackRequest,
} from './packing.js';

/** Marks each entry seen and queues the new ones. */
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
    domain: domain.id,
    hi,
    lo,
    reason: '',
    record: entry.record,
  };
  tables.requests.put(0, id, packRequest(request));
  const order = entry.forefront ? -hot.nextFront++ : hot.nextBack++;
  enqueue(machine, domain, id, placeOf(priority, order), true);
  hot.accepted++;
  return 'new';
}

/** `isFresh`: the domain's wait begins now if it had nothing queued; otherwise it keeps its place in the row. */
function enqueue(machine: Machine, domain: Domain, id: number, place: number, isFresh: boolean): void {
  machine.tables.queue.put(domain.id, place, packNumber(id));
  if (domain.queued === 0) {
    if (isFresh) domain.readyMs = machine.nowMs;
    domain.head = place;
  } else if (place < domain.head) {
    domain.head = place;
  }
  domain.queued++;
  machine.hot.queued++;
  machine.domains.mark(domain);
}

/** To the front of its priority in its domain. */
export function queueInFront(machine: Machine, id: number, request: RequestRow): void {
  const domain = machine.domains.byId(request.domain);
  enqueue(machine, domain, id, placeOf(request.priority, -machine.hot.nextFront++), true);
}

/** Back to where it was, as if it had never left. */
export function queueBack(machine: Machine, domain: Domain, id: number, place: number): void {
  enqueue(machine, domain, id, place, false);
}

export function readRequest(machine: Machine, id: number): RequestRow {
  const row = machine.tables.requests.get(0, id);
  if (!row) throw new Error(`the queue refers to request ${id}, which it does not contain`);
  return unpackRequest(row);
}

export function writeRequest(machine: Machine, id: number, request: RequestRow): void {
  machine.tables.requests.put(0, id, packRequest(request));
}

/** Out of the queue until `afterMs` from now; then at the front of its domain. */
export function wait(machine: Machine, id: number, request: RequestRow, afterMs: number): void {
  request.state = RETRYING;
  writeRequest(machine, id, request);
  machine.tables.waiting.put(machine.nowMs + afterMs, id, NOTHING);
  machine.hot.retrying++;
}

const NOTHING = Buffer.alloc(1);

// So that a lease call stays short when very many retries fall due at once; the next call goes on.
const MAX_RETURNS = 1_000;

/** Queues the requests whose wait is over. */
export function returnFromWaiting(machine: Machine): void {
  const { tables, hot, nowMs } = machine;
  if (hot.retrying === 0) return;
  const over: { atMs: number; id: number }[] = [];
  tables.waiting.scan(0, 0, nowMs, (atMs, id) => {
    over.push({ atMs, id });
    return over.length < MAX_RETURNS;
  });
  // Each goes to the very front, so the one that waited longest goes last.
  for (const { atMs, id } of over.reverse()) {
    tables.waiting.remove(atMs, id);
    const request = readRequest(machine, id);
    request.state = QUEUED;
    writeRequest(machine, id, request);
    hot.retrying--;
    queueInFront(machine, id, request);
  }
}

const COUNTER = { [DONE]: 'done', [FAILED]: 'failed', [SKIPPED]: 'skipped' } as const;

export type EndState = keyof typeof COUNTER;

/** The end of a request that nobody holds any more. Its record stays, to be found. */
export function endRequest(machine: Machine, id: number, state: EndState, reason: string, record?: string): void {
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
