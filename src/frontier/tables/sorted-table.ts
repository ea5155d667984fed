// An in-process ordered table: rows in sorted runs of bounded length, found by binary search.
// Appending and taking from the front, the main operations of a queue, are very cheap.
import type { Table, Visit } from './kv.js';

interface Run {
  majors: number[];
  minors: number[];
  values: Buffer[];
}

// Long enough that the list of runs stays short, short enough that a splice inside one is cheap.
const MAX_RUN = 256;

export function createSortedTable(): Table {
  let runs: Run[] = [];

  /** The last run that starts at or before the key; 0 if none. */
  function runFor(major: number, minor: number): number {
    let low = 0;
    let high = runs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const run = runs[middle]!;
      if (compare(run.majors[0]!, run.minors[0]!, major, minor) <= 0) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  return {
    get(major, minor) {
      const run = runs[runFor(major, minor)];
      if (!run) return undefined;
      const at = placeIn(run, major, minor);
      return isAt(run, at, major, minor) ? run.values[at] : undefined;
    },
    put(major, minor, value) {
      const copy = Buffer.from(value);
      const index = runFor(major, minor);
      const run = runs[index];
      if (!run) {
        runs.push({ majors: [major], minors: [minor], values: [copy] });
        return;
      }
      const at = placeIn(run, major, minor);
      if (isAt(run, at, major, minor)) {
        run.values[at] = copy;
        return;
      }
      run.majors.splice(at, 0, major);
      run.minors.splice(at, 0, minor);
      run.values.splice(at, 0, copy);
      if (run.majors.length <= MAX_RUN) return;
      // Rows appended at the end fill runs completely instead of by half.
      const keep = index === runs.length - 1 && at === MAX_RUN ? MAX_RUN : MAX_RUN >> 1;
      runs.splice(index + 1, 0, {
        majors: run.majors.splice(keep),
        minors: run.minors.splice(keep),
        values: run.values.splice(keep),
      });
    },
    remove(major, minor) {
      const index = runFor(major, minor);
      const run = runs[index];
      if (!run) return;
      const at = placeIn(run, major, minor);
      if (!isAt(run, at, major, minor)) return;
      run.majors.splice(at, 1);
      run.minors.splice(at, 1);
      run.values.splice(at, 1);
      if (run.majors.length === 0) runs.splice(index, 1);
    },
    scan(major, minor, lastMajor, visit: Visit) {
      for (let index = runFor(major, minor); index < runs.length; index++) {
        const run = runs[index]!;
        for (let at = placeIn(run, major, minor); at < run.majors.length; at++) {
          const rowMajor = run.majors[at]!;
          if (rowMajor > lastMajor || visit(rowMajor, run.minors[at]!, run.values[at]!) === false) return;
        }
      }
    },
    clear() {
      runs = [];
    },
  };
}

function compare(majorA: number, minorA: number, majorB: number, minorB: number): number {
  return majorA - majorB || minorA - minorB;
}

/** Where the key is in the run, or where it would go. */
function placeIn(run: Run, major: number, minor: number): number {
  let low = 0;
  let high = run.majors.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compare(run.majors[middle]!, run.minors[middle]!, major, minor) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isAt(run: Run, at: number, major: number, minor: number): boolean {
  return at < run.majors.length && run.majors[at] === major && run.minors[at] === minor;
}
