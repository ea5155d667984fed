// One batch in a process of its own: `full` awaits all results, `stream` reads them one by one.
import { SemaphoreDispatcher, WebCrawler } from '../../dist/index.js';

const [kind, port, count, permits] = process.argv.slice(2);
const total = Number(count);
const crawler = await WebCrawler.open({ engine: 'http' });
const dispatcher = new SemaphoreDispatcher({ permits: Number(permits) });
let pulled = 0;
let succeeded = 0;
if (kind === 'full') {
  const urls = Array.from({ length: total }, (_, n) => `http://127.0.0.1:${port}/page/${n}`);
  const results = await crawler.runMany(urls, {}, dispatcher);
  succeeded = results.filter(({ success }) => success).length;
  console.log(JSON.stringify({ succeeded }));
} else {
  async function* urls() {
    for (; pulled < total; pulled++) yield `http://127.0.0.1:${port}/page/${pulled}`;
  }
  let read = 0;
  let mostAhead = 0;
  let peak = 0;
  let early = 0;
  for await (const { success } of crawler.runMany(urls(), { stream: true }, dispatcher)) {
    if (success) succeeded++;
    mostAhead = Math.max(mostAhead, pulled - ++read);
    if (read % 1000 === 0) peak = Math.max(peak, process.memoryUsage.rss());
    if (read === total / 10) early = process.memoryUsage.rss();
  }
  const { user, system } = process.cpuUsage();
  console.log(
    JSON.stringify({
      succeeded,
      mostAhead,
      peakRssMb: Math.round(peak / 1e6),
      earlyRssMb: Math.round(early / 1e6),
      cpuUsPerUrl: Math.round((user + system) / total),
    }),
  );
}
await crawler.close();
