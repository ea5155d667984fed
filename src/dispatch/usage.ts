// How full the pool was between two looks, so that scaling does not hang on the instant of the look.
// Promise: exact integral of the running tasks over time, O(1) a change.

export interface Usage {
  /** To be called before the number of running tasks changes, with the number until now. */
  advance(running: number): void;
  /** A meter gives the mean number of running tasks since its last call; it is told the number now. */
  meter(): (running: number) => number;
}

export function createUsage(clock: () => number): Usage {
  let taskMs = 0;
  let atMs = clock();
  const advance = (running: number) => {
    const now = clock();
    taskMs += running * (now - atMs);
    atMs = now;
  };
  return {
    advance,
    meter: () => {
      let fromTaskMs = taskMs;
      let fromMs = clock();
      return (running) => {
        advance(running);
        const mean = atMs > fromMs ? (taskMs - fromTaskMs) / (atMs - fromMs) : running;
        fromTaskMs = taskMs;
        fromMs = atMs;
        return mean;
      };
    },
  };
}
