// A collector of OpenTelemetry on loopback: keeps what is posted to it, and answers as it is told.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Attribute, Span } from '../../src/observe/otlp/exporter.js';

export interface Posted {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Collector extends AsyncDisposable {
  readonly url: string;
  readonly posted: readonly Posted[];
  spans(): Span[];
  /** The attributes of the process that sent the first spans. */
  resource(): Record<string, string>;
  /** Undefined: never answers. */
  status: number | undefined;
}

export async function startCollector(): Promise<Collector> {
  const posted: Posted[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      posted.push({ path: request.url ?? '', headers: request.headers, text });
      if (collector.status !== undefined) response.writeHead(collector.status).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const traces = () =>
    posted
      .filter(({ path }) => path === '/v1/traces')
      .flatMap(({ text }) => (JSON.parse(text) as { resourceSpans: ResourceSpans[] }).resourceSpans);
  const collector: Collector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posted,
    status: 200,
    spans: () => traces().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    resource: () => attributesOf(traces()[0]!.resource),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return collector;
}

interface ResourceSpans {
  readonly resource: { readonly attributes: readonly Attribute[] };
  readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
}

export function attributesOf({ attributes }: { readonly attributes: readonly Attribute[] }): Record<string, string> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] as string]));
}
