// A server that answers every path after some milliseconds, and says at the end how many requests were open on average.
import { createServer } from 'node:http';

const latencyMs = Number(process.argv[2]);
const PAGE = Buffer.from(
  `<html><title>A page</title><body><p>${'Some words of a page. '.repeat(20)}</p></body></html>`,
);
const events = [];
let served = 0;
const server = createServer((request, response) => {
  if (latencyMs > 0) events.push([performance.now(), 1]);
  const answer = () => {
    served++;
    if (latencyMs > 0) events.push([performance.now(), -1]);
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': PAGE.length }).end(PAGE);
  };
  if (latencyMs > 0) setTimeout(answer, latencyMs);
  else answer();
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume().on('end', () => {
  console.log(JSON.stringify({ served, meanOpen: latencyMs > 0 ? meanOpen() : 0 }));
  process.exit();
});

/** Between the first and the last second. */
function meanOpen() {
  const from = events[0][0] + 1000;
  const to = events.at(-1)[0] - 1000;
  let open = 0;
  let area = 0;
  let atMs = from;
  for (const [ms, change] of events) {
    const until = Math.min(Math.max(ms, from), to);
    area += open * (until - atMs);
    atMs = until;
    open += change;
  }
  return area / (to - from);
}
