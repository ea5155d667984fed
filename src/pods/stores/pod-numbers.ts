// Checks that a pod's counters are consistent.
// Guarantee 5: accepted = queued + retrying + leased + parsing + done + failed + skipped, and none is negative.
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

/** The counters as text if one is negative, else undefined. */
export function negativeIn(reading: PodReading): string | undefined {
  return COUNTS.some((name) => reading[name] < 0) || reading.leased < reading.parsing ? wordsOf(reading) : undefined;
}

/** The counters as text if they are not those of an idle pod, or do not add up. */
export function contradictionIn(reading: PodReading): string | undefined {
  const { accepted, queued, retrying, leased, done, failed, skipped, spilled } = reading;
  // `leased` includes captures waiting for parsers; `queued` includes the spill.
  const isWhole = accepted === queued + retrying + leased + done + failed + skipped && spilled <= queued;
  return isWhole ? undefined : wordsOf(reading);
}

function wordsOf(reading: PodReading): string {
  const { leased, parsing } = reading;
  const counts = { ...reading, leased: leased - parsing };
  return COUNTS.map((name) => `${counts[name]} ${name}`).join(', ');
}
