// Delivers the stored changes of a watch to one reader: in order, at least once, across restarts.
// Promise: a change is handed on only when it is stored for good, and the next one only when it was taken. Each reader has
// an outbox of its own, so one that takes nothing does not hold up another. Only a number is kept of what is to come.
import type { Dataset } from '../../store/dataset/dataset.js';
import type { KeyValueStore } from '../../store/records/key-value.js';
import type { Time } from '../time.js';
import type { ChangeItem } from './watch.js';

export interface OutboxParts {
  /** Where it is kept how far the reader is. */
  readonly key: string;
  readonly dataset: () => Promise<Dataset>;
  readonly state: () => Promise<KeyValueStore>;
  readonly time: Time;
  /** How many changes are stored for good. */
  readonly stored: () => number;
  /** Takes one; rejects to get it again later. */
  readonly take: (item: ChangeItem) => Promise<void>;
  readonly onTrouble: (error: Error, againMs: number) => void;
  /** How long the end may wait for the reader; the next start goes on. Default: until all is taken. */
  readonly closeMs?: number;
}

export interface Outbox {
  /** Hands on what is stored by now, if it is taken. */
  close(): Promise<void>;
}

const LOOK_MS = 500;
const PORTION = 100;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;

export function startOutbox(parts: OutboxParts): Outbox {
  const { time, key } = parts;
  let endsAtMs = Infinity;
  let handed: number | undefined;
  let pauseMs = 0;
  let notBeforeMs = 0;
  let working: Promise<void> | undefined;

  async function handOn(): Promise<void> {
    const state = await parts.state();
    handed ??= (await state.getValue<{ handed: number }>(key))?.handed ?? 0;
    while (handed < parts.stored()) {
      const limit = Math.min(PORTION, parts.stored() - handed);
      const { items } = await (await parts.dataset()).getData({ offset: handed, limit });
      if (items.length === 0) return;
      for (const item of items) {
        if (time.monotonicMs() > endsAtMs) return;
        await parts.take(item as ChangeItem);
        handed++;
        await state.setValue(key, { handed });
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
      endsAtMs = time.monotonicMs() + (parts.closeMs ?? Infinity);
      await working;
      notBeforeMs = 0;
      look();
      await working;
    },
  };
}
