// `batch --processes N`: the list, the queue and the output are here, the visits in other processes.
import { entryFile } from '../../../base/entry-file.js';
import { createBatchCopies } from '../../../crawl/batch/copies.js';
import { startSpread } from '../../../crawl/batch/processes/spread.js';
import { streamOf } from '../../../crawl/batch/results.js';
import { resolveRunConfig } from '../../../crawl/batch/run-config.js';
import { resultOf } from '../../../crawl/batch/tasks.js';
import { systemTime } from '../../../crawl/time.js';
import type { TaskMonitor } from '../../../dispatch/dispatcher.js';
import type { UrlItem } from '../../../index.js';
import { PAGE_FIELDS } from '../dashboard.js';
import { limiterOf } from '../dispatcher.js';
import { partsWanted, type ResultView, sentResult, type SentResult, viewOf } from '../result-view.js';
import type { BatchSettings, Visits } from '../run.js';
import { told, type ToldResult, type VisitorSettings } from './settings.js';

export function startProcesses(
  settings: BatchSettings,
  items: AsyncIterable<UrlItem>,
  monitor: TaskMonitor | undefined,
): Visits {
  const { format, fields, config, crawler, delay, memoryThresholdPercent, dashboard } = settings;
  const usesBrowser = crawler?.engine !== undefined;
  const resolved = resolveRunConfig(config, usesBrowser);
  const permits = Math.min(settings.permits, settings.maxConnections ?? Infinity);
  const isShown = dashboard?.dashboard || dashboard?.open;
  const wanted = [...new Set([...partsWanted(format, fields), ...(isShown ? partsWanted('jsonl', PAGE_FIELDS) : [])])];
  const copies = (settings.duplicates ?? 'keep') !== 'keep' ? createBatchCopies(systemTime.wallMs) : undefined;
  const lacks = new WeakMap<ResultView, SentResult['lack']>();
  const stream = streamOf<ToldResult>((parts) =>
    startSpread<ToldResult>({
      ...parts,
      items,
      config: resolved,
      permits,
      limiter: limiterOf(settings),
      monitor,
      processes: Math.min(settings.processes ?? 1, permits),
      entry: entryFile(new URL('./child.js', import.meta.url)),
      settings: (share): VisitorSettings => {
        return {
          permits: share,
          delay,
          memoryThresholdPercent,
          config,
          crawler,
          format,
          fields,
          wanted,
          compares: copies !== undefined,
          tells: !!monitor,
        };
      },
      time: systemTime,
      failed(task, error, taskId) {
        const world = { taskId, memoryUsage: 0, engine: usesBrowser ? ('browser' as const) : ('http' as const) };
        return told(sentResult(resultOf(task, error, { ...world, time: systemTime }), wanted, undefined));
      },
    }),
  );
  async function compared(sent: ToldResult): Promise<SentResult> {
    const { facts, simhash } = sent;
    const original = simhash && (await copies?.see(String(facts.dispatch.index), facts.url, simhash));
    return original ? { ...sent, facts: { ...facts, duplicateOf: original } } : sent;
  }

  // By hand: a generator could not be left while it waits.
  const results: Visits['results'] = {
    async next() {
      const next = await stream.next();
      if (next.done) return { done: true, value: undefined };
      const view = viewOf(await compared(next.value));
      lacks.set(view, next.value.lack);
      return { done: false, value: view };
    },
    async return() {
      await stream.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => results,
  };
  return {
    results,
    lackOf: (result) => lacks.get(result),
    async close() {
      await stream.return?.();
      await copies?.close();
    },
  };
}
