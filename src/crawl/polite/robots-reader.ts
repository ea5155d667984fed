// Fetches one robots.txt over the crawl's engine: guarded, timed and proxied like any request.
// Promise: reads at most 500 KiB, and returns every outcome as an answer.
import { asCrawlError } from '../../errors.js';
import type { Capture, Engine } from '../../fetch/engine.js';
import type { RobotsAnswer } from '../../politeness/robots/cache.js';
import { MAX_ROBOTS_BYTES } from '../../politeness/robots/robots.js';
import { retryAfterMs } from '../run/retry.js';
import type { Time } from '../time.js';

export interface RobotsReaderOptions {
  readonly engine: Engine;
  readonly userAgentFor: (url: string) => string;
  readonly timeoutMs: number;
  readonly ignoreTlsErrors: boolean;
  readonly proxyUrl: (url: string) => Promise<string | undefined>;
  readonly time: Time;
}

/** What came, and the status to log: a number, or the code of the failure. */
export interface RobotsReading {
  readonly answer: RobotsAnswer;
  readonly status: number | string;
}

/** `beforeSend`, `repeatAfterMs` and `seeded` as in an order. */
export type ReadRobots = (
  url: string,
  signal: AbortSignal,
  beforeSend?: () => void,
  repeatAfterMs?: number,
  seeded?: boolean,
) => Promise<RobotsReading>;

export function createRobotsReader(options: RobotsReaderOptions): ReadRobots {
  return async (url, signal, beforeSend, repeatAfterMs, seeded) => {
    try {
      const order = {
        url,
        method: 'GET',
        headers: { 'user-agent': options.userAgentFor(url), accept: 'text/plain,*/*;q=0.5' },
        proxyUrl: await options.proxyUrl(url),
        // Each hop is a request of its own, and spends a turn of its own.
        redirects: 'report' as const,
        maxRedirects: 0,
        timeoutMs: options.timeoutMs,
        // Read as a stream and cut: a large file is not an error.
        maxBodyBytes: Infinity,
        stream: true,
        ignoreTlsErrors: options.ignoreTlsErrors,
        beforeSend,
        repeatAfterMs,
        seeded,
        signal,
        yields: 'until-end' as const,
      };
      return await options.engine.visit(order, (capture) => read(capture, options.time));
    } catch (thrown) {
      const { code, message } = asCrawlError(thrown, 'CONNECT_FAILED');
      return { answer: { kind: 'failure', code, message }, status: code };
    }
  };
}

async function read(capture: Capture, time: Time): Promise<RobotsReading> {
  const { statusCode, headers, redirectTo, stream } = capture;
  if (redirectTo !== undefined) return { answer: { kind: 'redirect', to: redirectTo }, status: statusCode };
  const chunks: Buffer[] = [];
  let bytes = 0;
  if (stream && statusCode >= 200 && statusCode < 300) {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= MAX_ROBOTS_BYTES) break;
    }
  }
  const pause = retryAfterMs(headers['retry-after'], time.wallMs());
  const body = Buffer.concat(chunks);
  return {
    answer: { kind: 'answer', statusCode, body, ...(pause === undefined ? {} : { retryAfterMs: pause }) },
    status: statusCode,
  };
}
