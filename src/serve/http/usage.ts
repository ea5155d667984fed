// Pages per token and day, for tokens that have a limit. Kept with the jobs, so that a restart does not begin anew.
import type { JobPages } from '../jobs/store.js';
import { ApiError } from '../errors.js';
import { OWNER_NAME, type Token } from './tokens.js';

export interface Usage {
  /** How many pages the token may still fetch today. */
  left(token: Token): Promise<number>;
  /** Counts pages; throws a 429 when there are not as many left. */
  charge(token: Token, pages: number): Promise<void>;
  /** Counts pages that a crawl of the token of this name fetched. */
  note(name: string, pages: number): Promise<void>;
}

export function createUsage(kept: Pick<JobPages, 'swap'>): Usage {
  const known = new Map<string, Promise<number>>();
  const nameOf = ({ name }: Pick<Token, 'name'>): string => `usage ${name} ${new Date().toISOString().slice(0, 10)}`;

  function used(key: string): Promise<number> {
    let count = known.get(key);
    if (!count) {
      if (known.size > 2_000) known.clear();
      known.set(key, (count = kept.swap(key, '').then((text) => (text ? Number(text) : 0))));
    }
    return count;
  }

  async function keep(key: string, count: number): Promise<void> {
    known.set(key, Promise.resolve(count));
    await kept.swap(key, String(count));
  }

  return {
    async note(name, pages) {
      if (name === OWNER_NAME || pages === 0) return;
      const key = nameOf({ name });
      await keep(key, (await used(key)) + pages);
    },
    async left(token) {
      return token.pagesPerDay === Infinity ? Infinity : token.pagesPerDay - (await used(nameOf(token)));
    },
    async charge(token, pages) {
      if (token.pagesPerDay === Infinity) return;
      const key = nameOf(token);
      const count = (await used(key)) + pages;
      if (count > token.pagesPerDay) {
        const midnight = new Date();
        midnight.setUTCHours(24, 0, 0, 0);
        const waitSecs = Math.ceil((midnight.getTime() - Date.now()) / 1000);
        const message = `The token "${token.name}" may fetch ${token.pagesPerDay} pages per day, and has.`;
        throw new ApiError(429, message, 'LIMIT_REACHED', undefined, waitSecs);
      }
      await keep(key, count);
    },
  };
}
