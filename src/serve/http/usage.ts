// Pages per token and day, for tokens that have a limit. Kept with the jobs: a restart does not begin anew, and servers
// that share their jobs count together.
// Promise: however many requests come at once, no more pages are granted than the token has left.
import type { Job, JobStore } from '../jobs/store.js';
import { ApiError } from '../errors.js';
import { OWNER_NAME, type Token } from './tokens.js';

export interface Usage {
  /** How many pages the token may still fetch today. */
  left(token: Token): Promise<number>;
  /** Counts pages; throws a 429 when there are not as many left. A negative number gives pages back. */
  charge(token: Token, pages: number): Promise<void>;
  /** Counts as many of the pages as are left, for a job that begins; throws a 429 when there are none. */
  reserve(token: Token, pages: number): Promise<number>;
  /** A job has ended: what it was charged for and did not fetch is given back, what it fetched beyond that is counted. */
  settle(job: Job): Promise<void>;
}

export function createUsage({ values, change }: Pick<JobStore, 'values' | 'change'>): Usage {
  const keyOf = (name: string, atMs: number): string => `pages ${new Date(atMs).toISOString().slice(0, 10)} ${name}`;
  const today = ({ name }: Token): string => keyOf(name, Date.now());

  async function left(token: Token): Promise<number> {
    if (token.pagesPerDay === Infinity) return Infinity;
    return Math.max(0, token.pagesPerDay - Number((await values.peek(today(token))) ?? 0));
  }

  async function reserve(token: Token, pages: number): Promise<number> {
    if (token.pagesPerDay === Infinity) return pages;
    const key = today(token);
    const over = Math.max(0, (await values.add(key, pages)) - token.pagesPerDay);
    const granted = Math.max(0, pages - over);
    if (granted < pages) await values.add(key, granted - pages);
    if (granted === 0) throw limitReached(token);
    return granted;
  }

  return {
    left,
    reserve,
    async charge(token, pages) {
      if (token.pagesPerDay === Infinity) return;
      const key = today(token);
      if ((await values.add(key, pages)) <= token.pagesPerDay) return;
      await values.add(key, -pages);
      throw limitReached(token);
    },
    async settle({ id, owner, kind, createdAtMs, completed, charged = 0 }) {
      // Batches and extractions were charged for their lists.
      if (owner === OWNER_NAME || kind === 'batch' || kind === 'extract' || completed === charged) return;
      await change(id, () => ({ charged: completed }));
      await values.add(keyOf(owner, createdAtMs), completed - charged);
    },
  };
}

function limitReached({ name, pagesPerDay }: Token): ApiError {
  const midnight = new Date();
  midnight.setUTCHours(24, 0, 0, 0);
  const waitSecs = Math.ceil((midnight.getTime() - Date.now()) / 1000);
  const message = `The token "${name}" may fetch ${pagesPerDay} pages per day, and not as many are left.`;
  return new ApiError(429, message, 'LIMIT_REACHED', undefined, waitSecs);
}
