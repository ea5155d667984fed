// What the queue records of a segment when it acknowledges visits: how many bytes of it count, and how many lines.
// Promise: notes of earlier releases, which have no lines, are read too; anything else gives undefined.

export interface SegmentNote {
  readonly bytes: number;
  /** Index lines of a content segment, items of a dataset's; undefined in notes of earlier releases. */
  readonly lines: number | undefined;
}

export function segmentNote(bytes: number, lines: number): string {
  return `${bytes} ${lines}`;
}

export function readSegmentNote(text: string | number | undefined): SegmentNote | undefined {
  const [, bytes, lines] = /^(\d{1,15})(?: (\d{1,15}))?$/.exec(String(text ?? '')) ?? [];
  if (bytes === undefined) return undefined;
  return { bytes: Number(bytes), lines: lines === undefined ? undefined : Number(lines) };
}
