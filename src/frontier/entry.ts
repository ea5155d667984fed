// From a request to what the frontier queues.
import type { Request } from '../request/request.js';
import { domainOf } from '../request/url.js';
import type { QueueEntry } from './frontier.js';

export function entryOf(request: Request, forefront = false): QueueEntry {
  return {
    fingerprint: request.fingerprint,
    domain: domainOf(request.url),
    record: request.toRecord(),
    priority: request.priority,
    forefront,
  };
}
