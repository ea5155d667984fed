// Whether a page needs scripts to show its content: detected from its bytes, and remembered per site.
// Promise: cheap, bounded, and never wrong for long: a known site is rechecked now and then.
import { createRecentMap } from '../../base/recent-map.js';
import { scanPage } from '../../parse/scan/scan.js';
import { domainOf } from '../../request/url.js';

// Every repetition is bounded: hostile pages are read too.
/** Containers that client-side frameworks fill, still empty. */
const EMPTY_ROOT =
  /<(div|main|section)\b[^>]{0,200}?\bid\s?=\s?["']?(?:root|app|application|__next|__nuxt|___gatsby|svelte|react-root)\b[^>]{0,200}>\s{0,50}(?:<!--[^]{0,200}?-->\s{0,50})?<\/\1>|<app-root\b[^>]{0,200}>\s{0,50}<\/app-root>/i;
const DEMANDS_SCRIPT =
  /<noscript\b[^>]{0,200}>[^]{0,400}?\b(?:enable|activate|turn on|requires?|needs?)\b[^]{0,80}?javascript/i;
const RUNS_SCRIPT = /<script\b(?![^>]{0,200}\btype\s?=\s?["']?application\/(?:ld\+)?json)/i;
/** Below this much text, a page with scripts counts as empty. */
const HARDLY_ANY_TEXT = 60;
/** Below this an empty container or a demand is believed. */
const LITTLE_TEXT = 600;
/** Only the beginning is looked at: hostile pages are long. */
const MAX_LOOKED_AT = 128 * 1024;

/**
 * Whether an HTTP answer is a page that a browser would fill.
 *
 * @example
 * needsScripts(Buffer.from('<div id="root"></div><script src="app.js"></script>'), 'https://a.test/', 'text/html'); // true
 */
export function needsScripts(body: Buffer, url: string, contentType: string | undefined): boolean {
  if (contentType !== undefined && !/html/i.test(contentType)) return false;
  const looked = body.subarray(0, MAX_LOOKED_AT);
  const html = looked.toString('latin1');
  if (!RUNS_SCRIPT.test(html)) return false;
  const { text } = scanPage(looked, { url, contentType });
  const length = text.replace(/\s+/g, ' ').trim().length;
  if (length < HARDLY_ANY_TEXT) return true;
  if (length >= LITTLE_TEXT) return false;
  return DEMANDS_SCRIPT.test(html) || EMPTY_ROOT.test(html);
}

export type Rendering = 'static' | 'browser';

export interface RenderingMemory {
  /** What the pages of this kind needed so far; undefined when it must be found out (again). */
  expected(url: string, label?: string): Rendering | undefined;
  learn(url: string, found: Rendering, label?: string): void;
}

/** A site is known after this many equal findings in a row. */
const SURE_AFTER = 3;
/** How often, in pages, a site that needed the browser is tried without it. */
const LOOK_AGAIN_EVERY = 20;
const MAX_SITES = 10_000;

export function createRenderingMemory(): RenderingMemory {
  const sites = createRecentMap<string, { last: Rendering; inARow: number; since: number }>(MAX_SITES);
  const keyOf = (url: string, label = '') => `${domainOf(url)} ${label}`;
  return {
    expected(url, label) {
      const site = sites.get(keyOf(url, label));
      if (!site || site.inARow < SURE_AFTER) return undefined;
      return ++site.since % LOOK_AGAIN_EVERY === 0 ? undefined : site.last;
    },
    learn(url, found, label) {
      const key = keyOf(url, label);
      const site = sites.get(key);
      if (site) {
        site.inARow = site.last === found ? site.inARow + 1 : 1;
        site.last = found;
        return;
      }
      sites.set(key, { last: found, inARow: 1, since: 0 });
    },
  };
}
