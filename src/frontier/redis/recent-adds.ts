// The last add calls of this process, kept to repeat them if the server forgets them in a crash.
// Bounded in time and bytes: `appendfsync everysec` can lose two seconds of calls, and five times that is kept.
import type { EntryCall } from './packing.js';

export const RECENT_MS = 10_000;

export interface RecentAdds {
  keep(call: EntryCall): void;
  /** The kept calls, oldest first, without their leases: these may be lost. They stay kept. */
  all(): readonly EntryCall[];
  /** How far back calls are complete, in milliseconds: less than `RECENT_MS` if bytes were the limit. */
  readonly completeMs: number;
}

const MAX_BYTES = 64_000_000;
const NOBODY = Buffer.alloc(0);

export function createRecentAdds(
  options: { readonly nowMs?: () => number; readonly maxBytes?: number } = {},
): RecentAdds {
  const { nowMs = () => performance.now(), maxBytes = MAX_BYTES } = options;
  let calls: { readonly atMs: number; readonly call: EntryCall }[] = [];
  let first = 0;
  let bytes = 0;
  let droppedAtMs = -Infinity;

  function dropFirst(): void {
    bytes -= calls[first++]!.call.entries.length;
    // Moved rarely: each call is copied less than once on average.
    if (first * 2 < calls.length) return;
    calls = calls.slice(first);
    first = 0;
  }

  return {
    keep(call) {
      const now = nowMs();
      calls.push({ atMs: now, call });
      bytes += call.entries.length;
      while (calls.length - first > 1 && now - calls[first]!.atMs > RECENT_MS) dropFirst();
      while (calls.length - first > 1 && bytes > maxBytes) {
        droppedAtMs = calls[first]!.atMs;
        dropFirst();
      }
    },
    all: () => calls.slice(first).map(({ call }) => ({ ...call, leases: NOBODY, entries: ofNobody(call.entries) })),
    get completeMs() {
      return Math.min(RECENT_MS, nowMs() - droppedAtMs);
    },
  };
}

/** The same entries without leases; see lua/add.lua. */
function ofNobody(entries: Buffer): Buffer {
  const copy = Buffer.from(entries);
  for (let at = 0; at < copy.length;) {
    copy.writeUInt16LE(0, at);
    at += 11 + copy[at + 6]! + copy.readUInt32LE(at + 7);
  }
  return copy;
}
