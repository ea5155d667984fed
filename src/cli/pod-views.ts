// The pods of a run as the console shows them, from the readings and figures that metrics are made of.
import type { PodsConfig } from '../pods/config/types.js';
import type { PodsInside } from '../pods/supervise/orchestrator.js';
import type { PodsProgress } from '../pods/supervise/watching.js';
import { createRate, type ProgressFigures } from '../observe/progress.js';
import type { PodView } from '../serve/console/wire.js';

export interface PodViews {
  hear(progress: PodsProgress & PodsInside): void;
  readonly views: readonly PodView[];
  readonly figures: ProgressFigures | undefined;
}

interface Known {
  readonly rate: (ended: number) => number;
  readonly before: number;
  /** It has answered before. */
  isHeard: boolean;
  cpu: { atMs: number; secs: number; share: number };
  redis: { atMs: number; secs: number; share: number };
}

export function createPodViews(config: PodsConfig, nowMs: () => number = () => performance.now()): PodViews {
  const known = new Map<number, Known>();
  let views: readonly PodView[] = [];
  let figures: ProgressFigures | undefined;
  let endedBefore: number | undefined;

  /** CPU seconds per second since the last call that saw some. */
  function shareOf(meter: Known['cpu'], secs: number): number {
    const atMs = nowMs();
    if (secs !== meter.secs && atMs - meter.atMs > 500) {
      meter.share = meter.secs === 0 ? 0 : Math.max(0, ((secs - meter.secs) * 1_000) / (atMs - meter.atMs));
      meter.secs = secs;
      meter.atMs = atMs;
    }
    return meter.share;
  }

  return {
    get views() {
      return views;
    },
    get figures() {
      return figures;
    },
    hear({ pages, readings, supervisors, serverOf, failures, isWhole }) {
      const indexes = isWhole ? readings.map((_, index) => index) : config.ownPods;
      views = indexes.map((pod, place): PodView => {
        const reading = readings[place];
        const supervisor = supervisors.find((one) => one.pod.index === pod);
        const failure = failures.find((one) => one.pod === pod);
        const ended = (reading?.done ?? 0) + (reading?.failed ?? 0);
        let mine = known.get(pod);
        if (!mine) {
          const none = (): Known['cpu'] => ({ atMs: nowMs(), secs: 0, share: 0 });
          mine = { rate: createRate(nowMs), before: ended, isHeard: false, cpu: none(), redis: none() };
          known.set(pod, mine);
        }
        if (reading) mine.isHeard = true;
        const workers = supervisor?.workers ?? [];
        const server = serverOf(pod);
        return {
          pod,
          state: failure ? 'stopped' : reading ? 'running' : mine.isHeard ? 'silent' : 'starting',
          ...(failure && { reason: failure.message }),
          where: supervisor?.pod.where ?? '',
          isHere: supervisor !== undefined,
          pages: reading?.done ?? 0,
          failed: reading?.failed ?? 0,
          perSec: Math.round(mine.rate(Math.max(0, ended - mine.before)) * 10) / 10,
          queued: (reading?.queued ?? 0) + (reading?.retrying ?? 0),
          leased: reading ? reading.leased - reading.parsing : 0,
          parsing: reading?.parsing ?? 0,
          workers: workers.filter(({ pid }) => pid !== undefined).length,
          workersWanted: workers.length,
          restarts: workers.reduce((sum, { restarts }) => sum + restarts, 0),
          memory: workers.reduce((sum, one) => sum + (one.figures?.rssBytes ?? 0), 0),
          cpu: shareOf(
            mine.cpu,
            workers.reduce((sum, one) => sum + (one.figures?.cpuMs ?? 0) / 1_000, 0),
          ),
          ...(server && {
            redisMemory: server.figures.memoryBytes,
            redisMemoryLimit: server.figures.memoryLimitBytes,
            redisOps: server.figures.opsPerSec,
            redisCpu: shareOf(mine.redis, server.figures.cpuSeconds),
            hot: server.hot,
          }),
        };
      });
      const sum = (of: (pod: PodView) => number): number => views.reduce((total, pod) => total + of(pod), 0);
      const failed = sum((pod) => pod.failed);
      endedBefore ??= pages + failed;
      figures = {
        done: pages,
        failed,
        queued: sum((pod) => pod.queued),
        concurrency: sum((pod) => pod.leased),
        endedBefore,
      };
    },
  };
}
