// A check of a monitor: its targets as scrapes and crawls that track changes, one after the other, in one job.
// Promise: each page is kept once, with the change since the check before; also when the check is killed and goes on.
import { randomUUID } from 'node:crypto';
import type { BatchRequest, CrawlRequest, ScrapeOptions } from '../api/schemas.js';
import { startBatchJob } from '../jobs/batch-job.js';
import { startCrawlJob } from '../jobs/crawl-job.js';
import type { JobRun, JobTools } from '../jobs/runner.js';
import { type Job, type JobPages, type JobStore, type Outcome, queuesOf, type ResultPage } from '../jobs/store.js';
import { LIMITS, limitReached } from '../../limits.js';
import type { Document } from '../pages/document.js';
import { versionName } from '../pages/finish.js';
import {
  type CheckPage,
  type CheckRequest,
  type CheckSummary,
  noPages,
  type PageStatus,
  type Target,
} from './monitor.js';

const READ_AT_ONCE = { maxItems: 500, maxBytes: 10_000_000 };

export function startCheckJob(job: Job, tools: JobTools): JobRun {
  const { store } = tools;
  const { monitorId, previousId, maxPages } = job.request as CheckRequest;
  let now: JobRun | undefined;

  async function checkTarget(target: Target, index: number, signal: AbortSignal): Promise<void> {
    const own = { ...job, id: queuesOf(job)[index]! };
    const scrapeOptions = trackedOptions(target.scrapeOptions, monitorId, target.id);
    const startBatch = (urls: readonly string[]): JobRun =>
      startBatchJob({ ...own, request: scrapeOptions satisfies BatchRequest }, toolsFor(target, urls));
    const checked = await pagesOf(store, job.id, target.id);
    const { completed } = (await store.read(job.id)) ?? job;
    const room = maxPages - completed + checked.size;
    if (room <= 0) return;
    if (target.type === 'scrape') {
      now = startBatch(target.urls.slice(0, room).filter((url) => !checked.has(url)));
      return now.run(signal);
    }
    const before = await pagesOf(store, previousId, target.id);
    const limit = Math.min(target.crawlOptions?.limit ?? room, room);
    const request: CrawlRequest = { ...target.crawlOptions, url: target.url, limit, scrapeOptions };
    now = startCrawlJob({ ...own, request }, toolsFor(target, []));
    await now.run(signal);
    if (signal.aborted) return;
    const found = await pagesOf(store, job.id, target.id);
    // Pages that the crawl did not come to any more: whether they are gone, only they can tell.
    const missed = [...before].filter(([url, status]) => status !== 'removed' && !found.has(url)).map(([url]) => url);
    now = startBatch(missed.slice(0, Math.max(0, room - found.size)));
    await now.run(signal);
  }

  /** What a scrape or a crawl sees: its own list, and a store where its documents become pages of the check. */
  function toolsFor(target: Target, urls: readonly string[]): JobTools {
    const pages: JobPages = {
      ...store.pages,
      pending: async (_id, from, max) => {
        const some = urls.slice(from, from + max).map((url, place) => ({ index: from + place, url }));
        return { urls: some, next: from + some.length };
      },
      put: (_id, outcomes) =>
        store.pages.put(
          job.id,
          outcomes.map((outcome) => pageOutcome(target, outcome)),
        ),
    };
    return { ...tools, store: { ...store, pages }, onPages: (_id, outcomes) => tools.onPages(job.id, outcomes) };
  }

  return {
    async run(signal) {
      const { urls: list } = await store.pages.pending(job.id, 0, job.urls);
      for (const { index, url: text } of list) {
        await checkTarget(JSON.parse(text) as Target, index, signal);
        if (signal.aborted) return;
      }
      const summary = await summaryOf(store, job.id);
      if (summary.totalPages >= LIMITS.monitorPages.max) limitReached('monitorPages');
      await store.change(job.id, () => ({ summary }));
    },
    total: async () => undefined,
    setShare: (slots) => now?.setShare(slots),
  };
}

const tagOf = (monitorId: string, targetId: string): string => `monitor ${monitorId} ${targetId}`;

