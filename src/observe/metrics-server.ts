// The endpoint for Prometheus and for probes: GET /metrics, /health and /ready, without a token, on loopback by default.
// Promise: it serves only those texts, and a slow client blocks nothing.
import { createServer, type Server } from 'node:http';
import { CrawlError } from '../errors.js';

export interface MetricsEndpoint {
  /** Where it listens: `http://127.0.0.1:8001/metrics`. */
  readonly url: string;
  close(): Promise<void>;
}

/** 200 if it is good, else 503. */
export interface ProbeAnswer {
  readonly isGood: boolean;
  /** One line for people. */
  readonly text: string;
}

export interface EndpointOptions {
  /** By path, such as `/health`. */
  readonly probes?: Readonly<Record<string, () => ProbeAnswer>>;
  /** Makes the text of an answer. */
  readonly render: () => string | Promise<string>;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0: any free one. Default 8001. */
  readonly port?: number;
  readonly warn?: (message: string) => void;
}

const REQUEST_TIMEOUT_MS = 5_000;
const MAX_CONNECTIONS = 32;

/**
 * @example
 * const endpoint = await serveMetrics({ render: () => hub.render() });
 */
export async function serveMetrics(options: EndpointOptions): Promise<MetricsEndpoint> {
  const { render, probes = {}, host = '127.0.0.1', port = 8_001, warn = () => undefined } = options;
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => {
      const { method, url = '' } = request;
      const say = (status: number, type: string, text: string): void => {
        response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
        response.end(method === 'HEAD' ? undefined : text);
      };
      const path = url.split('?', 1)[0]!;
      const probe = Object.hasOwn(probes, path) ? probes[path] : undefined;
      if (path !== '/metrics' && !probe) {
        return say(404, PLAIN, `not found: use ${['/metrics', ...Object.keys(probes)].join(', ')}\n`);
      }
      if (method !== 'GET' && method !== 'HEAD') return say(405, PLAIN, 'method not allowed: use GET\n');
      if (probe) {
        const { isGood, text } = probe();
        return say(isGood ? 200 : 503, PLAIN, `${text}\n`);
      }
      Promise.resolve()
        .then(render)
        .then(
          (text) => say(200, 'text/plain; version=0.0.4; charset=utf-8', text),
          (error: unknown) => {
            warn(`the metrics could not be made: ${(error as Error).message}`);
            say(500, PLAIN, 'could not collect the metrics\n');
          },
        );
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(REQUEST_TIMEOUT_MS * 2);
  await listening(server, host, port);
  const address = server.address() as { port: number };
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const PLAIN = 'text/plain; charset=utf-8';

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === 'EADDRINUSE' ? 'the port is in use' : cause.message;
      reject(
        new CrawlError('OPTION_INVALID', `cannot serve metrics at ${host}:${port} (prometheus_port): ${reason}`, {
          cause,
        }),
      );
    });
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      // A later failure to accept connections must not end a crawl.
      server.on('error', () => undefined);
      resolve();
    });
  });
}
