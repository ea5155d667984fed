// Browser-only properties on the context of a page fetched over HTTP: a handler that uses one needs a browser.
import { PageWanted } from '../navigate/adaptive.js';
import { extend } from './playwright-context.js';
import type { Visit } from '../run/attempt.js';

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

export function addPageWishes(visit: Visit): void {
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
