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

/**
 * The first run that a process takes part in, from what it finds when it first looks: the current one, unless that is
 * over. `run` is the number of the current or last leader.
 */
export function firstRun(run: number, signal: StopSignal | undefined, crawl: string): number {
  const isOver = signal?.run !== undefined && signal.crawl === crawl && signal.run >= run;
  return isOver ? signal.run! + 1 : run;
}

/** Whether a stamped signal ends a process: it is of its crawl, and of a run that it took part in. */
export function endsRun(signal: StopSignal, joined: number, crawl: string): boolean {
  return signal.run !== undefined && signal.crawl === crawl && signal.run >= joined;
}
