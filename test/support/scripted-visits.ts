// The parts of a visit with an engine that answers from a script: what was sent can be read, nothing leaves the process.
import type { Capture, Engine } from '../../src/fetch/engine.js';
import type { NavigationRules } from '../../src/crawl/navigate/navigate.js';
import type { CrawlOrder } from '../../src/crawl/navigate/order.js';

export type Answer = Partial<Capture> | Error;

export function captureOf(url: string): Capture {
  return {
    url,
    loadedUrl: url,
    redirectChain: [],
    statusCode: 200,
    headers: { 'content-type': 'text/html' },
    body: Buffer.from('<p>'),
    wireBytes: 3,
    timings: { startedAtMs: 0, headersMs: 1, totalMs: 2 },
  };
}

/** Asks `answer` for what comes for each order, and notes the order before. */
export function scriptedEngine(
  sent: CrawlOrder[],
  answer: (order: CrawlOrder) => Answer | Promise<Answer>,
): Engine<object, CrawlOrder> {
  return {
    async visit(order, use) {
      sent.push(order);
      order.beforeSend?.();
      const came = await answer(order);
      if (came instanceof Error) throw came;
      return use({ ...captureOf(order.url), ...came }, {});
    },
    close: () => Promise.resolve(),
  };
}

export function navigationRules(changes: Partial<NavigationRules> = {}): NavigationRules {
  return {
    status: {
      ignoreHttpErrorStatusCodes: [],
      additionalHttpErrorStatusCodes: [],
      blockedStatusCodes: [],
      retryOnBlocked: false,
    },
    maxRedirects: 10,
    navigationTimeoutMs: 1_000,
    hookTimeoutMs: 1_000,
    maxBodyBytes: 1_000,
    ignoreTlsErrors: false,
    stream: false,
    persistCookiesPerSession: false,
    redirects: 'report',
    additionalMimeTypes: [],
    ...changes,
  };
}
