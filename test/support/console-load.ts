// The console under load: a crawl that is fed at a rate, its watchers, and a tab in Chromium whose cost is read by its
// own tools. Shared by `npm run measure -- console` and its small version in the tests.
import { fork } from 'node:child_process';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { get, type IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { CDPSession, Page } from 'playwright-core';
import { TYPESCRIPT } from './processes.js';

export type FeedOrder =
  | { readonly kind: 'fill'; readonly rows: number }
  | { readonly kind: 'rate'; readonly perSec: number }
  | { readonly kind: 'look' }
  | { readonly kind: 'end' };

export interface FeedAnswer {
  readonly address: string;
  readonly put: number;
  readonly cpuMs: number;
}

export interface Feed {
  tell(order: FeedOrder): Promise<FeedAnswer>;
}

const PROGRAM = fileURLToPath(new URL('./console-feed.ts', import.meta.url));
const PAGE_FOLDER = new URL('../../dist/console/', import.meta.url).href;

export async function startFeed(hosts: number): Promise<Feed> {
  const child = fork(PROGRAM, [String(hosts), PAGE_FOLDER], { execArgv: ['--import', TYPESCRIPT] });
  const next = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => reject(new Error(`the feed ended with ${code}`)));
      child.setMaxListeners(1_000);
    });
  await next();
  let last: Promise<unknown> = Promise.resolve();
  return {
    tell(order) {
      const answer = last.then(() => {
        const told = next();
        child.send(order);
        return told as Promise<FeedAnswer>;
      });
      last = answer.catch(() => undefined);
      return answer;
    },
  };
}

/** Somebody who watches a job, without a browser: what the server pays is the same. */
export function watchJob(address: string, id = 'crawl'): Promise<{ readonly bytes: () => number; close: () => void }> {
  const { origin, hash } = new URL(address);
  const headers = { authorization: `Bearer ${hash.slice('#token='.length)}` };
  return new Promise((resolve, reject) => {
    get(`${origin}/events?job=${id}`, { headers, agent: false }, (answer: IncomingMessage) => {
      let bytes = 0;
      answer.on('data', (piece: Buffer) => (bytes += piece.length)).on('error', () => undefined);
      resolve({ bytes: () => bytes, close: () => answer.destroy() });
    }).on('error', reject);
  });
}

/** CPU time of the crawl per page over some seconds, with so many who watch. */
export async function costOf(feed: Feed, watchers: number, secs: number): Promise<number> {
  const { address } = await feed.tell({ kind: 'look' });
  const all = await Promise.all(Array.from({ length: watchers }, () => watchJob(address)));
  await pause(1_000);
  const before = await feed.tell({ kind: 'look' });
  await pause(secs * 1_000);
  const after = await feed.tell({ kind: 'look' });
  for (const one of all) one.close();
  await pause(300);
  return (after.cpuMs - before.cpuMs) / Math.max(1, after.put - before.put);
}

export const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms));

/** A way to a port that can be cut and mended. */
export async function cuttable(address: string): Promise<{
  readonly address: string;
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}> {
  const { port } = new URL(address);
  const open = new Set<Socket>();
  let isCut = false;
  const server = createServer((here) => {
    if (isCut) return void here.destroy();
    const there = connect(Number(port), '127.0.0.1');
    for (const [one, other] of [
      [here, there],
      [there, here],
    ] as const) {
      open.add(one);
      one
        .on('error', () => undefined)
        .on('close', () => {
          open.delete(one);
          other.destroy();
        });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const own = (server.address() as AddressInfo).port;
  return {
    address: address.replace(`:${port}/`, `:${own}/`),
    cut() {
      isCut = true;
      for (const socket of open) socket.destroy();
    },
    mend: () => void (isCut = false),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

export interface TabCost {
  /** Share of the time in which the main thread worked. */
  readonly busy: number;
  readonly heapBytes: number;
  readonly nodes: number;
}

/** What the main thread of a tab did while something happened. */
export async function tabCost(session: CDPSession, during: () => Promise<void>): Promise<TabCost> {
  let heapBytes = 0;
  let nodes = 0;
  const read = async (): Promise<Record<string, number>> => {
    const { metrics } = await session.send('Performance.getMetrics');
    const all = Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
    heapBytes = Math.max(heapBytes, all.JSHeapUsedSize ?? 0);
    nodes = Math.max(nodes, all.Nodes ?? 0);
    return all;
  };
  const before = await read();
  const timer = setInterval(() => void read().catch(() => undefined), 1_000);
  try {
    await during();
  } finally {
    clearInterval(timer);
  }
  const after = await read();
  const busy = (after.TaskDuration! - before.TaskDuration!) / (after.Timestamp! - before.Timestamp!);
  return { busy, heapBytes, nodes };
}

/** The number of pages that the tab shows now, those that failed included. */
export const shownRows = async (page: Page): Promise<number> => {
  const texts = await page.locator('.figure .number').allInnerTexts();
  return texts.slice(0, 2).reduce((sum, text) => sum + Number(text.replaceAll(',', '')), 0);
};

/** How long a tab takes until it shows what the crawl had when this was called. */
export async function catchUpMs(page: Page, feed: Feed): Promise<number> {
  const startedMs = performance.now();
  const { put } = await feed.tell({ kind: 'look' });
  for (;;) {
    if ((await shownRows(page)) >= put) return performance.now() - startedMs;
    if (performance.now() - startedMs > 60_000) throw new Error(`the tab shows ${await shownRows(page)} of ${put}`);
    await pause(20);
  }
}
