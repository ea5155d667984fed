// `{log_dir}/status.json`: how a run on this machine stands, written every two seconds for `orcrawl status`.
// Promise: complete or absent; writing it never holds up or fails the run.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from '../../base/whole-file.js';
import type { PodReading } from '../../frontier/redis/pod-operations.js';
import type { PodsConfig } from '../config/types.js';
import type { PodFailure } from '../stores/pod-view.js';
import type { PodsProgress } from './watching.js';

export interface PodStatus {
  readonly pod: number;
  readonly where: string;
  /** Undefined while its store does not answer. */
  readonly reading: PodReading | undefined;
  readonly pagesPerSec: number;
  readonly fetchers: ProcessCount;
  readonly parsers: ProcessCount;
  readonly failure: PodFailure | undefined;
}

export interface ProcessCount {
  readonly running: number;
  readonly wanted: number;
  readonly restarts: number;
}

export interface RunStatus {
  readonly pid: number;
  readonly crawl: string;
  readonly startedAt: string;
  readonly updatedAt: string;
  readonly pages: number;
  readonly pagesPerSec: number;
  readonly maxPages: number | undefined;
  readonly maxDurationSecs: number | undefined;
  readonly metrics: string | undefined;
  readonly pods: readonly PodStatus[];
}

const FILE = 'status.json';
const WRITE_MS = 2_000;
/** Rates are over about this long. */
const RATE_MS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

export interface StatusFile {
  see(progress: PodsProgress): void;
  /** Removes it: the report tells the rest. */
  close(): Promise<void>;
}

export function createStatusFile(
  config: PodsConfig & { readonly crawl: string },
  metrics: string | undefined,
  nowMs = () => performance.now(),
): StatusFile {
  const file = join(config.logDir, FILE);
  const startedAt = new Date().toISOString();
  const rate = createRates(nowMs);
  let wroteMs = -Infinity;
  let writing: Promise<void> | undefined;

  function statusOf({ pages, readings, supervisors }: PodsProgress): RunStatus {
    const pods = supervisors.map(({ pod, workers, failure }): PodStatus => {
      const reading =
        readings.length === config.pods.length
          ? readings[pod.index]
          : readings[supervisors.findIndex((one) => one.pod === pod)];
      const processes = (role: 'fetcher' | 'parser'): ProcessCount => {
        const own = workers.filter(({ place }) => place.role === role);
        return {
          running: own.filter(({ pid }) => pid !== undefined).length,
          wanted: own.length,
          restarts: own.reduce((sum, worker) => sum + worker.restarts, 0),
        };
      };
      return {
        pod: pod.index,
        where: pod.where,
        reading,
        pagesPerSec: rate(`pod ${pod.index}`, reading?.done),
        fetchers: processes('fetcher'),
        parsers: processes('parser'),
        failure,
      };
    });
    return {
      pid: process.pid,
      crawl: config.crawl,
      startedAt,
      updatedAt: new Date().toISOString(),
      pages,
      pagesPerSec: rate('all', pages),
      maxPages: config.maxPages,
      maxDurationSecs: config.maxDuration,
      metrics,
      pods,
    };
  }

  return {
    see(progress) {
      const status = statusOf(progress);
      if (writing || nowMs() - wroteMs < WRITE_MS) return;
      wroteMs = nowMs();
      writing = writeWhole(file, `${JSON.stringify(status)}\n`)
        .catch(() => undefined)
        .finally(() => (writing = undefined));
    },
    async close() {
      await writing;
      await rm(file, { force: true }).catch(() => undefined);
    },
  };
}

/** Growth per second over the last ten seconds, by name. */
export function createRates(nowMs: () => number): (name: string, count: number | undefined) => number {
  const seen = new Map<string, { atMs: number; count: number }[]>();
  return (name, count) => {
    let points = seen.get(name);
    if (!points) seen.set(name, (points = []));
    if (count !== undefined) points.push({ atMs: nowMs(), count });
    while (points.length > 2 && nowMs() - points[1]!.atMs >= RATE_MS) points.shift();
    const first = points[0];
    const last = points.at(-1);
    if (!first || !last || last.atMs === first.atMs) return 0;
    return ((last.count - first.count) * 1_000) / (last.atMs - first.atMs);
  };
}

/** The status of a run on this machine; undefined if none writes one. */
export async function readStatus(logDir: string): Promise<RunStatus | undefined> {
  try {
    const text = await readFile(join(logDir, FILE), 'utf8');
    return text.length > MAX_BYTES ? undefined : (JSON.parse(text) as RunStatus);
  } catch {
    return undefined;
  }
}
