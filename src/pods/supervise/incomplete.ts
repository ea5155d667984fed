// What a run left undone because pods stopped, for the last line, the log and `report.json`.
// Promise: a number that could not be read at the end says so; nothing that is left is passed over.
import { join } from 'node:path';
import { writeWhole } from '../../base/whole-file.js';
import type { PodReading } from '../../frontier/redis/pod-operations.js';
import { countOf } from '../../observe/figures.js';
import type { PodsConfig } from '../config/types.js';
import type { PodsResult } from './orchestrator.js';
import type { PodFailure, PodView } from '../stores/pod-view.js';
import type { Watching } from './watching.js';

export interface IncompletePod extends PodFailure {
  /** URLs it accepted that have not ended; undefined when nobody ever heard. */
  readonly left: number | undefined;
  /** False when its store does not answer any more: then `left` is what was heard last. */
  readonly isCounted: boolean;
  /** Links for it that wait in other pods. */
  readonly undelivered: number;
  /** Links that it found for other pods and that wait in its own store. */
  readonly unsent: number;
}

/** @param pods those that can be asked: all, or only this machine's. */
export async function whatIsLeft(watching: Watching, pods: readonly PodView[]): Promise<IncompletePod[]> {
  const { stopped, coordination } = watching;
  if (stopped.length === 0) return [];
  const outboxes = await Promise.all(pods.map((pod) => pod.outboxByPod().catch(() => new Map<number, number>())));
  return Promise.all(
    stopped.map(async (failure) => {
      const { pod } = failure;
      const now = await pods
        .find(({ index }) => index === pod)
        ?.reading()
        .catch(() => undefined);
      const reading = now ?? coordination?.lastHeard[pod];
      const undelivered = outboxes.reduce((sum, byPod) => sum + (byPod.get(pod) ?? 0), 0);
      return {
        ...failure,
        left: reading && pending(reading),
        isCounted: now !== undefined,
        undelivered,
        unsent: reading?.outbox ?? 0,
      };
    }),
  );
}

const pending = ({ queued, retrying, leased }: PodReading): number => queued + retrying + leased;

/** `pod 1 (QUEUE_EMPTIED), 12 URLs left when last heard of, 3 links for it wait in other pods` */
export function incompleteText({ pod, code, left, isCounted, undelivered, unsent }: IncompletePod): string {
  const parts = [
    left === undefined ? 'URLs left unknown' : `${countOf(left, 'URL')} left${isCounted ? '' : ' when last heard of'}`,
    ...(undelivered > 0 ? [`${countOf(undelivered, 'link')} for it wait in other pods`] : []),
    ...(unsent > 0 ? [`${countOf(unsent, 'link')} of its pages not sent to other pods`] : []),
  ];
  return `pod ${pod} (${code}), ${parts.join(', ')}`;
}

/** What follows how the run ended in its last line; '' when nothing is incomplete. */
export function incompleteLine({ incomplete, dropped }: Pick<PodsResult, 'incomplete' | 'dropped'>): string {
  if (incomplete.length === 0) return '';
  const links = dropped > 0 ? `; ${countOf(dropped, 'link')} dropped: the outboxes are full` : '';
  return `; incomplete: ${incomplete.map((one) => incompleteText(one)).join('; ')}${links}`;
}

/** `{log_dir}/report.json`: how the last run ended. Never fails the run. */
export async function writeReport(
  config: PodsConfig & { readonly crawl: string },
  result: PodsResult,
  warn: (message: string) => void,
): Promise<void> {
  const file = join(config.logDir, 'report.json');
  const { isWhole: _, ...rest } = result;
  const report = { crawl: config.crawl, ended: new Date().toISOString(), ...rest };
  try {
    await writeWhole(file, `${JSON.stringify(report, undefined, 2)}\n`);
  } catch (error) {
    warn(`${file} could not be written: ${(error as Error).message}`);
  }
}
