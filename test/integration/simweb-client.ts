// A plain HTTP client for the tests of the synthetic web: one connection per request, nothing followed or hidden.
import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Whether the whole body came, as far as HTTP can tell. */
  readonly complete: boolean;
}

export interface AskOptions extends RequestOptions {
  readonly ca?: string;
  readonly body?: string;
  /** Hang up after this many bytes of body. */
  readonly maxBytes?: number;
}

/** Rejects with the socket's error; a body cut short is a reply that is not complete. */
export function ask(url: string, options: AskOptions = {}): Promise<Reply> {
  const { maxBytes = Infinity } = options;
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const request = send(url, { agent: false, maxHeaderSize: 200_000, ...options }, (response) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      const done = (): void => {
        const { statusCode = 0, headers, complete } = response;
        resolve({ status: statusCode, headers, body: Buffer.concat(pieces), complete });
      };
      response.on('data', (piece: Buffer) => {
        pieces.push(piece);
        bytes += piece.length;
        if (bytes > maxBytes) response.destroy();
      });
      response.on('close', done);
      response.on('error', done);
    });
    request.on('error', reject);
    request.end(options.body);
  });
}
