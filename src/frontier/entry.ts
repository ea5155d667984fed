// Turns a request into a frontier entry.
import type { Request } from '../request/request.js';
import { domainOf, type PaceBy } from '../request/url.js';
import type { QueueEntry } from './frontier.js';

export function entryOf(request: Request, forefront = false, paceBy?: PaceBy): QueueEntry {
  return {
    fingerprint: request.fingerprint,
    domain: domainOf(request.target, paceBy),
    record: request.toRecord(),
    priority: request.priority,
    forefront,
  };
}
