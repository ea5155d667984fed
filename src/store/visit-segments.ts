// The segments that hold the items of transactional visits; visit-recovery.ts repairs them after a crash.
// Promise (guarantee 2): cut back to the length the queue noted, an item is there exactly if its visit was acknowledged.
import { killPoint } from '../base/kill-points.js';
import type { SegmentWriter } from './store.js';

/** A segment that grew to this is closed and another one begun. */
export const SEGMENT_BYTES = 64 * 1024 * 1024;

/** What the note keys of all visit segments begin with. */
export const VISIT_KEY_PREFIX = 'dataset/';

/**
 * Writes the items of acknowledged visits. Its owner, in this order: notes `key → 0` in the queue before
 * the first append; appends the lines of a batch; settles the batch together with the note
 * `key → length`; cuts back to the noted length if the settle was refused.
 */
export interface VisitWriter {
  /** The name of the note: one per file, never used again. */
  readonly key: string;
  /** Bytes written: what the note must say. */
  readonly length: number;
  /** Take another writer for the next batch: the segment has its size, or its dataset was emptied. */
  readonly full: boolean;
  /** Resolves when the lines are in the file; on failure nothing of them is. */
  append(lines: string | Uint8Array): Promise<void>;
  cutTo(lengthBytes: number): Promise<void>;
  close(): Promise<void>;
}

export function createVisitWriter(
  datasetId: string,
  segment: SegmentWriter,
  onCut: (name: string) => void,
  isGone: () => boolean,
  maxBytes = SEGMENT_BYTES,
): VisitWriter {
  return {
    key: `${VISIT_KEY_PREFIX}${datasetId}/${segment.name}`,
    get length() {
      return segment.lengthBytes;
    },
    get full() {
      return segment.lengthBytes >= maxBytes || isGone();
    },
    async append(lines) {
      killPoint('items.before-append');
      await segment.append(lines);
      killPoint('items.after-append');
    },
    async cutTo(lengthBytes) {
      await segment.cutTo(lengthBytes);
      onCut(segment.name);
    },
    close: () => segment.close(),
  };
}
