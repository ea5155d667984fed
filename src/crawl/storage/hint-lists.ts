// Reads what sites list of their pages: sitemaps and feeds, streamed.
// Promise: a list that cannot be read is left out; what a list names beyond its own site is, too.
import { asCrawlError } from '../../errors.js';
import { LIMITS } from '../../limits.js';
import { RobotsTxt } from '../../politeness/robots/robots.js';
import { type OpenSitemap, type SitemapUrl, walkSitemaps } from '../../politeness/sitemaps/walk.js';
import { parseUrl } from '../../request/url.js';
import { belongsBy, pause, sitemapLimits, type SitemapOptions, withSitemaps } from '../polite/site-files.js';

export interface HintListOptions extends Pick<SitemapOptions, 'userAgent' | 'signal' | 'allowPrivateAddresses'> {
  /** Origins whose robots.txt names the lists; `/sitemap.xml` where it names none. */
  readonly origins: readonly string[];
  /** Further sitemaps and feeds. */
  readonly lists?: readonly string[];
  /** False: the origins were found, not named by the user, and may be private only as others may. Default true. */
  readonly isNamed?: boolean | undefined;
  /** A pause before each file. */
  readonly delayMs?: number | undefined;
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
  const named = options.isNamed === false ? lists : [...origins, ...lists];
  const { userAgent, signal, allowPrivateAddresses, delayMs = 0 } = options;
  const fetching = {
    timeoutMs: TIMEOUT_MS,
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(signal === undefined ? {} : { signal }),
    ...(allowPrivateAddresses === undefined ? {} : { allowPrivateAddresses }),
  };
  await withSitemaps(named, fetching, async (openFile) => {
    const open: OpenSitemap = async (url, use) => {
      if (delayMs > 0 && asked > 0) await pause(delayMs, signal);
      signal?.throwIfAborted();
      asked++;
      return openFile(url, use);
    };
    for (const origin of origins.slice(0, MAX_HINT_ORIGINS)) files.push(...(await sitemapsOf(origin, open)));
    await walkSitemaps(files, {
      open,
      take,
      belongs: belongsBy({}),
      onProblem: () => undefined,
      limits: sitemapLimits({ maxRetries: 0 }, { maxUrls: LIMITS.sitemapUrls.max, maxCharacters: Infinity }),
      wait: (ms) => pause(ms, signal),
      signal,
    });
  });
  return asked;
}

/** By robots.txt; a site that has none is asked for the usual one, one that does not let itself be read says nothing. */
async function sitemapsOf(origin: string, open: OpenSitemap): Promise<string[]> {
  const usual = [`${origin}/sitemap.xml`];
  const pieces: Uint8Array[] = [];
  try {
    await open(`${origin}/robots.txt`, async ({ bytes }) => {
      let length = 0;
      for await (const piece of bytes) {
        pieces.push(piece);
        if ((length += piece.length) > LIMITS.robotsBytes.max) break;
      }
    });
  } catch (error) {
    // The code of a file that is not there.
    return asCrawlError(error, 'CONNECT_FAILED').code === 'SITEMAP_INVALID' ? usual : [];
  }
  const found = RobotsTxt.parse(Buffer.concat(pieces)).sitemaps.flatMap(
    (sitemap) => parseUrl(sitemap, origin)?.href ?? [],
  );
  return found.length > 0 ? found : usual;
}
