// A monitor as it is kept, what its checks are asked for, and what they find. Types, and what follows from them alone.
import type { CrawlRequest, ScrapeOptions, WebhookWish } from '../api/schemas.js';
import type { NewJob } from '../jobs/store.js';

export interface ScrapeTarget {
  readonly id: string;
  readonly type: 'scrape';
  readonly urls: readonly string[];
  readonly scrapeOptions?: ScrapeOptions | undefined;
}

export interface CrawlTarget {
  readonly id: string;
  readonly type: 'crawl';
  readonly url: string;
  readonly crawlOptions?: Partial<CrawlRequest> | undefined;
  readonly scrapeOptions?: ScrapeOptions | undefined;
}

export type Target = ScrapeTarget | CrawlTarget;

export interface Schedule {
  readonly cron: string;
  readonly timezone: string;
}

export interface MonitorWebhook {
  readonly url: string;
  readonly headers?: Record<string, string> | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly events?: readonly MonitorEvent[] | undefined;
}

export const MONITOR_EVENTS = ['monitor.page', 'monitor.check.completed'] as const;
export type MonitorEvent = (typeof MONITOR_EVENTS)[number];

export interface Monitor {
  readonly id: string;
  /** The name of the token that made it, and how many pages a day that token may fetch; null for any number. */
  readonly owner: string;
  readonly pagesPerDay: number | null;
  readonly name: string;
  readonly status: 'active' | 'paused';
  readonly schedule: Schedule;
  readonly targets: readonly Target[];
  readonly webhook?: MonitorWebhook | undefined;
  readonly retentionDays: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Undefined while it is paused. */
  readonly nextRunAtMs?: number | undefined;
  readonly lastRunAtMs?: number | undefined;
  /** The check that runs, or the last one until it was settled. */
  readonly currentCheckId?: string | undefined;
  /** The last check that ended, and what it found. */
  readonly lastCheckId?: string | undefined;
  readonly lastCheckSummary?: CheckSummary | undefined;
}

export const PAGE_STATUSES = ['same', 'changed', 'new', 'removed', 'error'] as const;
export type PageStatus = (typeof PAGE_STATUSES)[number];
export type CheckSummary = { readonly totalPages: number } & Readonly<Record<PageStatus, number>>;

export interface CheckPage {
  readonly id: string;
  readonly targetId: string;
  readonly url: string;
  readonly status: PageStatus;
  readonly statusCode: number | null;
  readonly error: string | null;
  readonly metadata: unknown;
  readonly diff: unknown;
  readonly snapshot: unknown;
  readonly createdAt: string;
}

/** The request of a job that is a check. Its targets are the job's list, each as JSON. */
export interface CheckRequest {
  readonly monitorId: string;
  readonly trigger: 'scheduled' | 'manual';
  readonly scheduledForMs: number | null;
  readonly retentionMs: number;
  readonly maxPages: number;
  /** The check before this one, whose pages are looked for again. */
  readonly previousId?: string | undefined;
  readonly targets: readonly Pick<Target, 'id' | 'type'>[];
}

export const noPages = (): CheckSummary => ({ totalPages: 0, same: 0, changed: 0, new: 0, removed: 0, error: 0 });

const DAY_MS = 86_400_000;

/** A check of a monitor, as the job and the list that it is kept as. */
export function checkOf(
  monitor: Monitor,
  id: string,
  when: Pick<CheckRequest, 'trigger' | 'scheduledForMs' | 'maxPages'>,
): { job: NewJob; list: string[] } {
  const { targets, webhook } = monitor;
  const request: CheckRequest = {
    ...when,
    monitorId: monitor.id,
    retentionMs: monitor.retentionDays * DAY_MS,
    ...(monitor.lastCheckId !== undefined && { previousId: monitor.lastCheckId }),
    targets: targets.map((target) => ({ id: target.id, type: target.type })),
  };
  const [first] = targets;
  const url = first?.type === 'crawl' ? first.url : (first?.urls[0] ?? '');
  return {
    job: { id, kind: 'check', owner: monitor.owner, url, request, ...(webhook && { webhook: jobWebhook(webhook) }) },
    list: targets.map((target) => JSON.stringify(target)),
  };
}

/** The events of a monitor's webhook are those of a job: its pages, and its end, however it ended. */
function jobWebhook({ events = MONITOR_EVENTS, ...webhook }: MonitorWebhook): Exclude<WebhookWish, string> {
  const wanted = events.flatMap((event) =>
    event === 'monitor.page' ? (['page'] as const) : (['completed', 'failed'] as const),
  );
  return { ...webhook, events: wanted };
}
