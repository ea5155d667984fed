// Whether the numbers of a pod can be true.
// Guarantee 5: accepted = queued + retrying + leased + parsing + done + failed + skipped, and none is below zero.
import type { PodReading } from '../../frontier/redis/pod-operations.js';

const COUNTS = [
  'accepted',
  'queued',
  'retrying',
  'leased',
  'parsing',
  'outbox',
  'done',
  'failed',
  'skipped',
  'spilled',
] as const satisfies readonly (keyof PodReading)[];

/** The numbers in words when one of them is below zero, else undefined. */
export function negativeIn(reading: PodReading): string | undefined {
  return COUNTS.some((name) => reading[name] < 0) || reading.leased < reading.parsing ? wordsOf(reading) : undefined;
}

/** The numbers in words when they cannot be those of a pod that has nothing to do, or do not add up. */
export function contradictionIn(reading: PodReading): string | undefined {
  const { accepted, queued, retrying, leased, done, failed, skipped, spilled } = reading;
  // `leased` has what waits to be parsed; `queued` has what is on disk.
  const isWhole = accepted === queued + retrying + leased + done + failed + skipped && spilled <= queued;
  return isWhole ? undefined : wordsOf(reading);
}

function wordsOf(reading: PodReading): string {
  const { leased, parsing } = reading;
  const counts = { ...reading, leased: leased - parsing };
  return COUNTS.map((name) => `${counts[name]} ${name}`).join(', ');
}
