// The queue of one domain: a line for requests of ordinary priority in order of age, and places for the rest.
// The two ends of the line are in the domain's row and its middle in blocks, so that a call that touches a thousand
// domains dirties a hundred pages instead of a thousand (docs/decisions/002-embedded-frontier.md).
import type { Priority } from '../../request/request.js';
import type { Domain } from './domains.js';
import type { Machine } from './machine.js';
import { BLOCK_IDS, packIds, packNumber, unpackIds, unpackNumber } from '../tables/packing.js';

// A place orders the requests beside the line: higher priority first, then forefront (last in, first out), then age.
const ORDERS_PER_PRIORITY = 2 ** 45;
const MIDDLE = 2 ** 44;
/** Places of priority 0 and above are served before the line: what left the line is older than what is in it. */
const FIRST_BEHIND = 3 * ORDERS_PER_PRIORITY;

/** Suspects are served first: their places are below all others. */
export const SUSPECT_PLACES = 2 ** 43;

/** `order` is negative and falling at the front, positive and growing at the end. */
export function placeOf(priority: Priority, order: number): number {
  return (2 - priority) * ORDERS_PER_PRIORITY + MIDDLE + order;
}

/**
 * The place of a request that leaves the line and may be returned untouched: behind all that left before it. Not its
 * id, which does not say when it joined the line. Above every id, which earlier releases used instead.
 */
function placeOfNextInLine({ hot }: Machine): number {
  hot.nextBack = Math.max(hot.nextBack, hot.nextRequest);
  return placeOf(0, hot.nextBack++);
}

export interface Taken {
  readonly request: number;
  readonly place: number;
}

/** At the end of the line. */
export function joinLine(machine: Machine, domain: Domain, request: number): void {
  domain.queued++;
  if (domain.tail.length === BLOCK_IDS) {
    machine.tables.blocks.put(domain.id, domain.nextBlock++, packIds(domain.tail));
    domain.tail = [];
  }
  domain.tail.push(request);
}

/** At its own place. */
export function takePlace(machine: Machine, domain: Domain, request: number, place: number): void {
  domain.queued++;
  if (place < FIRST_BEHIND) domain.ahead++;
  else domain.behind++;
  if (place < SUSPECT_PLACES) domain.suspects++;
  machine.tables.places.put(domain.id, place, packNumber(request));
}

/** Removes the first `count` requests from the queue. The caller has already subtracted them from `queued`. */
export function takeFront(machine: Machine, domain: Domain, count: number): Taken[] {
  const taken: Taken[] = [];
  if (domain.ahead > 0) {
    takePlaces(machine, domain, Math.min(count, domain.ahead), taken);
    domain.ahead -= taken.length;
  }
  while (taken.length < count) {
    const request = leaveLine(machine, domain);
    if (request === undefined) break;
    taken.push({ request, place: placeOfNextInLine(machine) });
  }
  if (taken.length < count) {
    const before = taken.length;
    takePlaces(machine, domain, count - before, taken);
    domain.behind -= taken.length - before;
  }
  if (taken.length < count) throw new Error(`the queue of ${domain.name} holds fewer requests than it counts`);
  return taken;
}

function leaveLine(machine: Machine, domain: Domain): number | undefined {
  if (domain.head.length > 0) return domain.head.shift();
  if (domain.firstBlock < domain.nextBlock) {
    const block = machine.tables.blocks.get(domain.id, domain.firstBlock);
    if (!block) throw new Error(`the queue of ${domain.name} lacks a block`);
    domain.head = unpackIds(block);
    machine.tables.blocks.remove(domain.id, domain.firstBlock++);
  } else {
    domain.head = domain.tail;
    domain.tail = [];
  }
  return domain.head.shift();
}

function takePlaces(machine: Machine, domain: Domain, count: number, into: Taken[]): void {
  const { places } = machine.tables;
  const found: Taken[] = [];
  places.scan(domain.id, 0, domain.id, (_domain, place, row) => {
    found.push({ request: unpackNumber(row), place });
    return found.length < count;
  });
  for (const taken of found) {
    places.remove(domain.id, taken.place);
    into.push(taken);
  }
}
