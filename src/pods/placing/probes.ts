// What a run says to who placed it: whether it lives (`/health`) and whether it works (`/ready`).
// Promise: a run that waits, drains or has nothing left lives; only one whose loop no longer turns does not.
import type { ProbeAnswer } from '../../observe/metrics-server.js';
import type { PodSupervisor } from '../supervise/pod-supervisor.js';

export interface Probes {
  /** The loop of the run turned once; `away`: the pods whose stores did not answer. */
  turned(supervisors: readonly PodSupervisor[], away: ReadonlySet<number>): void;
  /** The workers are told to end. */
  drains(): void;
  /** The crawl is over and the process stays. */
  stays(): void;
  health(): ProbeAnswer;
  ready(): ProbeAnswer;
}

/** A turn waits for answers of stores: half a minute by default, and once more after a reconnection. */
const SILENT_MS = 150_000;

export function createProbes(nowMs: () => number = () => performance.now()): Probes {
  let state: 'starting' | 'running' | 'draining' | 'over' = 'starting';
  let turnedMs = nowMs();
  let missing = 'starting';

  return {
    turned(supervisors, away) {
      if (state === 'starting') state = 'running';
      turnedMs = nowMs();
      missing = whatIsMissing(supervisors, away);
    },
    drains: () => void (state = 'draining'),
    stays: () => void (state = 'over'),
    health() {
      const silentMs = nowMs() - turnedMs;
      if (state !== 'running' || silentMs <= SILENT_MS) return { isGood: true, text: state };
      return { isGood: false, text: `the supervisor's loop has not turned for ${Math.round(silentMs / 1_000)} s` };
    },
    ready() {
      if (state === 'over') return { isGood: true, text: 'the crawl is over' };
      if (state !== 'running') return { isGood: false, text: state };
      return { isGood: missing === '', text: missing === '' ? 'running' : missing };
    },
  };
}

/** The first reasons why pods do not work; empty if all do. */
function whatIsMissing(supervisors: readonly PodSupervisor[], away: ReadonlySet<number>): string {
  const reasons = supervisors.flatMap(({ pod, workers, failure }) => {
    if (failure) return [`pod ${pod.index} stopped (${failure.code})`];
    if (away.has(pod.index)) return [`the store of pod ${pod.index} does not answer`];
    return workers.some(({ isReady }) => isReady) ? [] : [`no worker of pod ${pod.index} runs`];
  });
  return reasons.slice(0, 5).join('; ');
}
