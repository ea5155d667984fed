// A batch in the console: what was written is shown, and its counts are those of the terminal's monitor.
// Promise: without --dashboard nothing of it runs.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TaskMonitor } from '../../dispatch/dispatcher.js';
import type { ProgressFigures } from '../../observe/progress.js';
import type { Outcome } from '../../serve/jobs/store.js';
import { startDashboard } from '../dashboard.js';
import { itemOf } from './items.js';
import type { BatchOutput } from './output.js';
import type { ResultView } from './result-view.js';
import type { BatchSettings } from './run.js';

export interface BatchWatch {
  /** The same output; what goes through it is shown, too. */
  over(output: BatchOutput): BatchOutput;
  /** The same monitor; it counts for the console, too. */
  monitor(shown: TaskMonitor | undefined): TaskMonitor | undefined;
  close(isInterrupted: boolean): Promise<void>;
}

const UNWATCHED: BatchWatch = {
  over: (output) => output,
  monitor: (shown) => shown,
  close: async () => undefined,
};

/** What the console shows of a page whose format is no list of fields. */
export const PAGE_FIELDS = ['url', 'loadedUrl', 'statusCode', 'title', 'metadata', 'markdown', 'links'];

export async function watchBatch(settings: BatchSettings, stop: () => void): Promise<BatchWatch> {
  const { dashboard: flags, inputs, fields, format } = settings;
  if (!flags?.dashboard && !flags?.open) return UNWATCHED;
  const folder = await mkdtemp(path.join(tmpdir(), 'orcrawl-console-'));
  const counts = { queued: 0, active: 0, done: 0, failed: 0 };
  const shownFields = format === 'jsonl' || format === 'csv' ? fields : PAGE_FIELDS;
  const dashboard = (await startDashboard(flags, {
    mode: 'batch',
    folder,
    isFresh: true,
    url: nameOf(inputs),
    request: { format, fields },
    figures: (): ProgressFigures => ({
      done: counts.done,
      failed: counts.failed,
      queued: Math.max(0, counts.queued - counts.active),
      concurrency: counts.active,
    }),
    stop,
  }))!;
  return {
    over: (output) => ({
      get isLeft() {
        return output.isLeft;
      },
      async write(result) {
        const isWritten = await output.write(result);
        await dashboard.put(outcomeOf(result, shownFields));
        return isWritten;
      },
      close: () => output.close(),
    }),
    monitor: (shown) => counting(shown, counts),
    async close(isInterrupted) {
      await dashboard.end(isInterrupted ? 'cancelled' : 'completed');
      await dashboard.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function counting(
  shown: TaskMonitor | undefined,
  counts: { queued: number; active: number; done: number; failed: number },
): TaskMonitor {
  const running = new Set<string>();
  return {
    begin: () => shown?.begin() ?? (() => undefined),
    queued(taskId, url) {
      counts.queued++;
      shown?.queued(taskId, url);
    },
    started(taskId, url) {
      running.add(taskId);
      counts.active = running.size;
      shown?.started(taskId, url);
    },
    ended(taskId, end) {
      running.delete(taskId);
      counts.active = running.size;
      counts.queued--;
      counts[end.success ? 'done' : 'failed']++;
      shown?.ended(taskId, end);
    },
    memory: (percent, isPaused) => shown?.memory(percent, isPaused),
  };
}

function outcomeOf(result: ResultView, fields: readonly string[]): Outcome {
  const { url, statusCode, bytes, timings, errorCode, errorMessage, headers, dispatch } = result;
  const type = typeof headers['content-type'] === 'string' ? headers['content-type'] : undefined;
  const key = String(dispatch.index);
  const facts = { status: statusCode ?? undefined, bytes, ms: timings.totalMs, type };
  if (!result.success) {
    const failure = { code: errorCode ?? 'HANDLER_FAILED', error: errorMessage ?? '' };
    return { kind: 'error', key, facts, error: { id: key, timestamp: result.fetchedAt, url, ...failure } };
  }
  const document = JSON.stringify(itemOf(result, fields));
  return { kind: 'document', key, url, facts: { ...facts, title: result.metadata?.title || undefined }, document };
}

/** The first thing that was given, for a title. */
function nameOf(inputs: BatchSettings['inputs']): string {
  const [first] = inputs;
  return first === undefined || first.kind === 'stdin' ? 'standard input' : first.text;
}
