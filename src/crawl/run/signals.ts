// Ctrl-C and SIGTERM during a crawl: the first drains it, the second ends the process at once.
// Either way nothing is lost; only running crawls listen, so other code keeps its own handlers.

export interface SignalWatch {
  close(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** What shells report for a process that ended on Ctrl-C. */
export const INTERRUPTED_EXIT_CODE = 130;

/** Calls `onFirst` on the first signal; the second exits. */
export function watchSignals(onFirst: (signal: NodeJS.Signals) => void): SignalWatch {
  let asked = false;
  const listener = (signal: NodeJS.Signals) => {
    if (asked) process.exit(INTERRUPTED_EXIT_CODE);
    asked = true;
    onFirst(signal);
  };
  for (const signal of SIGNALS) process.on(signal, listener);
  return {
    close() {
      for (const signal of SIGNALS) process.off(signal, listener);
    },
  };
}
