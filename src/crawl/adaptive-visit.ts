// AdaptivePlaywrightCrawler: each request over HTTP first, in a browser when its page needs one; learns which sites do.
// Promise: the handler runs to its end once a visit; what it added before it asked for a page is taken back; in a paced
// crawl the second request waits for its domain's turn like any other.
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
  /** Domains are paced: two requests of one visit are one too many. */
  readonly isPaced: boolean;
  /** The session is free for another visit; the browser's navigation says so itself. */
  readonly release: (session: Session) => void;
}

/** Requests that wait for their turn to be loaded in a browser; one that is forgotten is asked for over HTTP again. */
const MAX_WAITING = 10_000;

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
  const { memory, isPaced } = parts;
  const waiting = new Set<string>();

  function wait(key: string): void {
    if (waiting.size >= MAX_WAITING) waiting.delete(waiting.keys().next().value!);
    waiting.add(key);
  }

  function isForBrowser({ request }: Visit): boolean {
    if (waiting.delete(request.uniqueKey)) return true;
    if (request.skipNavigation || request.method !== 'GET') return false;
    return memory.expected(request.url, request.label) === 'browser';
  }

  async function navigate(visit: Visit, handle: () => Promise<void>): Promise<Arrival> {
    const { request } = visit;
    let isAgain = false;
    if (!isForBrowser(visit)) {
      try {
        const arrival = await parts.http(visit, handle);
        if (arrival.kind === 'handled') memory.learn(request.url, 'static', request.label);
        return arrival;
      } catch (error) {
        if (!(error instanceof PageWanted) && !((error as CrawlError).cause instanceof PageWanted)) throw error;
        memory.learn(request.url, 'browser', request.label);
        visit.restart();
        if (isPaced) {
          // The domain's turn was given back with the first answer.
          wait(request.uniqueKey);
          return { kind: 'again' };
        }
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

/** Where nothing is paced the second request is part of the same visit. */
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
