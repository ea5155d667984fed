// What is done with a loaded page before it is read: scripts and waits in order, scrolling, settling, a rest.
// Promise: the same order everywhere, for batches and crawlers; the visit's time limit covers all of it.
import { CrawlError } from '../../errors.js';
import type { Deadline } from '../../fetch/browser/deadline.js';
import { removeOverlays, RESOURCE_TYPES, runScript, scrollDown, waitForScript } from '../../fetch/browser/live-page.js';
import type { PooledPage } from '../../fetch/browser/page-lease.js';
import { settle, type Settling } from '../../fetch/browser/settle.js';
import {
  aBoolean,
  anyOf,
  anObject,
  arrayOf,
  aNumber,
  aString,
  check,
  oneOf,
  type ShapeOf,
} from '../../option-checks.js';
import type { Time } from '../time.js';

/** One thing to do in a page: run statements (`await` is allowed), or wait for `css:SELECTOR` or `js:EXPRESSION`. */
export type PageStep = { readonly js: string } | { readonly waitFor: string };

/** What is asked of a page before it is read. */
export interface PageActions {
  /** Statements to run in the page once it is loaded; `await` is allowed. They run before `waitFor`. */
  jsCode?: string | readonly string[];
  /** What must be there before the page counts: `css:SELECTOR` or `js:EXPRESSION`. */
  waitFor?: string;
  /** Scripts and waits in this order, in place of `jsCode` and `waitFor`. */
  steps?: readonly PageStep[];
  /** Which event ends the loading. Default `domcontentloaded`; of crawlers `load`. */
  waitUntil?: 'commit' | 'domcontentloaded' | 'load' | 'networkidle';
  /**
   * Longest wait for the text of a page that renders after loading to stop changing. Default 5,000 where nothing else
   * says what to wait for: with `auto` for every page that needs the browser, in a browser for pages that show nothing
   * yet. Default 0 in PlaywrightCrawler, whose handler waits itself.
   */
  settleMs?: number;
  /** A rest before the page is read. Default 100; of crawlers 0. */
  delayBeforeReturnMs?: number;
  /** Scrolls to the end first, so that what loads on the way is there. */
  scanFullPage?: boolean;
  /** Between two steps of scrolling. Default 200. */
  scrollDelayMs?: number;
  /** Removes cookie notices and other boxes that lie over the page. */
  removeOverlays?: boolean;
  /** Moves the mouse and scrolls a little, for pages that wait for a person. */
  simulateUser?: boolean;
  /** Types of resources not to load (`image`, `media`, `font`, `stylesheet`, …); true: these four. */
  blockResources?: boolean | readonly string[];
}

const aWait = check('"css:SELECTOR" or "js:EXPRESSION"', (value) => {
  return typeof value === 'string' && /^(?:css|js):\s*\S/.test(value);
});
const aStep = check('{ js: CODE } or { waitFor: "css:…" or "js:…" }', (value) => {
  if (!anObject.accepts(value)) return false;
  const { js, waitFor, ...rest } = value as { js?: unknown; waitFor?: unknown };
  if (Object.keys(rest).length > 0 || (js === undefined) === (waitFor === undefined)) return false;
  return js === undefined ? aWait.accepts(waitFor) : typeof js === 'string';
});

export const ACTIONS_SHAPE: ShapeOf<PageActions> = {
  jsCode: anyOf(aString, arrayOf(aString)),
  waitFor: aWait,
  steps: arrayOf(aStep),
  waitUntil: oneOf(['commit', 'domcontentloaded', 'load', 'networkidle']),
  settleMs: aNumber({ from: 0 }),
  delayBeforeReturnMs: aNumber({ from: 0 }),
  scanFullPage: aBoolean,
  scrollDelayMs: aNumber({ from: 0 }),
  removeOverlays: aBoolean,
  simulateUser: aBoolean,
  blockResources: anyOf(aBoolean, arrayOf(oneOf(RESOURCE_TYPES))),
};

