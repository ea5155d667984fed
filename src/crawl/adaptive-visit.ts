// AdaptivePlaywrightCrawler: each request over HTTP first, in a browser when its page needs one; learns which sites do.
// Promise: the handler runs to its end once a visit; what it added before it asked for a page is taken back.
import type { CrawlError } from '../errors.js';
import { NonRetryableError } from '../errors.js';
import type { Capture } from '../fetch/engine.js';
import type { Session } from '../session/session.js';
import type { Arrival, Navigate, Visit } from './attempt.js';
import { needsScripts, type RenderingMemory } from './adaptive-rendering.js';
import { extend } from './playwright-context.js';

/** Thrown out of a handler that was given bytes and wants a page. Caught by the visit, never seen outside. */
class PageWanted extends NonRetryableError {}

export interface AdaptiveParts {
  readonly http: Navigate;
  readonly browser: Navigate;
  readonly memory: RenderingMemory;
  /** The session is free for another visit; the browser's navigation says so itself. */
  readonly release: (session: Session) => void;
}

const PAGE_ONLY = [
  'page',
  'browserController',
  'infiniteScroll',
  'blockRequests',
  'saveSnapshot',
  'injectFile',
  'injectJQuery',
  'closeCookieModals',
  'enqueueLinksByClickingElements',
];

export function createAdaptiveNavigation(parts: AdaptiveParts): Navigate {
  const { memory } = parts;

  async function navigate(visit: Visit, handle: () => Promise<void>): Promise<Arrival> {
    const { request } = visit;
    const label = request.label ?? '';
    let isAgain = false;
    if (request.skipNavigation || request.method !== 'GET' || memory.expected(request.url, label) !== 'browser') {
      try {
        const arrival = await parts.http(visit, handle);
        if (arrival.kind === 'handled') memory.learn(request.url, 'static', label);
        return arrival;
      } catch (error) {
        if (!(error instanceof PageWanted) && !((error as CrawlError).cause instanceof PageWanted)) throw error;
        memory.learn(request.url, 'browser', label);
        visit.restart();
        isAgain = true;
      } finally {
        if (!isAgain && visit.identity.session) parts.release(visit.identity.session);
      }
    }
    extend(visit.context, { renderingType: 'browser' });
    return parts.browser(again(visit, isAgain), handle);
  }

  return navigate;
}

/** Called with the answer before the handler: an empty shell is not worth handling. */
export function refuseShell({ statusCode, body, loadedUrl, headers }: Capture): void {
  if (statusCode < 400 && needsScripts(body, loadedUrl, headers['content-type'] as string | undefined)) {
    throw new PageWanted(`${loadedUrl} shows nothing without scripts`);
  }
}

/** The turn of the domain was given back after the first answer: the second is part of the same visit. */
function again(visit: Visit, isAgain: boolean): Visit {
  const ignore = () => undefined;
  return isAgain ? { ...visit, depart: ignore, land: ignore, landWith: ignore } : visit;
}

/** What only a page can do: asking for it is how a handler says that it needs one. */
export function dressForPages(visit: Visit): void {
  const wanted = Object.fromEntries(
    PAGE_ONLY.map((name) => [
      name,
      {
        configurable: true,
        enumerable: false,
        get() {
          throw new PageWanted(`the handler asked for "${name}"`);
        },
      },
    ]),
  );
  Object.defineProperties(visit.context, wanted);
  extend(visit.context, { renderingType: 'static' });
}
