// The content of `global:stop_signal`: which run of which crawl is over and why, or, if set by hand, just stop.
// Promise: an ended run is distinguished from the current one by number, never by timing.
import type { StopReason } from './coordination.js';

export interface StopSignal {
  readonly reason: StopReason;
  /** Undefined if set by hand: for the current run. */
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

/** What a following orchestrator knows about the runs of its crawl. */
export interface KnownRuns {
  readonly crawl: string;
  /** The newest run it took part in, restarts included; 0 for none. */
  readonly seen: number;
  /** The newest run whose stop it obeyed; 0 for none. */
  readonly obeyed: number;
}

/**
 * Whether a stamped signal ends an orchestrator that starts with this knowledge. A run it never saw started after it
 * last stopped, so it is late. If it saw the run but not its end, it has nothing to do if the crawl is over; if the run
 * was only interrupted, it waits for the next one.
 */
export function endsFollower(signal: StopSignal, known: KnownRuns): boolean {
  if (signal.run === undefined || signal.crawl !== known.crawl || signal.run <= known.obeyed) return false;
  if (signal.run > known.seen) return true;
  return signal.reason === 'exhausted' || signal.reason === 'max_pages';
}
