// Pages on loopback for browsers, with a log of all requests.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

export interface Site {
  readonly url: string;
  readonly port: number;
  /** Paths that were asked for. */
  readonly asked: string[];
  /** The same with the times at which a request came and its response ended. */
  readonly log: { readonly path: string; readonly startMs: number; endMs: number }[];
  readonly server: Server;
  close(): Promise<void>;
}

/** Tells the method, the body and the header `x-own` of the request in the title. */
export const echo: Answer = (request, response) => {
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () =>
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<title>${request.method} ${body} ${request.headers['x-own'] ?? '-'}</title>`),
  );
};

/** Serves pages by path; a string is HTML. */
export async function serveSite(pages: Record<string, string | Answer>, fallback?: Answer): Promise<Site> {
  const asked: string[] = [];
  const log: Site['log'] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0]!;
    // Browsers with a window, or as if with one, ask for it whatever the page says.
    if (path === '/favicon.ico') return void response.writeHead(404).end();
    asked.push(request.url ?? '');
    const line = { path: request.url ?? '', startMs: performance.now(), endMs: Infinity };
    log.push(line);
    response.on('close', () => (line.endMs = performance.now()));
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
    log,
    server,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** The shortest rest of the site between a response's end and the next request. */
export function shortestRestMs({ log }: Site): number {
  return Math.min(...log.slice(1).map(({ startMs }, index) => startMs - log[index]!.endMs));
}
