// Fifty URLs of one domain at once under a rate limiter, ten of other domains beside them, and one that is refused
// twice with 429: what the servers saw.
import { createServer } from 'node:http';
import { RateLimiter, SemaphoreDispatcher, WebCrawler } from '../../dist/index.js';

const BASE_MS = 200;
const visits = new Map();
const refusals = new Map([['/busy', 2]]);
const server = createServer((request, response) => {
  const host = request.headers.host.split(':')[0];
  const visit = { startMs: performance.now(), endMs: undefined };
  visits.set(host, [...(visits.get(host) ?? []), visit]);
  response.once('finish', () => (visit.endMs = performance.now()));
  const left = refusals.get(request.url) ?? 0;
  refusals.set(request.url, left - 1);
  response.writeHead(left > 0 ? 429 : 200, { 'content-type': 'text/html' }).end('<p>page</p>');
});
await new Promise((resolve) => server.listen(0, resolve));
const { port } = server.address();
const crawler = await WebCrawler.open();
const rateLimiter = new RateLimiter({ baseDelayMs: BASE_MS });
const slow = Array.from({ length: 50 }, (_, n) => `http://127.0.0.1:${port}/${n === 10 ? 'busy' : n}`);
const others = Array.from({ length: 10 }, (_, n) => `http://127.0.0.${n + 2}:${port}/`);
const startedAtMs = performance.now();
let othersMs = 0;
let succeeded = 0;
let attempts = 0;
const dispatcher = new SemaphoreDispatcher({ permits: 50, rateLimiter });
for await (const result of crawler.runMany([...slow, ...others], { maxRetries: 0 }, dispatcher)) {
  if (result.success) succeeded++;
  if (result.url.endsWith('/busy')) attempts = result.dispatch.attempts;
  if (others.includes(result.url)) othersMs = performance.now() - startedAtMs;
}
await crawler.close();
server.close();
const gaps = (list) => list.slice(1).map(({ startMs }, index) => startMs - list[index].endMs);
const seen = visits.get('127.0.0.1');
console.log(
  JSON.stringify({
    succeeded,
    requests: seen.length,
    leastGapMs: Math.min(...gaps(seen)),
    attempts,
    othersMs,
    wholeMs: performance.now() - startedAtMs,
  }),
);
