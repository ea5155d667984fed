// URLs of a batch waiting for their browser session: one at a time goes to the queue, in the order of the list.
// Promise: a session with many URLs blocks no other, and waiting takes no slots.
import type { Request } from '../../request/request.js';

export interface SessionQueues {
  /** Whether the request may be queued now; if not it waits for `ended`. Requests without a session always may. */
  mayGo(sessionId: string | undefined, request: Request): boolean;
  /** A URL of the session has its result: the one that may go next. */
  ended(sessionId: string | undefined): Request | undefined;
  /** How many wait, at most `limit`. */
  readonly waiting: number;
}

export function createSessionQueues(limit: number): SessionQueues {
  /** Those with a URL under way, and what waits behind it. */
  const sessions = new Map<string, Request[]>();
  let waiting = 0;
  return {
    mayGo(sessionId, request) {
      if (sessionId === undefined) return true;
      const line = sessions.get(sessionId);
      if (!line) {
        sessions.set(sessionId, []);
        return true;
      }
      line.push(request);
      waiting++;
      return false;
    },
    ended(sessionId) {
      if (sessionId === undefined) return undefined;
      const next = sessions.get(sessionId)?.shift();
      if (next) waiting--;
      else sessions.delete(sessionId);
      return next;
    },
    get waiting() {
      return Math.min(waiting, limit);
    },
  };
}
