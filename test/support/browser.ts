// What tests in a browser share: which browser, pages on loopback, and counting what a browser leaves behind.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { findBrowser } from '../../src/fetch/browser/find-browser.js';
import type { LaunchPlan } from '../../src/fetch/browser/launch.js';

/** Debian's Chromium if it is there, so that all machines test the same; undefined when there is no browser at all. */
export const browserPath: string | undefined = existsSync('/usr/bin/chromium') ? '/usr/bin/chromium' : found();

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

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

export interface Site {
  readonly url: string;
  readonly port: number;
  /** Paths that were asked for. */
  readonly asked: string[];
  readonly server: Server;
  close(): Promise<void>;
}

/** Serves pages by path; a string is HTML. */
export async function serveSite(pages: Record<string, string | Answer>, fallback?: Answer): Promise<Site> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0]!;
    asked.push(request.url ?? '');
    const page = pages[path] ?? fallback;
    if (page === undefined) return void response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>none</h1>');
    if (typeof page === 'function') return void page(request, response);
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    asked,
    server,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** Processes below this one; Linux only, elsewhere none. */
export function childProcesses(root = process.pid): number[] {
  if (!existsSync('/proc/self/stat')) return [];
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ') as [string, string];
      if (state !== 'Z') parents.set(Number(name), Number(parent));
    } catch {
      // Gone meanwhile.
    }
  }
  const below = new Set([root]);
  for (let grew = true; grew;) {
    grew = false;
    for (const [pid, parent] of parents) {
      if (below.has(parent) && !below.has(pid)) grew = below.add(pid) !== undefined;
    }
  }
  below.delete(root);
  return [...below];
}

/** Browser processes below this one. */
export function browserProcesses(): number[] {
  return childProcesses().filter((pid) => {
    try {
      return /chrom/i.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
    } catch {
      return false;
    }
  });
}

/** Temporary folders of browsers. */
export function browserFolders(): string[] {
  return readdirSync(tmpdir()).filter((name) => /^(?:playwright|orcrawl-browser|\.org\.chromium)/.test(name));
}
