// What a crawl announces to whoever listens: that state is saved, that it is being ended. Named as Crawlee's events.
// Costs a lookup when nobody listens; listeners are those of src/crawlee/events.ts.

import type { EventType } from '../event-names.js';

export { type EventManagerLike, EventType } from '../event-names.js';

type Hears = (event: EventType, data?: unknown) => void;

const listeners = new WeakMap<object, Hears>();

/** From now on, what is announced for `owner` is heard. */
export function onCrawlEvent(owner: object, hears: Hears): void {
  listeners.set(owner, hears);
}

export function announce(owner: object, event: EventType, data?: unknown): void {
  listeners.get(owner)?.(event, data);
}
