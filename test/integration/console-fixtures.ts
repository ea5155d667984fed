// The console in a real Chromium: a server, a small site to crawl, and pages that record every request they make.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { disabledFeatures } from '../../src/fetch/browser/disabled-features.js';
import { html, type ServerProcess, type Site, startSite } from '../support/serve.js';

// Required, not imported: measures and scripts run under jiti, which cannot import what playwright-core requires.
const { chromium } = createRequire(import.meta.url)('playwright-core') as typeof import('playwright-core');

export interface Watched {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Every URL that the page asked for. */
  readonly asked: string[];
  /** Headers of those requests, one after the other. */
  readonly referrers: string[];
  /** Errors of the page: exceptions, and what its policy refused. */
  readonly problems: string[];
}

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-background-networking', ...disabledFeatures()],
  });

export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
}

/** A tab of its own, without anything open yet. */
export async function newTab(browser: Browser, look: Look = {}): Promise<Watched> {
  const { width = 1280, height = 900, scheme = 'light' } = look;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: 'reduce',
    acceptDownloads: true,
  });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const page = await context.newPage();
  const [asked, referrers, problems]: [string[], string[], string[]] = [[], [], []];
  page.on('request', (request) => {
    asked.push(request.url());
    const { referer } = request.headers();
    if (referer) referrers.push(referer);
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|TrustedHTML|TrustedScript/i.test(message.text())) problems.push(message.text());
  });
  return { page, context, asked, referrers, problems };
}

export async function openConsole(browser: Browser, server: ServerProcess, look: Look = {}): Promise<Watched> {
  const tab = await newTab(browser, look);
  await tab.page.goto(`${server.url}/#token=${server.token}`);
  await tab.page.locator('.connection.live').waitFor();
  return tab;
}

/** Within one tab: by the fragment, as its own links do. */
export const show = (page: Page, hash: string): Promise<void> =>
  page.evaluate(`void (location.hash = ${JSON.stringify(hash)})`);

/** What axe-core finds that is serious or worse. */
export async function seriousFindings(page: Page): Promise<string[]> {
  const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  await page.evaluate(source);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run: () => Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 200)).join(' | ')}`);
  });
}

const WORDS = ['frontier', 'polite', 'archive', 'signal', 'harvest', 'lattice', 'meadow', 'cipher', 'orbit', 'ledger'];

/** A site of many pages: one in 20 is missing, one in 50 breaks off. `delayMs` says how long each takes. */
export function startGarden(delayMs = (): number => 15): Promise<Site> {
  return startSite((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site.invalid');
    const number = Number(pathname.slice(1)) || 0;
    if (pathname === '/robots.txt') return void response.end('User-agent: *\nDisallow: /private/');
    if (number % 50 === 49) return void request.socket.destroy();
    response.setHeader('content-type', 'text/html; charset=utf-8');
    const word = (shift: number): string => WORDS[(number * 7 + shift) % WORDS.length]!;
    const links = Array.from({ length: 8 }, (_, i) => `<a href="/${number * 8 + i + 1}">${word(i)}</a>`).join(' ');
    const table = '<table><tr><th>Host</th><th>Pages</th></tr><tr><td>one.example</td><td>12</td></tr></table>';
    const text = `<p>${'The page goes on for a while, so that it is the main content of its site. '.repeat(8)}</p>`;
    const body = `${text}<h2>What was found</h2><ul><li>Latency under load</li><li>Bytes per page</li></ul>${table}<pre><code>orcrawl crawl example.com</code></pre>${text}`;
    if (number % 20 === 19) response.statusCode = 404;
    const forbidden = number % 10 === 0 ? `<a href="/private/${number}">private</a>` : '';
    setTimeout(
      () =>
        response.end(
          html(`Notes on ${word(0)} and ${word(3)}, part ${number}`, `${body}<nav>${links}${forbidden}</nav>`),
        ),
      delayMs(),
    );
  });
}
