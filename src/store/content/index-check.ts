// Checks the lines of one index: which are of use, which point past what counts, which are damaged.
// Promise: one pass, in the order of the file; memory holds a few damaged lines, whatever the index holds.
import { open } from 'node:fs/promises';
import { parseIndexLine } from './cdxj.js';
import { batchesOfLines } from './index-sorting.js';

/** A line that is of no use, by its number in the file, from 1. */
export interface DamagedLine {
  readonly line: number;
  readonly problem: string;
  readonly text: string;
}

export interface IndexFindings {
  /** Lines that are of use. */
  readonly kept: number;
  /** Lines of records past what counts. */
  readonly beyond: number;
  readonly damaged: number;
  readonly firstDamaged: readonly DamagedLine[];
  readonly isOrdered: boolean;
  /** Where the last record of a kept line ends. */
  readonly lastEnd: number;
  /** Bytes of the segment that kept lines speak of, with what is before the first. */
  readonly coveredBytes: number;
}

export interface IndexCheck {
  /** Whether the next line is kept. Text is Latin-1. */
  keep(line: string): boolean;
  readonly findings: IndexFindings;
}

const MAX_DAMAGED = 10;
const MAX_TEXT = 200;
const READ_BYTES = 1024 * 1024;

/** `segment` is what lines must point into up to `keptBytes`; undefined for an index without a segment. */
export function createIndexCheck(segment: { name: string; keptBytes: number } | undefined): IndexCheck {
  const firstDamaged: DamagedLine[] = [];
  let [number, kept, beyond, damaged, lastEnd, lengths] = [0, 0, 0, 0, 0, 0];
  let firstOffset = Infinity;
  let isOrdered = true;
  let before = '';

  const damage = (problem: string, text: string): false => {
    damaged++;
    if (firstDamaged.length < MAX_DAMAGED) firstDamaged.push({ line: number, problem, text: text.slice(0, MAX_TEXT) });
    return false;
  };

  return {
    keep(line) {
      number++;
      const entry = parseIndexLine(line);
      if (entry === undefined) return damage('it is not a line of an index', line);
      if (segment) {
        const { filename, offset, length } = entry;
        if (filename !== segment.name || offset === undefined || length === undefined) {
          return damage('it points into another file', line);
        }
        if (offset + length > segment.keptBytes) {
          beyond++;
          return false;
        }
        lastEnd = Math.max(lastEnd, offset + length);
        firstOffset = Math.min(firstOffset, offset);
        lengths += length;
      }
      if (line < before) isOrdered = false;
      before = line;
      kept++;
      return true;
    },
    get findings() {
      const coveredBytes = kept === 0 || !segment ? 0 : firstOffset + lengths;
      return { kept, beyond, damaged, firstDamaged, isOrdered, lastEnd, coveredBytes };
    },
  };
}

/** Checks a whole file; half a line at its end is none. */
export async function checkIndex(path: string, check: IndexCheck): Promise<IndexFindings> {
  const file = await open(path, 'r');
  try {
    for await (const lines of batchesOfLines(file, 0, Infinity, READ_BYTES)) for (const line of lines) check.keep(line);
  } finally {
    await file.close();
  }
  return check.findings;
}
