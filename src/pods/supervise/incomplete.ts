// What a run left undone because pods stopped: for the last line, the log and `report.json`.
// Promise: a number that could not be read at the end is marked; nothing left is omitted.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from '../../base/whole-file.js';
import type { PodReading } from '../../frontier/redis/pod-operations.js';
import { countOf } from '../../observe/figures.js';
import type { PodsConfig } from '../config/types.js';
import type { PodsResult } from './orchestrator.js';
import type { PodFailure, PodView } from '../stores/pod-view.js';
import type { Watching } from './watching.js';

export interface IncompletePod extends PodFailure {
  /** Unfinished URLs; undefined if never reported. */
  readonly left: number | undefined;
  /** False if its store no longer answers: then `left` is the last known value. */
  readonly isCounted: boolean;
  /** Links for it waiting in other pods. */
  readonly undelivered: number;
  /** Links for other pods waiting in its store. */
  readonly unsent: number;
}

/**
 * The pods whose store forgot pages since the end was decided. Workers repeat what a store has forgotten, but they have
 * ended by now: only another run can.
 *
 * @param before pages done per pod when the end was decided.
 */
export function rolledBack(before: readonly number[], now: readonly (PodReading | undefined)[]): PodFailure[] {
  return before.flatMap((done, pod) => {
    const forgotten = done - (now[pod]?.done ?? done);
    if (forgotten <= 0) return [];
    const message =
      `its store came back without ${countOf(forgotten, 'page')} after the workers had ended: ` +
      'use --resume to crawl what it forgot';
    return [{ pod, code: 'QUEUE_ROLLED_BACK' as const, message }];
  });
}

/** @param pods the readable ones: all, or only this machine's. */
export async function whatIsLeft(
  { stopped, coordination }: Pick<Watching, 'stopped' | 'coordination'>,
  pods: readonly PodView[],
): Promise<IncompletePod[]> {
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

/** The end of the last line; '' if nothing is incomplete. */
export function incompleteLine({ incomplete, dropped }: Pick<PodsResult, 'incomplete' | 'dropped'>): string {
  if (incomplete.length === 0) return '';
  const links = dropped > 0 ? `; ${countOf(dropped, 'link')} dropped: the outboxes are full` : '';
  return `; incomplete: ${incomplete.map((one) => incompleteText(one)).join('; ')}${links}`;
}

const REPORT = 'report.json';
const MAX_REPORT_BYTES = 16 * 1024 * 1024;

/** The report of the last run; undefined if there is none. */
export async function readReport(config: PodsConfig): Promise<Readonly<Record<string, unknown>> | undefined> {
  try {
    const text = await readFile(join(config.logDir, REPORT), 'utf8');
    return text.length > MAX_REPORT_BYTES ? undefined : (JSON.parse(text) as Record<string, unknown>);
  } catch {
    return undefined;
  }
}

/** `{log_dir}/report.json`: how the last run ended. Never fails the run. */
export async function writeReport(
  config: PodsConfig & { readonly crawl: string },
  result: PodsResult,
  warn: (message: string) => void,
): Promise<void> {
  const file = join(config.logDir, REPORT);
  const { isWhole: _, ...rest } = result;
  const report = { crawl: config.crawl, ended: new Date().toISOString(), ...rest };
  try {
    await writeWhole(file, `${JSON.stringify(report, undefined, 2)}\n`);
  } catch (error) {
    warn(`${file} could not be written: ${(error as Error).message}`);
  }
}
