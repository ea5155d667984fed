// A page that was visited for the first time.
import type { Hash64, RememberedPage } from './page-row.js';

export const NO_HASH: Hash64 = Object.freeze({ hi: 0, lo: 0 });

/** A page that is known by name only since now (`changedAt`), to be visited as soon as may be. */
export function foundPage(nowSecs: number, depth: number): RememberedPage {
  const nextVisitAt = Math.max(1, nowSecs);
  return { ...newPage(0, 0), visits: 0, changedAt: nowSecs, depth, nextVisitAt, found: 'same' };
}

export function newPage(visitedAt: number, statusCode: number): RememberedPage {
  return {
    visitedAt,
    changedAt: visitedAt,
    nextVisitAt: 0,
    statusCode,
    depth: 0,
    bodyHash: NO_HASH,
    contentHash: NO_HASH,
    simhash: NO_HASH,
    visits: 1,
    changes: 0,
    shape: 0,
    scaleSecs: 0,
    importance: 1,
    run: 0,
    hashIsOfText: false,
    confirmedBy304: 0,
    found: 'new',
  };
}
