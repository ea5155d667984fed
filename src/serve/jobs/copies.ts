// Near copies among the pages of one job, by the code of batches and crawls.
// Promise: what is known of them lies in the folder of the job, so one that goes on after a crash goes on comparing.
import path from 'node:path';
import { createBatchCopies } from '../../crawl/batch/copies.js';
import { systemTime } from '../../crawl/time.js';
import { normaliseContent } from '../../fresh/change/normalise.js';
import { simhashOf } from '../../fresh/duplicates/simhash.js';
import type { DuplicateOf } from '../../fresh/page-change.js';
import { withoutLogin } from '../../request/login.js';
import type { PageWish } from '../pages/formats.js';
import { readingFor } from '../pages/reading.js';

export type CopiesRule = 'keep' | 'mark' | 'skip';

/** A page that came. */
export interface ComparedPage {
  readonly url: string;
  readonly statusCode: number | null;
  /** By which it is compared with others. */
  readonly compared: string;
}

export interface JobCopies {
  /** The page that this one nearly repeats, of those that this server saw for the job. */
  see(key: string, page: ComparedPage): Promise<DuplicateOf | undefined>;
  /** Whether links to a page are left out: it belongs to a mirror, or is a print version or the like. */
  leavesOut(url: string): boolean;
  readonly skips: boolean;
  close(): Promise<void>;
}

/** Undefined where nothing is compared. */
export function openJobCopies(rule: CopiesRule | undefined, jobFolder: string, wish: PageWish): JobCopies | undefined {
  if (rule === undefined || rule === 'keep') return undefined;
  const copies = createBatchCopies(systemTime.wallMs, path.join(jobFolder, 'copies'));
  const skips = rule === 'skip';
  return {
    skips,
    async see(key, page) {
      if ((page.statusCode ?? 0) >= 400) return undefined;
      // The selectors of the request decide what is compared, too.
      const compared = readingFor(wish, () => page.compared);
      return copies.see(key, withoutLogin(page.url).url, simhashOf(normaliseContent(compared)));
    },
    leavesOut: (url) => skips && copies.isCopy(url),
    close: () => copies.close(),
  };
}
