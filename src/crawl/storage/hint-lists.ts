// Reads what sites list of their pages: sitemaps and feeds, streamed.
// Promise: a list that cannot be read is left out; what a list names beyond its own site is, too.
import { LIMITS } from '../../limits.js';
import { type SitemapUrl, walkSitemaps } from '../../politeness/sitemaps/walk.js';
import { RobotsTxtFile } from '../polite/robots-txt-file.js';
import { belongsBy, pause, sitemapLimits, type SitemapOptions, withSitemaps } from '../polite/site-files.js';

export interface HintListOptions extends Pick<SitemapOptions, 'userAgent' | 'signal'> {
  /** Origins whose robots.txt names the lists; `/sitemap.xml` where it names none. */
  readonly origins: readonly string[];
  /** Further sitemaps and feeds. */
  readonly lists?: readonly string[];
  /** Awaited before more is read. */
  readonly take: (entries: readonly SitemapUrl[]) => Promise<void> | void;
}

/** Most sites whose lists are looked for. */
export const MAX_HINT_ORIGINS = 20;
/** A list must not hold up a crawl for long. */
const TIMEOUT_MS = 60_000;

/** Resolves to the number of files requested. */
export async function readHintLists({ origins, lists = [], take, ...options }: HintListOptions): Promise<number> {
  const files = [...lists];
  let asked = 0;
  for (const origin of origins.slice(0, MAX_HINT_ORIGINS)) {
    asked++;
    const named = await RobotsTxtFile.find(origin, { ...options, timeoutMs: TIMEOUT_MS }).catch(() => undefined);
    // A site that does not let itself be read says nothing.
    if (!named || named.unreachable) continue;
    const found = named.getSitemaps();
    files.push(...(found.length > 0 ? found : [`${origin}/sitemap.xml`]));
  }
  await withSitemaps([...origins, ...lists], { ...options, timeoutMs: TIMEOUT_MS }, (open) =>
    walkSitemaps(files, {
      open(url, use) {
        asked++;
        return open(url, use);
      },
      take,
      belongs: belongsBy({}),
      onProblem: () => undefined,
      limits: sitemapLimits({ maxRetries: 0 }, { maxUrls: LIMITS.sitemapUrls.max, maxCharacters: Infinity }),
      wait: (ms) => pause(ms, options.signal),
      signal: options.signal,
    }),
  );
  return asked;
}
