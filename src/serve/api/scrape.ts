// POST /v2/scrape and /v1/scrape: one page, in the formats that were asked for.
import type { App } from '../app.js';
import { checked } from '../http/body.js';
import type { Call, Handle } from '../http/router.js';
import { ApiError } from '../errors.js';
import type { Document } from '../pages/document.js';
import { pageWish } from '../pages/formats.js';
import type { ScrapeHow } from '../pages/fetcher.js';
import { scrapeBody, type ScrapeOptions } from './schemas.js';

export function scrapeRoute(app: App): Handle {
  return async (call) => {
    const { url, ...options } = checked(scrapeBody, await call.json());
    return { json: { success: true, data: await scrapeFor(app, call, app.targets.check(url, 'url'), options) } };
  };
}

/** One page for one caller: in its turn, within its limits, and no longer than it waits. */
export async function scrapeFor(
  app: App,
  { token, signal }: Pick<Call, 'token' | 'signal'>,
  url: string,
  options: ScrapeOptions,
  how: ScrapeHow = {},
): Promise<Document> {
  const wish = pageWish(options, app.fetcher.abilities);
  await app.usage.charge(token, 1);
  const limitMs = (options.timeout ?? 60_000) + TURN_MS;
  const over = AbortSignal.timeout(limitMs);
  const either = AbortSignal.any([signal, over]);
  try {
    return await app.turns.take(token, either, () =>
      app.fetcher.scrape(url, wish, { owner: token.name, ...how, signal: either }),
    );
  } catch (error) {
    if (over.aborted && !signal.aborted)
      throw new ApiError(408, `The page took longer than ${limitMs} ms.`, 'FETCH_TIMEOUT');
    throw error;
  }
}

/** A retry and the wait for a turn come on top of the page's own time limit. */
const TURN_MS = 90_000;
