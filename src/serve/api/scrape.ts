// POST /v2/scrape and /v1/scrape: one page, in the formats that were asked for.
import type { App } from '../app.js';
import { checked } from '../http/body.js';
import type { Call, Handle } from '../http/router.js';
import { ApiError } from '../errors.js';
import type { Document } from '../pages/document.js';
import { pageWish } from '../pages/formats.js';
import type { ScrapeHow } from '../pages/fetcher.js';
import { warningOf } from './without-effect.js';
import { scrapeBody, type ScrapeOptions } from './schemas.js';

export function scrapeRoute(app: App): Handle {
  return async (call) => {
    const { url, ...options } = checked(scrapeBody, await call.json());
    const data = await scrapeFor(app, call, app.targets.check(url, 'url'), options);
    const warning = warningOf(options);
    if (warning !== undefined) data.warning = data.warning === undefined ? warning : `${data.warning} ${warning}`;
    return { json: { success: true, data } };
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
  const ending = new AbortController();
  const leave = (): void => ending.abort();
  const timer = setTimeout(leave, limitMs);
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    return await app.turns.take(token, ending.signal, () =>
      app.fetcher.scrape(url, wish, { owner: token.name, ...how, signal: ending.signal }),
    );
  } catch (error) {
    if (ending.signal.aborted && !signal.aborted)
      throw new ApiError(408, `The page took longer than ${limitMs} ms.`, 'FETCH_TIMEOUT');
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', leave);
  }
}

/** A retry and the wait for a turn come on top of the page's own time limit. */
const TURN_MS = 90_000;
