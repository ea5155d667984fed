// Real servers on loopback for the tests of the HTTP engine, and orders for them. Everything started is closed
// by `closeAll`, which also fails a test that leaves connections open.
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { createServer as createNetServer } from 'node:net';
import type { FetchOrder } from '../../src/fetch/engine.js';
import type { HttpEngine, HttpEngineOptions } from '../../src/fetch/http/engine.js';
import { createHttpEngine } from '../../src/fetch/http/engine.js';

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Sockets now open, as the server sees them. */
  readonly open: ReadonlySet<Socket>;
  /** Connections ever accepted. */
  readonly accepted: () => number;
}

export function fixtures() {
  const closers: (() => Promise<unknown> | unknown)[] = [];

  async function listen(server: NetServer | Server, scheme = 'http'): Promise<Listening> {
    const open = new Set<Socket>();
    let accepted = 0;
    server.on('connection', (socket: Socket) => {
      accepted++;
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => open.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    });
    const { port } = server.address() as AddressInfo;
    return { url: `${scheme}://127.0.0.1:${port}`, port, open, accepted: () => accepted };
  }

  return {
    listen,
    serve: (listener: RequestListener) => listen(createServer(listener)),
    /** A server that speaks raw bytes: called with each connection's first request. */
    serveRaw: (answer: (socket: Socket, request: string) => void) =>
      listen(
        createNetServer((socket) => {
          let request = '';
          socket.on('data', (chunk: Buffer) => {
            request += chunk.toString('latin1');
            if (!request.includes('\r\n\r\n')) return;
            const whole = request;
            request = '';
            answer(socket, whole);
          });
        }),
      ),
    engine(options: HttpEngineOptions = {}): HttpEngine {
      const engine = createHttpEngine({ allowPrivateAddresses: true, ...options });
      closers.push(() => engine.close());
      return engine;
    },
    async closeAll(): Promise<void> {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}

export function order(url: string, rest: Partial<FetchOrder> = {}): FetchOrder {
  return {
    url,
    method: 'GET',
    headers: { 'user-agent': 'orcrawl-test' },
    redirects: 'follow',
    maxRedirects: 10,
    timeoutMs: 20_000,
    maxBodyBytes: 1_000_000,
    ignoreTlsErrors: false,
    ...rest,
  };
}

/** The whole capture, body as text. */
export function fetchText(engine: HttpEngine, url: string, rest: Partial<FetchOrder> = {}) {
  return engine.visit(order(url, rest), async (capture) => ({ ...capture, text: capture.body.toString() }));
}

/** Waits for a condition instead of for a time. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
