// A run's watch over the event loop: a visit that blocks it is named while it does, and counted when it is over.
import { type LoopWatch, watchLoop } from '../../base/loop-watch/loop-watch.js';
import { freedLine } from '../../base/loop-watch/reports.js';
import type { CommonServices } from './services.js';

const DEFAULT_BLOCKED_LOOP_SECS = 10;

/** The option as a limit; Infinity: off. */
export function blockedLoopMs(seconds: number = DEFAULT_BLOCKED_LOOP_SECS): number {
  return seconds === 0 ? Infinity : seconds * 1_000;
}

export interface LoopBlockOptions {
  /** A visit that blocks the event loop for longer is reported. Infinity (default): off. */
  readonly blockedLoopMs?: number | undefined;
  /** Where blocks are reported while they last, as lines of JSON. Default: to standard error, for people. */
  readonly reportBlocksTo?: number | undefined;
}

export function watchBlocks(
  { blockedLoopMs: limitMs = Infinity, reportBlocksTo: reportFd }: LoopBlockOptions,
  { log, stats }: Pick<CommonServices, 'log' | 'stats'>,
): LoopWatch | undefined {
  if (!Number.isFinite(limitMs)) return undefined;
  return watchLoop({
    limitMs,
    reportFd,
    onFreed(report) {
      stats?.countBlockedLoop();
      log.warning(freedLine(report), { code: 'VISIT_BLOCKED_LOOP' });
    },
  });
}
