// How full the pool was between two checks, so that scaling does not depend on the moment of the check.
// Promise: exact integral of running tasks over time, O(1) per change.

export interface Usage {
  /** Call before the number of running tasks changes, with the old number. */
  advance(running: number): void;
  /** Returns the mean number of running tasks since its last call; takes the current number. */
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
