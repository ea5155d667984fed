// Delivers the stored changes of a watch: in order, at least once, across restarts.
// Promise: a change is handed on only when it is stored for good, and the next one only when it was taken.
import type { Dataset } from '../../store/dataset/dataset.js';
import type { KeyValueStore } from '../../store/records/key-value.js';
import type { Time } from '../time.js';
import type { ChangeItem } from './watch.js';

export interface OutboxParts {
  readonly dataset: () => Promise<Dataset>;
  readonly state: () => Promise<KeyValueStore>;
  readonly time: Time;
  /** How many changes are stored for good. */
  readonly stored: () => number;
  /** Takes one; rejects to get it again later. */
  readonly take: (item: ChangeItem) => Promise<void>;
  readonly onTrouble: (error: Error, againMs: number) => void;
}

export interface Outbox {
  /** Hands on what is stored by now, if it is taken. */
  close(): Promise<void>;
}

const KEY = 'WATCH_OUTBOX';
const LOOK_MS = 500;
const PORTION = 100;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;

export function startOutbox(parts: OutboxParts): Outbox {
  const { time } = parts;
  let handed: number | undefined;
  let pauseMs = 0;
  let notBeforeMs = 0;
  let working: Promise<void> | undefined;

  async function handOn(): Promise<void> {
    const state = await parts.state();
    handed ??= (await state.getValue<{ handed: number }>(KEY))?.handed ?? 0;
    while (handed < parts.stored()) {
      const limit = Math.min(PORTION, parts.stored() - handed);
      const { items } = await (await parts.dataset()).getData({ offset: handed, limit });
      if (items.length === 0) return;
      for (const item of items) {
        await parts.take(item as ChangeItem);
        handed++;
        await state.setValue(KEY, { handed });
      }
    }
  }

  function look(): void {
    if (working || time.monotonicMs() < notBeforeMs) return;
    working = handOn()
      .then(() => {
        pauseMs = 0;
      })
      .catch((error: unknown) => {
        pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, pauseMs * 2));
        notBeforeMs = time.monotonicMs() + pauseMs;
        parts.onTrouble(error as Error, pauseMs);
      })
      .finally(() => (working = undefined));
  }

  const end = time.every(LOOK_MS, look);
  return {
    async close() {
      end();
      await working;
      notBeforeMs = 0;
      look();
      await working;
    },
  };
}
