// What `global:stop_signal` says: why which run of which crawl is over, or, set by a person, just stop.
// Promise: a run that is over is told from the one that goes on by its number, never by when somebody looked.
import type { StopReason } from './coordination.js';

export interface StopSignal {
  readonly reason: StopReason;
  /** Undefined when a person set it: for whichever run goes on. */
  readonly run: number | undefined;
  readonly crawl: string | undefined;
}

const REASONS: readonly string[] = ['max_pages', 'max_duration', 'exhausted', 'stop_signal', 'signal', 'failed'];

export function formatStopSignal(reason: StopReason, run: number, crawl: string): string {
  return `${reason} ${run} ${crawl}`;
}

export function parseStopSignal(text: string): StopSignal {
  const [reason = '', run = '', crawl] = text.split(' ');
  if (REASONS.includes(reason) && /^\d{1,15}$/.test(run) && crawl !== undefined) {
    return { reason: reason as StopReason, run: Number(run), crawl };
  }
  return { reason: 'stop_signal', run: undefined, crawl: undefined };
}

/** What an orchestrator that follows knows of the runs of its crawl. */
export interface KnownRuns {
  readonly crawl: string;
  /** The newest run that any of its lives took part in; 0 for none. */
  readonly seen: number;
  /** The newest run whose stop it obeyed; 0 for none. */
  readonly obeyed: number;
}

/**
 * Whether a stamped signal ends an orchestrator that starts with this knowledge. A run it never saw began after its last
 * life, and it is late for it. One it saw but did not see end left it nothing to do if the crawl is over; if the run was
 * only broken off, the next one is waited for.
 */
export function endsFollower(signal: StopSignal, known: KnownRuns): boolean {
  if (signal.run === undefined || signal.crawl !== known.crawl || signal.run <= known.obeyed) return false;
  if (signal.run > known.seen) return true;
  return signal.reason === 'exhausted' || signal.reason === 'max_pages';
}
