// Outcomes of one job on their way into the store: those that come while others are written go together in one step.
// Promise: put() resolves when its outcome is kept; close() when all are. No more wait than there are pages under way.
import type { JobStore, Outcome } from './store.js';

export interface OutcomeWriter {
  put(outcome: Outcome): Promise<void>;
  close(): Promise<void>;
}

const MAX_TOGETHER = 200;

export function createOutcomeWriter(
  store: JobStore,
  id: string,
  onKept: (outcomes: readonly Outcome[]) => void,
): OutcomeWriter {
  const waiting: { outcome: Outcome; resolve: () => void; reject: (error: unknown) => void }[] = [];
  let writing: Promise<void> | undefined;

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const now = waiting.splice(0, MAX_TOGETHER);
      try {
        const outcomes = now.map(({ outcome }) => outcome);
        await store.pages.put(id, outcomes);
        for (const { resolve } of now) resolve();
        onKept(outcomes);
      } catch (error) {
        for (const { reject } of now) reject(error);
      }
    }
    writing = undefined;
  }

  return {
    put: (outcome) =>
      new Promise((resolve, reject) => {
        waiting.push({ outcome, resolve, reject });
        writing ??= Promise.resolve().then(write);
      }),
    async close() {
      while (writing) await writing;
    },
  };
}
