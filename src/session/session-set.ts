// The sessions of a pool, unordered, for a random pick.
// Promise: every operation is O(1); ids are unique.
import type { Session } from './session.js';

export interface SessionSet {
  readonly size: number;
  get(id: string): Session | undefined;
  /** False if the id already exists. */
  add(session: Session): boolean;
  remove(session: Session): void;
  pick(): Session | undefined;
  values(): readonly Session[];
}

export function createSessionSet(random: () => number): SessionSet {
  const sessions: Session[] = [];
  const indexes = new Map<string, number>();
  return {
    get size() {
      return sessions.length;
    },
    get: (id) => sessions[indexes.get(id) ?? -1],
    add: (session) => {
      if (indexes.has(session.id)) return false;
      indexes.set(session.id, sessions.length);
      sessions.push(session);
      return true;
    },
    remove: (session) => {
      const index = indexes.get(session.id);
      if (index === undefined) return;
      const last = sessions.pop()!;
      if (last !== session) {
        sessions[index] = last;
        indexes.set(last.id, index);
      }
      indexes.delete(session.id);
    },
    pick: () => sessions[Math.floor(random() * sessions.length)],
    values: () => sessions,
  };
}
