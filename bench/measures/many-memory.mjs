// A batch in a container whose memory fills up and frees again: joins the cgroup it is given, then crawls.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

const [procsFile, ballastMb] = process.argv.slice(2);
// Before anything is read about memory: from here on the limit is the container's.
if (procsFile) writeFileSync(procsFile, String(process.pid));
const { MemoryAdaptiveDispatcher, WebCrawler } = await import('../../dist/index.js');

let open = 0;
let mostOpen = 0;
const server = createServer((_request, response) => {
  mostOpen = Math.max(mostOpen, ++open);
  response.once('close', () => open--);
  setTimeout(() => response.end('<p>page</p>'), 50);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const seen = { pauses: 0, resumes: 0, highest: 0, openWhilePaused: 0 };
let isPaused = false;
const monitor = {
  begin: () => () => undefined,
  queued: () => undefined,
  started: () => undefined,
  ended: () => undefined,
  memory(percent, paused) {
    seen.highest = Math.max(seen.highest, percent);
    if (paused && !isPaused) seen.pauses++;
    if (!paused && isPaused) seen.resumes++;
    isPaused = paused;
  },
};
const dispatcher = new MemoryAdaptiveDispatcher({ maxSessionPermit: 20, checkIntervalMs: 50, monitor });
const crawler = await WebCrawler.open();
const urls = Array.from({ length: 2000 }, (_, n) => `http://127.0.0.1:${server.address().port}/${n}`);
let ended = 0;
let isOver = false;
async function fillAndFree() {
  while (!isOver) {
    await wait(700);
    let ballast = Buffer.alloc(Number(ballastMb) * 1e6, 1);
    await wait(500);
    if (isPaused) seen.openWhilePaused = Math.max(seen.openWhilePaused, open);
    const before = ended;
    await wait(500);
    seen.endedWhileFull = (seen.endedWhileFull ?? 0) + ended - before;
    ballast = undefined;
    globalThis.gc();
  }
}
const filling = fillAndFree();
let succeeded = 0;
for await (const { success } of crawler.runMany(urls, { maxRetries: 0 }, dispatcher)) {
  ended++;
  if (success) succeeded++;
}
isOver = true;
await filling;
await crawler.close();
server.close();
console.log(JSON.stringify({ succeeded, mostOpen, ...seen }));
