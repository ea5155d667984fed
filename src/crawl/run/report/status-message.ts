// The regular status line of a crawl.
import { CrawlError } from '../../../errors.js';
import type { AutoscaledPool } from '../../../dispatch/autoscaled-pool.js';
import type { RequestQueue } from '../../../frontier/queue/request-queue.js';
import type { Log } from '../../../observe/log.js';
import type { ResolvedOptions } from '../../options/options.js';
import type { Statistics, StatisticState } from './statistics.js';
import type { Time } from '../../time.js';
import { withinMs } from '../time-limit.js';

const CALLBACK_LIMIT_MS = 5_000;

export interface StatusMessageParts {
  readonly options: Pick<
    ResolvedOptions,
    'statusMessageLoggingIntervalMs' | 'statusMessageCallback' | 'maxRequestsPerCrawl'
  >;
  readonly log: Log;
  readonly stats: Statistics;
  readonly crawler: unknown;
  readonly queue: RequestQueue;
  readonly pool: AutoscaledPool;
  readonly time: Time;
}

export function startStatusMessages(parts: StatusMessageParts): { close(): Promise<void> } {
  const { options, log, stats, time } = parts;
  let previousState: StatisticState = { ...stats.state };
  let telling: Promise<void> = Promise.resolve();

  async function tell(): Promise<void> {
    const message = await statusMessage(parts);
    const state = { ...stats.state };
    if (options.statusMessageCallback) {
      const told = { state, previousState, crawler: parts.crawler, message };
      const late = () => new CrawlError('HANDLER_TIMEOUT', 'statusMessageCallback did not end in time');
      await withinMs(time, CALLBACK_LIMIT_MS, () => options.statusMessageCallback?.(told), late);
    } else log.info(message);
    previousState = state;
  }

  const end = time.every(options.statusMessageLoggingIntervalMs, () => {
    telling = tell().catch((error: unknown) => log.exception(error as Error, 'the status message failed'));
  });

  return {
    async close() {
      end();
      await telling;
    },
  };
}

async function statusMessage({ queue, stats, pool, options }: StatusMessageParts): Promise<string> {
  const { accepted, skipped, done, failed } = (await queue.overview()).counters;
  const total = Math.min(accepted - skipped, options.maxRequestsPerCrawl);
  const perMinute = stats.calculate().requestsFinishedPerMinute;
  return (
    `Crawled ${done + failed}/${total} pages, ${failed} failed, ${perMinute} per minute, ` +
    `${pool.currentConcurrency} at once (desired ${pool.desiredConcurrency}).`
  );
}
