// The samples of one job from its first second to its last, in a bounded list and a small file.
// Promise: at most MAX_SAMPLES are kept: when they are full, pairs become one and the time between them doubles. A file
// is whole or the one before it; after `kill -9` a few seconds are missing and the chart goes on.
import { readFile } from 'node:fs/promises';
import { writeWhole } from '../../base/whole-file.js';
import { SAMPLE, type Sample } from './wire.js';

export const MAX_SAMPLES = 600;
const MAX_FILE_CHARACTERS = 200_000;
const COLUMNS = Object.keys(SAMPLE).length;

export interface History {
  readonly samples: readonly Sample[];
  /** Changes when earlier samples were joined: whoever has some needs all of them. */
  readonly generation: number;
  /** Takes a sample unless the last one is too recent; a sample of the same moment takes its place. */
  add(sample: Sample, isLast?: boolean): boolean;
  save(): Promise<void>;
}

export function createHistory(
  file: string | undefined,
  kept: { everySecs: number; samples: Sample[] } = { everySecs: 1, samples: [] },
): History {
  let { everySecs, samples } = kept;
  let generation = 0;
  let isSaved = true;

  function halve(): void {
    const joined: Sample[] = [];
    for (let at = 0; at + 1 < samples.length; at += 2) joined.push(joinedSample(samples[at]!, samples[at + 1]!));
    if (samples.length % 2 === 1) joined.push(samples.at(-1)!);
    samples = joined;
    everySecs *= 2;
    generation++;
  }

  return {
    get samples() {
      return samples;
    },
    get generation() {
      return generation;
    },
    add(sample, isLast = false) {
      const before = samples.at(-1)?.[SAMPLE.atSecs];
      if (before !== undefined && sample[SAMPLE.atSecs]! <= before) return false;
      // A timer is never quite on time.
      if (before !== undefined && !isLast && sample[SAMPLE.atSecs]! < before + everySecs * 0.9) return false;
      if (samples.length >= MAX_SAMPLES) halve();
      samples.push(sample);
      isSaved = false;
      return true;
    },
    async save() {
      if (isSaved || file === undefined) return;
      isSaved = true;
      await writeWhole(file, JSON.stringify({ everySecs, samples }));
    },
  };
}

/** What was saved; an empty history when there is nothing, or nothing that can be read. */
export async function openHistory(file: string): Promise<History> {
  try {
    const text = await readFile(file, 'utf8');
    if (text.length > MAX_FILE_CHARACTERS) return createHistory(file);
    const { everySecs, samples } = JSON.parse(text) as { everySecs: unknown; samples: unknown };
    const isWhole =
      typeof everySecs === 'number' && everySecs >= 1 && Array.isArray(samples) && samples.every(isSample);
    return isWhole
      ? createHistory(file, { everySecs, samples: (samples as Sample[]).slice(-MAX_SAMPLES) })
      : createHistory(file);
  } catch {
    return createHistory(file);
  }
}

function isSample(one: unknown): one is Sample {
  return Array.isArray(one) && one.length === COLUMNS && one.every((value) => Number.isFinite(value));
}

/** Totals are those of the later one; the rest is the mean, the slowest the slowest. */
function joinedSample(one: Sample, other: Sample): Sample {
  return other.map((value, column) => {
    switch (column) {
      case SAMPLE.queued:
      case SAMPLE.active:
      case SAMPLE.memory:
      case SAMPLE.p50:
        return Math.round(((one[column]! + value) / 2) * 10) / 10;
      case SAMPLE.p95:
        return Math.max(one[column]!, value);
      default:
        return value;
    }
  });
}
