// One index of a dead writer: lines of records that do not count leave it, damaged ones are set aside, the rest is sorted.
// Promise: the old index stays until the new one is whole; damaged lines are named and kept aside, and so are the lines
// of acknowledged records that are gone: they say which pages those were.
import { appendFile, rename, rm, stat } from 'node:fs/promises';
import { TAIL_ENDING } from './names.js';
import { createIndexCheck, checkIndex, type IndexFindings, type IndexCheck } from './index-check.js';
import { sortLines } from './index-sorting.js';
import { ignoreMissing, isMissing } from '../storage-errors.js';

/** Which sorted indexes are checked although they need no work. */
export interface IndexChecks {
  /** Whether this one is read now. */
  mayRead(path: string, bytes: number, modifiedMs: number): boolean;
}

/** What was found in an index; nothing if it was not read. */
export interface RecoveredIndex {
  readonly lines?: number;
  readonly coveredBytes?: number;
}

export interface IndexRecovery {
  /** Where the last valid record in the index ends; undefined if nothing is to be cut. */
  lastWholeRecord(name: string, foundBytes: number): Promise<number | undefined>;
  recover(
    segment: { readonly name: string; readonly keptBytes: number } | undefined,
    how: {
      /** Its segment does not have the noted length. */
      readonly mustRead?: boolean;
      /** Lines past the end were acknowledged: their records are gone. */
      readonly isShort?: boolean;
      /** None of it counts. */
      readonly isEmpty?: boolean;
    },
  ): Promise<RecoveredIndex>;
}

export interface IndexRecoveryOptions {
  readonly notes?: Readonly<Record<string, string>>;
  readonly warn: (message: string) => void;
  readonly checks?: IndexChecks;
}

/** Most lines moved aside at a time; more are only counted. */
const ASIDE_BYTES = 16 * 1024 * 1024;
const DAMAGED_ENDING = '.damaged';
const LOST_ENDING = '.lost';

export function createIndexRecovery(sorted: string, options: IndexRecoveryOptions): IndexRecovery {
  const tail = sorted + TAIL_ENDING;

  const lastWholeRecord = async (name: string, foundBytes: number): Promise<number | undefined> => {
    const files = [await statOf(tail), await statOf(sorted)];
    // Without a queue, a sorted index means that its segment was closed properly.
    if (!options.notes && files[0] === undefined && files[1] !== undefined) return undefined;
    let last = 0;
    for (const [n, path] of [tail, sorted].entries()) {
      if (files[n] === undefined) continue;
      last = Math.max(last, (await checkIndex(path, createIndexCheck({ name, keptBytes: foundBytes }))).lastEnd);
    }
    return last;
  };

  /** Rewrites the sorted index from `source`. */
  const rewrite = async (source: string, check: IndexCheck, isShort: boolean): Promise<RecoveredIndex> => {
    const aside = { [DAMAGED_ENDING]: [] as string[], [LOST_ENDING]: [] as string[] };
    let asideBytes = 0;
    let damagedBefore = 0;
    const keep = (line: string): boolean => {
      if (check.keep(line)) return true;
      const { damaged } = check.findings;
      const isLost = damaged === damagedBefore;
      damagedBefore = damaged;
      if (isLost && !isShort) return false;
      if ((asideBytes += line.length + 1) <= ASIDE_BYTES) aside[isLost ? LOST_ENDING : DAMAGED_ENDING].push(line);
      return false;
    };
    try {
      await sortLines(source, sorted, { keep });
    } catch (error) {
      // Another process was faster, or the disk is full: readers scan unsorted indexes.
      if (!isMissing(error)) options.warn(`${source} stays as it is: ${(error as Error).message}`);
      return {};
    }
    for (const [ending, lines] of Object.entries(aside)) {
      if (lines.length > 0) await appendFile(sorted + ending, `${lines.join('\n')}\n`, 'latin1');
    }
    report(source, check.findings);
    return { lines: check.findings.kept, coveredBytes: check.findings.coveredBytes };
  };

  const report = (path: string, { damaged, firstDamaged }: IndexFindings): void => {
    if (damaged === 0) return;
    for (const { line, problem, text } of firstDamaged) {
      options.warn(`${path}:${line}: ${problem}: ${JSON.stringify(text)}`);
    }
    const where = `${sorted}${DAMAGED_ENDING}`;
    options.warn(`${path}: ${damaged} damaged lines are left out of the index and put into ${where}`);
  };

  return {
    lastWholeRecord,
    async recover(segment, { mustRead = false, isShort = false, isEmpty = segment?.keptBytes === 0 }) {
      if (isEmpty) {
        for (const path of [sorted, tail]) {
          // All its records are gone: only the index is left.
          if (isShort) await rename(path, sorted + LOST_ENDING).catch(ignoreMissing);
          else await rm(path, { force: true });
        }
        return { lines: 0, coveredBytes: 0 };
      }
      // If both exist, a sort died before it removed the first one, which is complete.
      if (await statOf(tail)) return rewrite(tail, createIndexCheck(segment), isShort);
      const file = await statOf(sorted);
      if (file === undefined) return { lines: 0, coveredBytes: 0 };
      if (!mustRead && !options.checks?.mayRead(sorted, file.size, file.mtimeMs)) return {};
      const findings = await checkIndex(sorted, createIndexCheck(segment));
      if (findings.beyond + findings.damaged > 0 || !findings.isOrdered) {
        return rewrite(sorted, createIndexCheck(segment), isShort);
      }
      return { lines: findings.kept, coveredBytes: findings.coveredBytes };
    },
  };
}

async function statOf(path: string) {
  return stat(path).catch(ignoreMissing);
}
