// What many clients cost a server: scrapes at once, their times, the server's memory and CPU, and sockets that are silent.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { eventually, type ServerProcess } from './serve.js';

export interface Scrapes {
  readonly p95Ms: number;
  readonly failed: number;
}

/** So many scrapes, all at once. */
export async function scrapesAtOnce(
  server: ServerProcess,
  count: number,
  urlOf: (index: number) => string,
): Promise<Scrapes> {
  const times: number[] = [];
  let failed = 0;
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const startedMs = performance.now();
      const { status } = await server.ask('POST', '/v2/scrape', { url: urlOf(index), formats: ['markdown'] });
      times.push(performance.now() - startedMs);
      if (status !== 200) failed++;
    }),
  );
  times.sort((one, other) => one - other);
  return { p95Ms: Math.round(times[Math.floor(count * 0.95)]!), failed };
}

export function rssOf({ process: { pid } }: ServerProcess): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024;
}

/** Connections that say nothing; one that cannot be made fails all. */
export async function silentSockets({ url }: ServerProcess, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(url);
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(250, count - sockets.length) }, () => connect(Number(port), hostname));
    await Promise.all(some.map((socket) => once(socket, 'connect')));
    // The server may close them later, as it does when it stops.
    for (const socket of some) socket.on('error', () => undefined);
    sockets.push(...some);
  }
  return sockets;
}

/** Closes connections, so that their descriptors are free. */
export async function closed(sockets: readonly Socket[]): Promise<void> {
  await Promise.all(
    sockets.map(
      (socket) =>
        new Promise((resolve) => (socket.destroyed ? resolve(undefined) : socket.once('close', resolve).destroy())),
    ),
  );
}

/** A crawl of a whole web; resolves to its path when it is under way. */
export async function crawlUnderWay(server: ServerProcess, url: string, limit: number): Promise<string> {
  const crawl = await server.ask('POST', '/v2/crawl', {
    url,
    limit,
    allowExternalLinks: true,
    crawlEntireDomain: true,
    scrapeOptions: { formats: ['links'] },
  });
  const where = `/v2/crawl/${crawl.json.id}`;
  await eventually(
    async () => (await server.ask('GET', `${where}?limit=1`)).json.completed > 50,
    'the crawl is under way',
  );
  return where;
}
