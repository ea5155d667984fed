// From a request to what the frontier queues.
import type { Request } from '../request/request.js';
import { domainOf } from '../request/url.js';
import type { QueueEntry } from './frontier.js';

/** @param fingerprint the request's, where the caller has worked it out already */
export function entryOf(request: Request, forefront = false, fingerprint = request.fingerprint): QueueEntry {
  return {
    fingerprint,
    domain: domainOf(request.url),
    record: request.toRecord(),
    priority: request.priority,
    forefront,
  };
}