/** Empties the versions of pages that a check of a monitor knew, when the monitor is gone. */
export async function forgetVersions(store: JobStore, { id, owner, request }: Job): Promise<void> {
  const { monitorId } = request as CheckRequest;
  if (await store.monitors.read(monitorId)) return;
  for await (const { targetId, url } of pagesIn(store, id)) {
    const name = versionName(owner, tagOf(monitorId, targetId), url);
    if (await store.values.peek(name)) await store.values.swap(name, '');
  }
}

/** The formats that were asked for, and what changed of the page since the last check of this target. */
export function trackedOptions(given: ScrapeOptions | undefined, monitorId: string, targetId: string): ScrapeOptions {
  const { formats = ['markdown'], ...options } = given ?? {};
  const nameOf = (format: (typeof formats)[number]): string => (typeof format === 'string' ? format : format.type);
  const asked = formats.find((format) => typeof format !== 'string' && format.type === 'changeTracking');
  const tracking = typeof asked === 'object' && asked.type === 'changeTracking' ? asked : undefined;
  const hasJson = formats.some((format) => nameOf(format) === 'json');
  const modes = tracking?.modes ?? (hasJson ? (['json'] as const) : (['git-diff'] as const));
  return {
    ...options,
    formats: [
      ...formats.filter((format) => nameOf(format) !== 'changeTracking'),
      { ...tracking, type: 'changeTracking', modes: [...modes], tag: tagOf(monitorId, targetId) },
    ],
  };
}

function pageOutcome(target: Target, outcome: Outcome): Outcome {
  const url = outcome.kind === 'error' ? outcome.error.url : (outcome.url ?? '');
  // By its URL: the place in a list is another one after a restart.
  const key = `${target.id} ${url}`;
  if (outcome.kind === 'robots') return { ...outcome, key };
  const found =
    outcome.kind === 'error' ? failed(outcome.error.error) : findings(JSON.parse(outcome.document) as Document);
  const page: CheckPage = { id: randomUUID(), targetId: target.id, url, ...found, createdAt: new Date().toISOString() };
  return { kind: 'document', key, url, facts: outcome.facts ?? {}, document: JSON.stringify(page) };
}

type Findings = Omit<CheckPage, 'id' | 'targetId' | 'url' | 'createdAt'>;

const failed = (error: string): Findings => ({
  status: 'error',
  statusCode: null,
  error,
  metadata: {},
  diff: null,
  snapshot: null,
});

function findings({ changeTracking, json, metadata }: Document): Findings {
  const statusCode = typeof metadata.statusCode === 'number' ? metadata.statusCode : null;
  const seen = { statusCode, metadata, snapshot: json === undefined ? null : { json } };
  if (!changeTracking) return { ...failed(`status ${statusCode}`), ...seen };
  const {
    changeStatus,
    diff,
    json: fields,
  } = changeTracking as {
    changeStatus: Exclude<PageStatus, 'error'>;
    diff?: { text: string; json: unknown };
    json?: Record<string, unknown>;
  };
  // Fields that were asked for are what counts, where nothing else was.
  const isByFields = fields !== undefined && diff === undefined && changeStatus !== 'new';
  const status = isByFields ? (Object.keys(fields).length > 0 ? 'changed' : 'same') : changeStatus;
  const change = { ...diff, ...(fields && Object.keys(fields).length > 0 && { json: fields }) };
  return { ...seen, status, error: null, diff: status === 'changed' ? change : null };
}

async function* pagesIn(store: JobStore, id: string): AsyncGenerator<CheckPage> {
  for (let from: number | undefined = 0; from !== undefined;) {
    const page: ResultPage = await store.pages.results(id, from, READ_AT_ONCE);
    for (const text of page.documents) yield JSON.parse(text) as CheckPage;
    from = page.next;
  }
}

/** The pages of one target in a check, with what became of them. */
async function pagesOf(store: JobStore, id: string | undefined, targetId: string): Promise<Map<string, PageStatus>> {
  const found = new Map<string, PageStatus>();
  if (id === undefined) return found;
  for await (const page of pagesIn(store, id)) if (page.targetId === targetId) found.set(page.url, page.status);
  return found;
}

async function summaryOf(store: JobStore, id: string): Promise<CheckSummary> {
  const summary: Record<keyof CheckSummary, number> = { ...noPages() };
  for await (const { status } of pagesIn(store, id)) {
    summary.totalPages++;
    summary[status]++;
  }
  return summary;
}
