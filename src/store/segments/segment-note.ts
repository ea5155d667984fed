// The note about a segment that the queue records when it acknowledges visits: bytes and lines that count.
// Promise: notes of earlier releases (without lines) can be read; anything else gives undefined.

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
