// The sockets of the synthetic web. Listens so that all of 127.0.0.0/8 is reachable, and serves no one else:
// a connection that did not come in over a loopback address is destroyed before a byte is read.
// Promise: after close() no socket, listener or timer of the web is left.
import { createServer as createHttp } from 'node:http';
import type { IncomingMessage, RequestListener, Server as HttpServer, ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import { createServer as createTcp } from 'node:net';
import type { Server, Socket } from 'node:net';
import { createNameReader, hostAtAddress, isLoopback } from './addresses.js';
import type { Ports } from './addresses.js';
import type { SimwebPlan } from './knobs.js';

export interface SimwebServer {
  readonly ports: Ports;
  /** Connections accepted so far. */
  readonly connections: number;
  close(): Promise<void>;
}

export interface ServerUse {
  /** A request on a host (or -1), over the connection with this number. */
  onRequest(req: IncomingMessage, res: ServerResponse, host: number, connection: number): void;
  /** Called for each connection whose host is known from its address; true if it was dealt with. */
  onConnection(socket: Socket, host: number, connection: number): boolean;
}

// Between requests a connection may stay idle longer than any crawler keeps it, so that the client closes first
// and no request meets a closing socket.
const KEEP_ALIVE_MS = 120_000;
const BACKLOG = 4096;
// Held but not served: no other process can listen on its port while the web runs, so other addresses refuse it.
const HOLDER_ADDRESS = '127.255.255.254';

function listen(server: Server, port: number, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: address, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve((server.address() as { port: number }).port);
    });
  });
}

const shut = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

/** Listens, then serves with what `serve` makes of the ports. */
export async function openServer(
  plan: SimwebPlan,
  key: { readonly key: string; readonly cert: string } | undefined,
  serve: (ports: Ports) => ServerUse,
): Promise<SimwebServer> {
  let use: ServerUse | undefined;
  const sockets = new Set<Socket>();
  const listeners: Server[] = [];
  const hostByPort = new Map<number, number>();
  const numbers = new WeakMap<Socket, number>();
  const hostInHeader = createNameReader(plan);
  let connections = 0;

  const hostOfSocket = (socket: Socket): number => {
    if (plan.addressing === 'ports') return hostByPort.get(socket.localPort ?? -1) ?? -1;
    const host = plan.addressing === 'addresses' ? hostAtAddress(socket.localAddress ?? '') : -1;
    return host < plan.hosts ? host : -1;
  };

  const onRequest: RequestListener = (req, res) => {
    const host = plan.addressing === 'names' ? hostInHeader(req.headers.host) : hostOfSocket(req.socket);
    let number = numbers.get(req.socket);
    if (number === undefined) numbers.set(req.socket, (number = ++connections));
    use?.onRequest(req, res, host, number);
  };
  // Never listens itself: it is handed the connections that passed `accept`.
  const http: HttpServer = key ? createHttps({ ...key }, onRequest) : createHttp(onRequest);
  http.keepAliveTimeout = KEEP_ALIVE_MS;
  http.on('clientError', (_error, socket) => socket.destroy());
  http.on('tlsClientError', (_error, socket: Socket) => socket.destroy());

  function accept(socket: Socket): void {
    if (!use || !isLoopback(socket.localAddress)) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // A client may vanish at any moment; the request's own 'close' does the bookkeeping.
    socket.on('error', () => socket.destroy());
    if (!key) numbers.set(socket, ++connections);
    const host = hostOfSocket(socket);
    if (host >= 0 && use.onConnection(socket, host, numbers.get(socket) ?? 0)) return;
    http.emit('connection', socket);
  }

  async function addListener(port: number, address: string): Promise<number> {
    const server = createTcp({ allowHalfOpen: true, noDelay: true }, accept);
    const bound = await listen(server, port, address);
    listeners.push(server);
    return bound;
  }

  /** A port on which connections are refused for as long as the web runs. */
  async function reserveClosedPort(): Promise<number> {
    const holder = createTcp((socket) => socket.destroy());
    if (plan.addressing === 'addresses') {
      const port = await listen(holder, 0, HOLDER_ADDRESS);
      listeners.push(holder);
      return port;
    }
    const port = await listen(holder, 0, '127.0.0.1');
    await shut(holder);
    return port;
  }

  async function closeAll(): Promise<void> {
    const closing = listeners.splice(0).map(shut);
    for (const socket of sockets) socket.destroy();
    await Promise.all(closing);
  }

  const listening: number[] = [];
  try {
    if (plan.addressing === 'addresses') listening.push(await addListener(plan.port, '0.0.0.0'));
    else if (plan.addressing === 'names') {
      const port = await addListener(plan.port, '127.0.0.1');
      listening.push(port);
      // Some systems resolve *.localhost to ::1 first; where there is no IPv6 the names have only 127.0.0.1.
      await addListener(port, '::1').catch(() => undefined);
    } else {
      for (let host = 0; host < plan.hosts; host++) {
        const port = await addListener(plan.port === 0 ? 0 : plan.port + host, '127.0.0.1');
        listening.push(port);
        hostByPort.set(port, host);
      }
    }
    const ports: Ports = { listening, closed: await reserveClosedPort() };
    use = serve(ports);
    return {
      ports,
      get connections() {
        return connections;
      },
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}
