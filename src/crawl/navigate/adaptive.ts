// Adaptive rendering, an interceptor: HTTP first, then a browser if the page is empty without scripts or its handler
// uses a page. Promise: the choice is remembered per site; both requests of one order wait for their domain.
import { type CrawlError, NonRetryableError } from '../../errors.js';
import type { Capture, Engine } from '../../fetch/engine.js';
import { createRenderingMemory, needsScripts, type Rendering, type RenderingMemory } from './rendering.js';
import { needsPage } from '../browser/page-config.js';
import type { CrawlOrder } from './order.js';

/** Thrown out of a handler that was given bytes and wants a page. Never seen outside. */
export class PageWanted extends NonRetryableError {}

/** The order has to come back on another turn of its domain. */
class ComeBack extends NonRetryableError {}

export function isComeBack(error: unknown): boolean {
  return error instanceof ComeBack;
}

export interface AdaptiveParts<HttpLive extends object, PageLive extends object> {
  readonly http: Engine<HttpLive, CrawlOrder<HttpLive | PageLive>>;
  readonly browser: Engine<PageLive, CrawlOrder<HttpLive | PageLive>>;
  /** What `http` lends before anything is sent. */
  readonly httpLive: HttpLive;
  /** Decides in place of the pages' bytes: what it expects to be static is not judged again. */
  readonly memory?: RenderingMemory | undefined;
}

/** Requests waiting for a turn in a browser; one that is forgotten is fetched over HTTP again. */
const MAX_WAITING = 10_000;

export function adaptive<HttpLive extends object, PageLive extends object>(
  parts: AdaptiveParts<HttpLive, PageLive>,
): Engine<HttpLive | PageLive, CrawlOrder<HttpLive | PageLive>> {
  type Order = CrawlOrder<HttpLive | PageLive>;
  const { http, browser, httpLive, memory = createRenderingMemory() } = parts;
  const waiting = new Set<string>();

  function wait(key: string): void {
    if (waiting.size >= MAX_WAITING) waiting.delete(waiting.keys().next().value!);
    waiting.add(key);
  }

  function placeOf(order: Order): Rendering | undefined {
    if (order.key !== undefined && waiting.delete(order.key)) return 'browser';
    if (order.page && needsPage(order.page)) return 'browser';
    if (order.page?.skipNavigation || order.method.toUpperCase() !== 'GET') return 'static';
    return memory.expected(order.url, order.label);
  }

  async function visit<T>(order: Order, use: (capture: Capture, live: HttpLive | PageLive) => Promise<T>): Promise<T> {
    const place = placeOf(order);
    if (place === 'browser') return browser.visit(order, use);
    const isJudged = order.method.toUpperCase() === 'GET' && (!parts.memory || place === undefined);
    const first = order.prepare ? await order.prepare(httpLive) : order;
    let seen: Capture | undefined;
    try {
      if (order.page?.skipNavigation) return await use(NO_CAPTURE, httpLive);
      const answer = await http.visit(first, async (capture, live) => {
        seen = capture;
        if (isJudged && isShell(capture)) return undefined;
        return { used: await use(capture, live) };
      });
      if (answer) {
        if (seen!.statusCode < 300) memory.learn(order.url, 'static', order.label);
        return answer.used;
      }
    } catch (error) {
      if (!(error instanceof PageWanted) && !((error as CrawlError).cause instanceof PageWanted)) throw error;
    }
    memory.learn(order.url, 'browser', order.label);
    if (order.again && !(await order.again(seen))) {
      if (order.key !== undefined) wait(order.key);
      throw new ComeBack('needs a browser, on its own turn');
    }
    // Both together are one attempt, and have its time.
    const timeoutMs = Math.max(1, order.timeoutMs - (seen?.timings.totalMs ?? 0));
    return browser.visit({ ...order, timeoutMs }, use);
  }

  return {
    visit,
    async close() {
      await Promise.all([http.close(), browser.close()]);
    },
  };
}

function isShell({ statusCode, body, loadedUrl, headers, redirectTo, refusedRedirect }: Capture): boolean {
  if (statusCode >= 400 || redirectTo !== undefined || refusedRedirect) return false;
  return needsScripts(body, loadedUrl, headers['content-type'] as string | undefined);
}

/** Of a request that is not navigated. */
const NO_CAPTURE: Capture = Object.freeze({
  url: '',
  loadedUrl: '',
  redirectChain: [],
  statusCode: 200,
  headers: {},
  body: Buffer.alloc(0),
  wireBytes: 0,
  timings: { startedAtMs: 0, headersMs: 0, totalMs: 0 },
});
