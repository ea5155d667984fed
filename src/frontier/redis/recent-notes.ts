// This process's recent notes, each with its first text, to repeat them if the server forgets them.
// A note names a file and its acknowledged length: a file without a note would never be cut.
import { RECENT_MS } from './recent-adds.js';

export interface RecentNotes {
  keep(notes: Readonly<Record<string, string | null>>): void;
  /** Names and first texts, alternating. */
  all(): string[];
}

/** Links for unreachable pods are found again with their visit. */
const OUTBOX = 'outbox/';
const MAX_NOTES = 10_000;

export function createRecentNotes(nowMs: () => number = () => performance.now()): RecentNotes {
  const first = new Map<string, { readonly text: string; readonly atMs: number }>();
  return {
    keep(notes) {
      for (const [name, text] of Object.entries(notes)) {
        if (name.startsWith(OUTBOX)) continue;
        if (text === null) first.delete(name);
        else if (!first.has(name) && first.size < MAX_NOTES) first.set(name, { text, atMs: nowMs() });
      }
    },
    all() {
      const sinceMs = nowMs() - RECENT_MS;
      return [...first].flatMap(([name, { text, atMs }]) => (atMs < sinceMs ? [] : [name, text]));
    },
  };
}
