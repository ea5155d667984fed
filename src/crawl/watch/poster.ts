// Posts changes to a webhook. Promise: resolves only if the other side took the change (2xx).
import { createHttpEngine } from '../../fetch/http/engine.js';

export interface Poster {
  post(json: string): Promise<void>;
  close(): Promise<void>;
}

const POST_MS = 10_000;
const MAX_ANSWER_BYTES = 100_000;

/** The user named the URL: its host may be anywhere. */
export function createPoster(url: string): Poster {
  const engine = createHttpEngine({ allowPrivateAddresses: false });
  engine.allowHost(url);
  return {
    async post(json) {
      await engine.visit(
        {
          url,
          method: 'POST',
          headers: { 'content-type': 'application/json', 'user-agent': 'orcrawl-webhook' },
          payload: json,
          redirects: 'report',
          maxRedirects: 0,
          timeoutMs: POST_MS,
          maxBodyBytes: MAX_ANSWER_BYTES,
          ignoreTlsErrors: false,
        },
        async ({ statusCode }) => {
          if (statusCode < 200 || statusCode >= 300) throw new Error(`it answered ${statusCode}`);
        },
      );
    },
    close: () => engine.close(),
  };
}
