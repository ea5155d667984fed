// Items pushed outside a visit (`Dataset.pushData`): appended to this process's direct segment.
// Promise: when a push resolves, its lines are in the file; pushes made together share one write.
import { SEGMENT_BYTES } from './visit-segments.js';
import type { SegmentStore, SegmentWriter } from '../store.js';

/** Lines joined into one write: enough to make many small pushes cheap, little enough to copy. */
const MAX_WRITE_CHARS = 1024 * 1024;

export interface DirectItems {
  push(lines: string): Promise<void>;
  /** Writes what is pending and releases the segment; the next push takes one again. */
  close(): Promise<void>;
}

interface Waiting {
  readonly lines: string;
  readonly written: () => void;
  readonly failed: (error: unknown) => void;
}

// The queue is as long as there are callers waiting for their own push.
export function createDirectItems(store: SegmentStore, maxBytes = SEGMENT_BYTES): DirectItems {
  const waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  let segment: SegmentWriter | undefined;

  const write = async (lines: string): Promise<void> => {
    segment ??= await store.openDirect(maxBytes);
    await segment.append(lines);
    if (segment.lengthBytes < maxBytes) return;
    const full = segment;
    segment = undefined;
    await full.close();
  };

  const takeBatch = (): Waiting[] => {
    let chars = 0;
    let count = 0;
    while (count < waiting.length && (count === 0 || chars < MAX_WRITE_CHARS)) {
      chars += (waiting[count++] as Waiting).lines.length;
    }
    return waiting.splice(0, count);
  };

  const writeAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = takeBatch();
      try {
        await write(batch.map(({ lines }) => lines).join(''));
        for (const { written } of batch) written();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    writing = undefined;
  };

  return {
    push: (lines) =>
      new Promise((written, failed) => {
        waiting.push({ lines, written, failed });
        writing ??= writeAll();
      }),
    async close() {
      await writing;
      const open = segment;
      segment = undefined;
      await open?.close();
    },
  };
}
