// A web of healthy hosts beside hosts that hang or drip, each on an address of its own, and how long the healthy
// pages take in it. Knows nothing of the crawler: it says what it served.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SlowWebOptions {
  readonly healthy: number;
  readonly pages: number;
  readonly latencyMs: number;
  readonly slow: number;
  /** What slow hosts do: never answer, answer and then send a byte per second, or answer late. */
  readonly manner?: 'hang' | 'drip' | { readonly answersAfterMs: number };
  /** Whether slow hosts have a robots.txt that they give at once. */
  readonly slowRobots?: boolean;
}

export interface SlowWeb {
  readonly healthySeeds: readonly string[];
  readonly slowSeeds: readonly string[];
  /** Resolves to the time, by performance.now(), when every healthy page had been served. */
  readonly healthyDone: Promise<number>;
  /** The time of the first request of all; undefined before it. */
  readonly firstRequestMs: number | undefined;
  /** Requests that reached each slow host, robots.txt included. */
  readonly slowRequests: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

const DRIP_MS = 1_000;

export async function startSlowWeb(options: SlowWebOptions): Promise<SlowWeb> {
  const { healthy, pages, latencyMs, slow, manner = 'hang' } = options;
  const servers: Server[] = [];
  const timers = new Set<NodeJS.Timeout>();
  const served = new Set<string>();
  const slowRequests = new Map<string, number>();
  let firstRequestMs: number | undefined;
  let finish!: (atMs: number) => void;
  const healthyDone = new Promise<number>((resolve) => (finish = resolve));

  const later = (ms: number, act: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      act();
    }, ms);
    timers.add(timer);
  };

  function answerPage(host: string, path: string, response: ServerResponse): void {
    const links = path === '/0' ? Array.from({ length: pages }, (_, page) => `<a href="/${page}">${page}</a>`) : [];
    response.setHeader('content-type', 'text/html');
    response.end(`<title>${host}${path}</title><p>A page of a healthy host.</p>${links.join(' ')}`);
    served.add(host + path);
    if (served.size === healthy * pages) finish(performance.now());
  }

  function drip(response: ServerResponse): void {
    if (response.destroyed) return;
    response.write('<');
    later(DRIP_MS, () => drip(response));
  }

  function answerSlowly(response: ServerResponse): void {
    response.setHeader('content-type', 'text/html');
    if (manner === 'drip') drip(response);
    else if (manner !== 'hang') later(manner.answersAfterMs, () => response.end('<title>late</title>'));
  }

  async function listen(address: string, handle: (host: string, path: string, response: ServerResponse) => void) {
    const server = createServer((request, response) => {
      firstRequestMs ??= performance.now();
      handle(address, request.url ?? '/', response);
    });
    servers.push(server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, address, resolve);
    });
    return `http://${address}:${(server.address() as AddressInfo).port}/0`;
  }

  function noRobots(response: ServerResponse): void {
    response.statusCode = 404;
    response.end();
  }

  const healthySeeds: string[] = [];
  const slowSeeds: string[] = [];
  for (let host = 0; host < healthy; host++) {
    const seed = await listen(`127.0.20.${host + 1}`, (name, path, response) => {
      if (path === '/robots.txt') return noRobots(response);
      later(latencyMs, () => answerPage(name, path, response));
    });
    healthySeeds.push(seed);
  }
  for (let host = 0; host < slow; host++) {
    const seed = await listen(`127.0.21.${host + 1}`, (name, path, response) => {
      slowRequests.set(name, (slowRequests.get(name) ?? 0) + 1);
      if (path === '/robots.txt' && options.slowRobots) return noRobots(response);
      answerSlowly(response);
    });
    slowSeeds.push(seed);
  }

  return {
    healthySeeds,
    slowSeeds,
    healthyDone,
    get firstRequestMs() {
      return firstRequestMs;
    },
    slowRequests,
    async close() {
      for (const timer of timers) clearTimeout(timer);
      for (const server of servers) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  };
}

/** In ms. One that is not known yet depends on a crawl that runs beside. */
export type Limit = number | Promise<number>;

/** A multiple of the time of a crawl that runs beside. If that crawl fails, only its own promise reports it. */
export function timesAs(factor: number, tookMs: Promise<number>): Promise<number> {
  const limit = tookMs.then((ms) => factor * ms);
  limit.catch(() => undefined);
  return limit;
}

/** When the last healthy page was served, from `startedMs`; the limit when it took longer than that. */
export async function healthyMs(web: SlowWeb, startedMs: number, limit: Limit): Promise<number> {
  let timer: NodeJS.Timeout | undefined;
  async function late(): Promise<number> {
    const limitMs = await limit;
    const leftMs = startedMs + limitMs - performance.now();
    return new Promise((resolve) => {
      timer = setTimeout(() => resolve(startedMs + limitMs), leftMs).unref();
    });
  }
  try {
    return (await Promise.race([web.healthyDone, late()])) - startedMs;
  } finally {
    clearTimeout(timer);
  }
}
