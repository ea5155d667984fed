// What became of a URL, in words and as data: for `why` and `get --meta`.
import { countOf } from '../../observe/figures.js';
import type { UrlEvent } from '../../store/content/reading.js';
import { shown } from '../terminal.js';

const SKIP_WORDS: Readonly<Record<string, string>> = {
  robotsTxt: 'robots.txt forbids it',
  crawlDelay: 'the Crawl-delay of its robots.txt is above max_delay_seconds',
  DOMAIN_EXCLUDED: 'its domain is excluded',
  duplicate: 'it leads to a page that is queued already',
  redirect: 'it leads to a URL that may not be visited',
};

/** `2026-01-31 23:59:59 UTC  failed after 3 attempts: HTTP_STATUS (500), …` */
export function eventLine(event: UrlEvent): string {
  const { fetchedAtMs, statusCode, contentType, fate, loadedUrl, url } = event;
  const when = `${new Date(fetchedAtMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  const status = statusCode > 0 ? ` (${statusCode})` : '';
  if (!fate) {
    const from = loadedUrl === undefined || loadedUrl === url ? '' : ` from ${shown(loadedUrl)}`;
    return `${when}  stored${status}, ${shown(contentType)}${from}`;
  }
  const { kind, code, attempts, message } = fate;
  const why = message === undefined ? '' : `: ${shown(message, 300)}`;
  if (kind === 'again') return `${when}  queued again by orcrawl retry-failed, after ${code}`;
  if (kind === 'skipped')
    return `${when}  skipped, ${code}${status}: ${SKIP_WORDS[code] ?? shown(message ?? code, 300)}`;
  const tries = attempts === 0 ? 'without a request' : `after ${countOf(attempts, 'attempt')}`;
  return `${when}  failed ${tries}, ${code}${status}${why}`;
}

/** The same as data, in the names of the index. */
export function eventData(event: UrlEvent): Record<string, string | number> {
  const { url, loadedUrl, statusCode, fetchedAtMs, contentType, depth, fate } = event;
  return {
    url,
    ...(loadedUrl === undefined || loadedUrl === url ? {} : { loaded_url: loadedUrl }),
    fate: fate?.kind ?? 'done',
    ...(fate === undefined ? {} : { code: fate.code, attempts: fate.attempts }),
    ...(fate?.message === undefined ? {} : { message: fate.message }),
    ...(fate?.crawl === undefined ? {} : { crawl: fate.crawl }),
    ...(statusCode > 0 ? { status_code: statusCode } : {}),
    fetched_at: new Date(fetchedAtMs).toISOString(),
    ...(contentType === '' ? {} : { content_type: contentType }),
    depth,
  };
}
