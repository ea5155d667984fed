// HTTP clients of Crawlee 4, which have `fetch` in place of 3's `stream`: used as one of 3's.
// Promise: a client with `stream` is one of 3's, whatever else it has.
import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { processHttpRequestOptions, type BaseHttpClient, type HttpRequest, type HttpResponse } from './http-client.js';
import type { BaseHttpResponseData, ResponseTypes, StreamingHttpResponse } from './http-client.js';

/** An HTTP client as Crawlee 4 has them: the standard `Request` and `Response`. */
export interface FetchHttpClient {
  fetch(request: Request, options?: { proxyUrl?: string; signal?: AbortSignal }): Promise<Response>;
}

/** Any client as one of Crawlee 3's. */
export function asBaseHttpClient(client: BaseHttpClient | FetchHttpClient): BaseHttpClient {
  if (typeof (client as Partial<BaseHttpClient>).stream === 'function') return client as BaseHttpClient;
  return fromFetch(client as FetchHttpClient);
}

function fromFetch(client: FetchHttpClient): BaseHttpClient {
  const ask = async (given: HttpRequest): Promise<Response> => {
    const { url, method = 'GET', headers, body, signal, proxyUrl } = given;
    const request = new Request(url, {
      method,
      headers: headers as Record<string, string>,
      ...(body === undefined ? {} : { body: body as NonNullable<RequestInit['body']> }),
      ...(body instanceof Readable ? { duplex: 'half' as const } : {}),
      ...(signal ? { signal } : {}),
      // Redirects are followed by the crawl, so that each is checked.
      redirect: 'manual',
    });
    return client.fetch(request, { ...(proxyUrl ? { proxyUrl } : {}), ...(signal ? { signal } : {}) });
  };
  return {
    async sendRequest<Type extends keyof ResponseTypes = 'text'>(
      given: HttpRequest<Type>,
    ): Promise<HttpResponse<Type>> {
      const request = processHttpRequestOptions(given as never) as HttpRequest<Type>;
      const response = await ask(request as HttpRequest);
      const bytes = Buffer.from(await response.arrayBuffer());
      const { responseType = 'text' } = given;
      const body = responseType === 'buffer' ? bytes : responseType === 'json' ? JSON.parse(String(bytes)) : `${bytes}`;
      return { ...dataOf(response, request as HttpRequest), request, body: body as ResponseTypes[Type] };
    },
    async stream(request): Promise<StreamingHttpResponse> {
      const response = await ask(request);
      const stream = response.body
        ? Readable.fromWeb(response.body as unknown as NodeReadableStream<Uint8Array>)
        : Readable.from([]);
      const progress = { percent: 0, transferred: 0 };
      return { ...dataOf(response, request), request, stream, downloadProgress: progress, uploadProgress: progress };
    },
  };
}

function dataOf({ status, statusText, headers, url }: Response, request: HttpRequest): BaseHttpResponseData {
  return {
    url: url || String(request.url),
    statusCode: status,
    statusMessage: statusText,
    headers: { ...Object.fromEntries(headers), ...setCookies(headers) },
    redirectUrls: [],
    trailers: {},
    complete: true,
  };
}

/** Several cookies in one line cannot be told apart again. */
function setCookies(headers: Headers): Record<string, string[]> {
  const lines = headers.getSetCookie();
  return lines.length > 0 ? { 'set-cookie': lines } : {};
}
