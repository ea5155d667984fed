// The segments for items of transactional visits; visit-recovery.ts repairs them after a crash.
// Promise (guarantee 2): cut to its noted length, a segment has exactly the items of acknowledged visits.
import { killPoint } from '../../base/kill-points.js';
import { segmentNote } from '../segments/segment-note.js';
import type { SegmentWriter } from '../store.js';

/** At this size a segment is closed and a new one started. */
export const SEGMENT_BYTES = 64 * 1024 * 1024;

/** Prefix of the note keys of all visit segments. */
export const VISIT_KEY_PREFIX = 'dataset/';

/**
 * Writes the items of acknowledged visits. Its owner, in this order: records the note of the empty segment in the queue
 * before the first append; appends the lines of a batch; settles the batch together with the note
 * `key → note`; cuts back to the length before if the settle was refused.
 */
export interface VisitWriter {
  /** The name of the note: one per file, never reused. */
  readonly key: string;
  /** Bytes written so far. */
  readonly length: number;
  /** The content of the note. */
  readonly note: string;
  /** Use another writer: the segment is full, its dataset was emptied, or its data directory is no longer used. */
  readonly full: boolean;
  /** Resolves when the lines are in the file; on failure none are. */
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
  const counts = createLineCounts();
  return {
    key: `${VISIT_KEY_PREFIX}${datasetId}/${segment.name}`,
    get length() {
      return segment.lengthBytes;
    },
    get note() {
      return segmentNote(segment.lengthBytes, counts.lines);
    },
    get full() {
      return segment.lengthBytes >= maxBytes || isGone();
    },
    async append(lines) {
      killPoint('items.before-append');
      const before = segment.lengthBytes;
      await segment.append(lines);
      counts.grow(before, linesIn(lines));
      killPoint('items.after-append');
    },
    async cutTo(lengthBytes) {
      await segment.cutTo(lengthBytes);
      counts.cut(lengthBytes);
      onCut(segment.name);
    },
    close: () => segment.close(),
  };
}

/** Appends that can be cut back: an owner cuts only the last one, if not acknowledged. */
const MAX_MARKS = 1_024;

/** The line count of a segment, also after it was cut back. */
export function createLineCounts() {
  let lines = 0;
  let marks: { readonly length: number; readonly lines: number }[] = [];
  return {
    get lines() {
      return lines;
    },
    /** Lines were appended at `before` bytes. */
    grow(before: number, added: number): void {
      marks.push({ length: before, lines });
      if (marks.length > MAX_MARKS) marks.shift();
      lines += added;
    },
    cut(toBytes: number): void {
      const mark = marks.find(({ length }) => length >= toBytes);
      if (mark === undefined) return;
      lines = mark.lines;
      marks = marks.filter(({ length }) => length < toBytes);
    },
  };
}

const NEWLINE = 0x0a;

function linesIn(text: string | Uint8Array): number {
  const bytes = typeof text === 'string' ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.length);
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}
