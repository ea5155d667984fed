// What tests in a browser share: which browser, pages on loopback, and counting what a browser leaves behind.
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { findBrowser } from '../../src/fetch/browser/find-browser.js';
import type { LaunchPlan } from '../../src/fetch/browser/launch.js';

export { browserProcesses } from './processes.js';
export { echo, serveSite, shortestRestMs, type Site } from './site.js';

/** Debian's Chromium if it is there, so that all machines test the same; undefined when there is no browser at all. */
export const browserPath: string | undefined = existsSync('/usr/bin/chromium') ? '/usr/bin/chromium' : found();

/**
 * The browser that a headless crawl takes by itself: Debian's headless shell if it is there, at a third of Chromium's CPU
 * per page. For tests of pages; those of the browser's own life and of profiles take {@link browserPath}.
 */
export const shellPath: string | undefined = browserPath && findBrowser({ headless: true, hasProfile: false });

function found(): string | undefined {
  try {
    return findBrowser({ headless: true, hasProfile: true });
  } catch (error) {
    // eslint-disable-next-line no-console -- a skipped test says why
    console.warn(`tests in a browser are skipped: ${(error as Error).message}`);
    return undefined;
  }
}

export const launchPlan = (rest: Partial<LaunchPlan> = {}): LaunchPlan => ({
  headless: true,
  executablePath: browserPath,
  sandbox: process.getuid?.() !== 0,
  ...rest,
});

/** A folder of this file's own for all temporary ones: others on the machine have browsers, too. */
const home = mkdtempSync(join(tmpdir(), 'orcrawl-test-'));
process.env.TMPDIR = home;
afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 3 }));

/** Temporary folders of browsers. */
export function browserFolders(): string[] {
  return readdirSync(home).filter((name) => /^(?:playwright|orcrawl-browser|\.org\.chromium)/.test(name));
}