export function actionConflicts(owner: string, { steps, jsCode, waitFor }: PageActions): string[] {
  if (steps === undefined || (jsCode === undefined && waitFor === undefined)) return [];
  const other = jsCode === undefined ? 'waitFor' : 'jsCode';
  return [`${owner} options "steps" and "${other}" cannot be combined: steps give the order of scripts and waits`];
}

export interface ActingParts {
  readonly time: Time;
  /** Which pages settle if no other wait is set. */
  readonly settles: Settling['when'] | undefined;
  /** When the page does not say. */
  readonly restMs: number;
}

const MAX_SCROLLS = 500;
const SETTLE_MS = 5_000;

export async function act(
  lent: PooledPage,
  config: PageActions,
  deadline: Deadline,
  { time, settles, restMs }: ActingParts,
): Promise<void> {
  if (config.simulateUser) await deadline.run('simulateUser', simulateUser(lent));
  for (const step of stepsOf(config)) {
    if ('js' in step) await deadline.run('jsCode', runScript(lent, step.js));
    else await waitFor(lent, step.waitFor, deadline);
  }
  const settleMs = config.settleMs ?? (settles === undefined || saysWhatToWaitFor(config) ? 0 : SETTLE_MS);
  if (settleMs > 0) {
    const settling = { maxMs: settleMs, when: settles ?? 'always', wait: time.wait, nowMs: time.monotonicMs };
    await deadline.run('settling', settle(lent, settling));
  }
  if (config.scanFullPage) {
    const scroll = { delayMs: config.scrollDelayMs ?? 200, patience: 2, maxSteps: MAX_SCROLLS };
    await deadline.run('scanFullPage', scrollDown(lent, { ...scroll, mayGoOn: () => !deadline.isOver }));
  }
  if (config.removeOverlays) await deadline.run('removeOverlays', removeOverlays(lent));
  const rest = config.delayBeforeReturnMs ?? restMs;
  if (rest > 0) await deadline.run('delayBeforeReturnMs', time.wait(rest));
}

/** The scripts and waits of a page, in order. */
export function stepsOf({ steps, jsCode, waitFor }: PageActions): readonly PageStep[] {
  if (steps !== undefined) return steps;
  const scripts = jsCode === undefined ? [] : [jsCode].flat().map((js) => ({ js }));
  return waitFor === undefined ? scripts : [...scripts, { waitFor }];
}

function saysWhatToWaitFor(config: PageActions): boolean {
  const { waitUntil, delayBeforeReturnMs, scanFullPage } = config;
  return stepsOf(config).length > 0 || waitUntil !== undefined || delayBeforeReturnMs !== undefined || !!scanFullPage;
}

async function waitFor(lent: PooledPage, wanted: string, deadline: Deadline): Promise<void> {
  const colon = wanted.indexOf(':');
  const what = wanted.slice(colon + 1).trim();
  const waiting = wanted.startsWith('css')
    ? lent.page.waitForSelector(what, { state: 'attached', timeout: 0 }).catch((error: unknown) => {
        throw isInvalidSelector(error) ? invalidSelector(what, error) : error;
      })
    : waitForScript(lent, what, () => deadline.isOver);
  await deadline.run(`waitFor ${wanted.slice(0, 100)}`, waiting as Promise<unknown>, 'WAIT_TIMEOUT');
}

/** Only the browser knows which selectors it accepts: Playwright has more than CSS. */
function isInvalidSelector(error: unknown): boolean {
  return error instanceof Error && /while parsing|Malformed selector|not a valid selector/i.test(error.message);
}

function invalidSelector(selector: string, cause: unknown): CrawlError {
  return new CrawlError('OPTION_INVALID', `waitFor: "${selector.slice(0, 100)}" is not a valid CSS selector`, {
    cause,
  });
}

async function simulateUser({ page }: PooledPage): Promise<void> {
  const { width, height } = page.viewportSize() ?? { width: 800, height: 600 };
  await page.mouse.move(width * 0.3, height * 0.3, { steps: 5 });
  await page.mouse.move(width * 0.6, height * 0.5, { steps: 5 });
  await page.mouse.wheel(0, height / 2);
  await page.mouse.wheel(0, -height / 2);
}
