// The last add calls of this process, kept to be made again if the server forgets them in a crash.
// Bounded in number and bytes: what `appendfsync everysec` can lose is two seconds of calls.
import type { EntryCall } from './packing.js';

export interface RecentAdds {
  keep(call: EntryCall): void;
  /** Those kept, oldest first; the keeping goes on. */
  all(): readonly EntryCall[];
}

const MAX_CALLS = 256;
const MAX_BYTES = 8_000_000;

export function createRecentAdds(): RecentAdds {
  const calls: EntryCall[] = [];
  let bytes = 0;
  return {
    keep(call) {
      calls.push(call);
      bytes += call.entries.length;
      while (calls.length > MAX_CALLS || (bytes > MAX_BYTES && calls.length > 1)) {
        bytes -= calls.shift()!.entries.length;
      }
    },
    all: () => [...calls],
  };
}
