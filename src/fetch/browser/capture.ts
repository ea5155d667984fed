// What a visit captures from a page: HTML or the raw body, screenshots, documents, console messages and requests.
// Promise: lists are bounded; only what was requested is captured.
import { limitReached, LIMITS } from '../../limits.js';
import { checkDomSize, domTooLarge } from './dom-size.js';
import type { PooledPage } from './page-lease.js';
import type { PageRequest, PageResponse } from './playwright-types.js';

/** A message on the console of a page. */
export interface ConsoleMessage {
  /** Such as `log`, `warning` or `error`. */
  readonly type: string;
  /** What was written. */
  readonly text: string;
  /** Of the script that wrote it. */
  readonly url: string;
}

/** A request that a page made. */
export interface NetworkRequest {
  /** What was asked for. */
  readonly url: string;
  /** The HTTP method. */
  readonly method: string;
  /** Such as `document`, `script` or `image`. */
  readonly resourceType: string;
  /** Of the response; null without one. */
  status: number | null;
  /** Why it failed, if it did. */
  failure: string | null;
}

/** More than a page says or asks for unless it floods. */
const MAX_ENTRIES = LIMITS.consoleEntries.max;
const MAX_TEXT = LIMITS.consoleCharacters.max;

/** Notes console messages from now on, until the page is given back. */
export function watchConsole(lent: PooledPage): readonly ConsoleMessage[] {
  const messages: ConsoleMessage[] = [];
  const add = (type: string, text: string, url: string) => {
    if (messages.length >= MAX_ENTRIES) return limitReached('consoleEntries');
    if (text.length > MAX_TEXT) limitReached('consoleCharacters');
    messages.push({ type, text: text.slice(0, MAX_TEXT), url });
  };
  lent.page.on('console', (message) => add(message.type(), message.text(), message.location().url));
  lent.page.on('pageerror', (error) => add('error', String(error), lent.page.url()));
  return messages;
}

/** Notes requests from now on, until the page is given back. */
export function watchNetwork(lent: PooledPage): readonly NetworkRequest[] {
  const entries: NetworkRequest[] = [];
  const known = new WeakMap<PageRequest, NetworkRequest>();
  lent.page.on('request', (request) => {
    if (entries.length >= MAX_ENTRIES) return limitReached('consoleEntries');
    const entry = {
      url: request.url().slice(0, MAX_TEXT),
      method: request.method(),
      resourceType: request.resourceType(),
      status: null,
      failure: null,
    };
    known.set(request, entry);
    entries.push(entry);
  });
  lent.page.on('response', (response) => {
    const entry = known.get(response.request());
    if (entry) entry.status = response.status();
  });
  lent.page.on('requestfailed', (request) => {
    const entry = known.get(request);
    if (entry) entry.failure = request.failure()?.errorText ?? 'failed';
  });
  return entries;
}

/** The page as it is now; the received bytes if it is not HTML. */
export async function takeBody(
  lent: PooledPage,
  response: PageResponse | undefined,
  maxBytes: number,
): Promise<{ body: Buffer; contentType: string }> {
  const type = response?.headers()['content-type'] ?? 'text/html';
  const isHtml = /^\s*(?:text\/html|application\/xhtml)/i.test(type) || response === undefined;
  if (isHtml) await checkDomSize(lent, maxBytes);
  else if (Number(response.headers()['content-length'] ?? 0) > maxBytes) throw domTooLarge(lent, maxBytes);
  const body = isHtml ? Buffer.from(await lent.page.content()) : await response.body().catch(() => Buffer.alloc(0));
  if (body.length > maxBytes) throw domTooLarge(lent, maxBytes);
  return { body, contentType: isHtml ? 'text/html; charset=utf-8' : type };
}

/** Chromium refuses pictures that are higher. */
const MAX_PICTURE_PIXELS = 16_384;

/** A PNG of the whole page, cut where it gets too high. */
export async function takeScreenshot(lent: PooledPage): Promise<Buffer> {
  const { page } = lent;
  const size = page.viewportSize();
  const height = await page.evaluate('document.documentElement.scrollHeight').catch(() => 0);
  if (size === null || Number(height) <= MAX_PICTURE_PIXELS)
    return page.screenshot({ fullPage: true, type: 'png', timeout: 0 });
  const clip = { x: 0, y: 0, width: size.width, height: MAX_PICTURE_PIXELS };
  return page.screenshot({ fullPage: true, clip, type: 'png', timeout: 0 });
}

export function takePdf(lent: PooledPage): Promise<Buffer> {
  return lent.page.pdf({ printBackground: true, format: 'A4' });
}

/** The page with its resources in one file. */
export async function takeMhtml(lent: PooledPage): Promise<string> {
  const session = await lent.cdp();
  const { data } = await session.send('Page.captureSnapshot', { format: 'mhtml' });
  return data;
}
