// A batch of the API: the URLs of its list that have no outcome yet, through the library's batch run.
// Promise: an outcome is kept under its place in the list, so a batch that begins again goes on where it was.
import { randomUUID } from 'node:crypto';
import type { BatchRequest, ScrapeOptions } from '../api/schemas.js';
import type { FetchedPage } from '../pages/fetcher.js';
import { pageWish } from '../pages/formats.js';
import { openJobCopies } from './copies.js';
import { crawlFolder } from './crawl-job.js';
import { createOutcomeWriter } from './outcome-writer.js';
import type { JobRun, JobTools } from './runner.js';
import { batchKey, type Job, type Outcome } from './store.js';

const PAGE = 500;
/** Documents that wait to be kept. */
const MAX_UNWRITTEN = 20;

export function startBatchJob(job: Job, tools: JobTools): JobRun {
  const { store, fetcher } = tools;
  const { maxConcurrency, respectRobots, duplicates, ...options } = job.request as BatchRequest;
  const wish = pageWish(options as ScrapeOptions, fetcher.abilities, job.id);
  const writer = createOutcomeWriter(store, job.id, (outcomes) => tools.onPages(job.id, outcomes));
  const copies = openJobCopies(duplicates, crawlFolder(tools.dataDir, job.id), wish);
  const underWay = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  let next = 0;
  let begun = 0;
  let ended = 0;
  let most = 0;

  async function written(): Promise<void> {
    await Promise.all(underWay);
    underWay.clear();
    if (failure) throw failure.error;
  }

  async function* pending(): AsyncGenerator<{ index: number; url: string }> {
    for (;;) {
      const page = await store.pages.pending(job.id, next, PAGE);
      if (page.next === next) return;
      ({ next } = page);
      for (const one of page.urls) {
        begun++;
        yield one;
      }
    }
  }

  /** Undefined for a near copy that is left out. */
  async function outcomeOf({ index, url, document, source, facts = {}, error }: FetchedPage) {
    const key = batchKey(index);
    if (!document) return { kind: 'error', key, facts, error: troubleOf(url, error!) } satisfies Outcome;
    const duplicateOf = await copies?.see(key, source!);
    if (duplicateOf && copies!.skips) return undefined;
    if (duplicateOf) document.metadata.duplicateOf = duplicateOf;
    return { kind: 'document', key, url, facts, document: JSON.stringify(document) } satisfies Outcome;
  }

  async function runAll(signal: AbortSignal): Promise<void> {
    const slots = tools.share();
    most = Math.min(maxConcurrency ?? slots, slots);
    const how = { concurrency: most, signal, owner: job.owner, respectRobots };
    // URLs may be appended while the last ones are fetched.
    for (let before = -1; before !== next && !signal.aborted;) {
      before = next;
      for await (const page of fetcher.scrapeMany(pending(), wish, how)) {
        ended++;
        const outcome = await outcomeOf(page);
        if (!outcome) continue;
        underWay.add(writer.put(outcome).catch((error: unknown) => void (failure ??= { error })));
        if (underWay.size >= MAX_UNWRITTEN) await written();
      }
      await written();
    }
  }

  return {
    run: (signal) => runAll(signal).finally(() => copies?.close()),
    total: async () => undefined,
    setShare: () => undefined,
    async figures() {
      const { total, completed, failed } = (await store.read(job.id)) ?? job;
      const concurrency = Math.min(most, begun - ended);
      return { concurrency, queued: Math.max(0, total - completed - failed - concurrency) };
    },
  };
}

function troubleOf(url: string, { code, message }: { code: string; message: string }) {
  return { id: randomUUID(), timestamp: new Date().toISOString(), url, code, error: message };
}
