// What failed in a crawl, for its report and its failed.jsonl.
// Promise: one line per URL that has failed; what `retry-failed` queued again and was fetched since is not among them.
import { createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { throughDraft } from '../../base/whole-file.js';
import type { Configuration } from '../../configuration.js';
import type { RequestQueue } from '../../frontier/queue/request-queue.js';
import { Dataset } from '../../index.js';
import { fingerprintOf } from '../../request/fingerprint.js';
import { normalizeUrl } from '../../request/url.js';
import { FAILED_DATASET } from './folder.js';
import { createReasons, type FailedItem, type ReasonCount } from './report.js';
import { type ResultFile, writeResultFile } from './result-file.js';

const FAILED_FILE = 'failed.jsonl';

export interface Failures {
  readonly failures: readonly ReasonCount[];
  readonly failedFile?: ResultFile;
}

/** Counts the failures of a crawl by code and writes them down; `failed` is how many the queue has. */
export async function failuresOf(
  config: Configuration,
  folder: string,
  queue: RequestQueue,
  failed: number,
): Promise<Failures> {
  if (failed === 0) {
    await rm(path.join(folder, FAILED_FILE), { force: true });
    return { failures: [] };
  }
  const dataset = await Dataset.open<FailedItem>(FAILED_DATASET, { config });
  // The dataset also has the failures of URLs that were queued again.
  const isWhole = ((await dataset.getInfo())?.itemCount ?? 0) === failed;
  const reasons = createReasons();
  for await (const { url, code, message } of isWhole ? dataset : latest(dataset, queue)) {
    reasons.add(code, url, message.includes(url) ? message : `${url}: ${message}`);
  }
  const failedFile = isWhole
    ? await writeResultFile(dataset, folder, 'jsonl', { name: FAILED_FILE })
    : await writeLines(path.join(folder, FAILED_FILE), latest(dataset, queue));
  return { failures: reasons.list(), failedFile };
}

/** The last failure of each URL that still counts as failed. */
async function* latest(dataset: Dataset<FailedItem>, queue: RequestQueue): AsyncGenerator<FailedItem> {
  const lastOf = new Map<string, number>();
  let index = 0;
  for await (const { url } of dataset) lastOf.set(url, index++);
  index = 0;
  for await (const item of dataset) {
    if (lastOf.get(item.url) !== index++) continue;
    const [found] = await queue.find([fingerprintOf(normalizeUrl(item.url))]);
    // A URL with a login is written without it, and not found by its text.
    if (found === undefined || found.state === 'failed') yield item;
  }
}

async function writeLines(file: string, items: AsyncIterable<FailedItem>): Promise<ResultFile> {
  const lines = async function* () {
    for await (const item of items) yield `${JSON.stringify(item)}\n`;
  };
  await throughDraft(file, (draft) => pipeline(Readable.from(lines()), createWriteStream(draft)));
  return { path: file, bytes: (await stat(file)).size };
}
