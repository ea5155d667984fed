// Which session a visit in a browser gets. Every session has its own context, and a context costs as much as several
// pages: so a session takes several visits at once before another is started. With proxies, visits are spread instead.
import type { Session } from '../../session/session.js';
import type { SessionPool } from '../../session/session-pool.js';

/** A context has 32 sockets to its proxy: about what this many pages use. */
const VISITS_PER_SESSION = 8;

export interface BrowserIdentities {
  getSession(id?: string): Promise<Session | undefined>;
  /** The visit of a session ended. */
  release(session: Session): void;
}

export function createBrowserIdentities(pool: SessionPool, isSpread: boolean): BrowserIdentities {
  /** Visits under way, by session. */
  const busy = new Map<Session, number>();
  const count = (session: Session, by: number) => void busy.set(session, (busy.get(session) ?? 0) + by);

  return {
    async getSession(id) {
      let chosen: Session | undefined;
      if (id !== undefined) chosen = await pool.getSession(id);
      else if (!isSpread) {
        for (const [session, visits] of busy) {
          if (!session.isUsable()) {
            if (visits === 0) busy.delete(session);
          } else if (visits < VISITS_PER_SESSION && !chosen) chosen = session;
        }
      }
      if (!chosen && id === undefined) chosen = await pool.getSession();
      if (chosen) count(chosen, 1);
      return chosen;
    },
    release(session) {
      count(session, -1);
      if (isSpread && busy.get(session) === 0) busy.delete(session);
    },
  };
}
