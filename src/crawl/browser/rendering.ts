// Pages as a browser shows them, for crawls that want their bytes and no live page: only those that are empty without
// scripts (`auto`), or all. Promise: no more browsers at once than were given, one that grows too large is replaced, and
// the address guard is the one of every browser here.
import type { Configuration } from '../../configuration.js';
import { programOf } from '../../fetch/browser/launch.js';
import { createBrowserPool } from '../../fetch/browser/pool.js';
import type { Engine } from '../../fetch/engine.js';
import { adaptive } from '../navigate/adaptive.js';
import type { CrawlOrder } from '../navigate/order.js';
import type { Visit } from '../run/attempt.js';
import { createBrowserEngine, withoutPage } from './engine.js';
import { browserPoolOptionsOf } from './page-config.js';

export interface RenderingOptions {
  readonly engine: 'auto' | 'browser';
  /** At once. */
  readonly browsers: number;
  /** A browser whose processes take more is replaced when its pages are back. */
  readonly maxBrowserBytes: number;
  readonly userAgent: string;
  readonly allowPrivateAddresses: boolean | readonly string[];
  readonly config: Configuration;
}

export interface Rendering {
  readonly engine: Engine<object, CrawlOrder>;
  /** What an order tells the engine besides. */
  more(visit: Visit): Partial<CrawlOrder>;
  /** Of all browsers, as last measured. */
  readonly memoryBytes: number;
  close(): Promise<void>;
}

const PAGES_PER_BROWSER = 10;

/** Throws `BROWSER_MISSING` if no browser can be started here. */
export function checkBrowser(config: Configuration): void {
  programOf(browserPoolOptionsOf({}, false, config).launch);
}

/** Throws `BROWSER_MISSING` as well. No browser is started before a page needs it. */
export function openRendering(http: Engine, options: RenderingOptions): Rendering {
  const { engine: kind, browsers, maxBrowserBytes, userAgent, allowPrivateAddresses, config } = options;
  const browser = { userAgent, textMode: true, lightMode: true, maxOpenPagesPerBrowser: PAGES_PER_BROWSER };
  const poolOptions = browserPoolOptionsOf(browser, allowPrivateAddresses, config);
  programOf(poolOptions.launch);
  const pool = createBrowserPool({ ...poolOptions, maxBrowserBytes });
  const settles = kind === 'auto' ? 'always' : 'empty';
  const shown = withoutPage(createBrowserEngine<object>({ pool, textMode: true, settles }));
  const seated = createSeats(browsers * PAGES_PER_BROWSER);
  const rendered: Engine<object, CrawlOrder> = {
    visit: (order, use) => seated(() => shown.visit(order, use)),
    close: () => Promise.resolve(),
  };
  return {
    engine: kind === 'auto' ? adaptive<object, object>({ http, browser: rendered, httpLive: {} }) : rendered,
    more: (visit) => ({ page: { reads: 'shown' }, again: visit.again }),
    get memoryBytes() {
      return pool.memoryBytes;
    },
    close: () => pool.close(),
  };
}

/** Lets so many run at once; the others wait in order. Whoever runs ends within the time of its order. */
function createSeats(count: number): <T>(use: () => Promise<T>) => Promise<T> {
  let free = count;
  const waiting: (() => void)[] = [];
  return async (use) => {
    if (free > 0) free--;
    else await new Promise<void>((resume) => waiting.push(resume));
    try {
      return await use();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
