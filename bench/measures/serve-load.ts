// A server under load: 200 scrapes at once alone and beside a crawl of 10,000 pages, memory, 10,000 silent connections,
// and the CPU time of a scrape through the API beside the same call of the library.
import { WebCrawler } from '../../dist/index.js';
import { startSimwebProcess } from '../../dist/testing/index.js';
import { cpuMsOf } from '../../test/support/processes.js';
import { dataFolder, LOOPBACK, startServe, type ServerProcess } from '../../test/support/serve.js';
import { closed, crawlUnderWay, rssOf, scrapesAtOnce, silentSockets } from '../../test/support/serve-load.js';
import type { Figure } from '../measure.js';

const CLIENTS = 200;
const SOCKETS = 10_000;
const ROUNDS = 3;
const COMPARED = 200;
const COMPARED_ROUNDS = 9;
const WARM_UP = 200;

export async function measure(): Promise<Figure[]> {
  await using web = await startSimwebProcess({
    hosts: 50,
    pagesPerHost: 200,
    pageBytes: 10_000,
    crossHostLinks: 0.1,
  });
  const urlOf = (index: number): string => web.url(index % 50, index % 200);
  const data = await dataFolder();
  const server = await startServe(data.dir, LOOPBACK);
  try {
    const overhead = await overheadOf(server, urlOf);
    console.log(`  CPU of a scrape by the API, by the library: ${overhead.text}`);
    const rounds = async () => {
      const all = [];
      for (let round = 0; round < ROUNDS; round++) all.push(await scrapesAtOnce(server, CLIENTS, urlOf));
      return all;
    };
    await scrapesAtOnce(server, CLIENTS, urlOf);
    const alone = await rounds();
    console.log(`  alone: ${JSON.stringify(alone)}`);
    const crawl = await crawlUnderWay(server, web.url(0), 10_000);
    const beside = await rounds();
    console.log(`  beside a crawl: ${JSON.stringify(beside)}`);
    const { completed } = (await server.ask('GET', `${crawl}?limit=1`)).json as { completed: number };
    const rss = rssOf(server);
    const sockets = await silentSockets(server, SOCKETS);
    const withSockets = rssOf(server);
    const { failed } = await scrapesAtOnce(server, 50, urlOf);
    await closed(sockets);
    const idle = await silentCostOfIdle();
    const lost = [...alone, ...beside].reduce((sum, one) => sum + one.failed, 0) + failed;
    const p95 = (list: typeof alone) => list.map(({ p95Ms }) => p95Ms).sort((a, b) => a - b)[1]!;
    const mb = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
    return [
      { what: 'requests lost', measured: String(lost), goal: '0' },
      { what: `p95 of ${CLIENTS} scrapes at once, alone`, measured: `${p95(alone)} ms`, goal: 'to compare' },
      {
        what: `… beside a crawl (${completed} pages so far)`,
        measured: `${p95(beside)} ms (${(p95(beside) / p95(alone)).toFixed(1)} ×)`,
        goal: '≤ 3 × alone',
      },
      { what: 'resident memory then', measured: mb(rss), goal: '≤ 600 MB' },
      {
        what: `more with ${SOCKETS} silent connections: a server that does nothing else; this one, whose crawl needs memory too`,
        measured: `${mb(idle)}; ${mb(withSockets - rss)}`,
        goal: '≤ 200 MB',
      },
      { what: 'CPU of a scrape by the API, by the library', measured: overhead.text, goal: 'a difference ≤ 2 ms' },
    ];
  } finally {
    await server.kill();
    await data.remove();
  }
}

/** In turns, so that both meet the same machine; each reads what the API answers with: the main text and the metadata. */
async function overheadOf(server: ServerProcess, urlOf: (index: number) => string): Promise<{ text: string }> {
  let next = 0;
  const tens = async (count: number, each: (url: string) => Promise<void>): Promise<void> => {
    for (let done = 0; done < count; done += 10)
      await Promise.all(Array.from({ length: 10 }, () => each(urlOf(next++))));
  };
  const byApi = async (url: string): Promise<void> => {
    const { status } = await server.ask('POST', '/v2/scrape', { url, formats: ['markdown'] });
    if (status !== 200) throw new Error(`a scrape was answered with ${status}`);
  };
  await using crawler = await WebCrawler.open({ engine: 'auto', allowPrivateAddresses: true });
  const byLibrary = async (url: string): Promise<void> => {
    const { markdown, metadata } = await crawler.run(url);
    if ((markdown.fit || markdown.raw).length === 0 || !metadata) throw new Error('a page without text');
  };
  await tens(WARM_UP, byApi);
  await tens(WARM_UP, byLibrary);
  const apiMs: number[] = [];
  const libraryMs: number[] = [];
  for (let round = 0; round < COMPARED_ROUNDS; round++) {
    const beforeMs = cpuMsOf(server.process.pid!);
    await tens(COMPARED, byApi);
    apiMs.push((cpuMsOf(server.process.pid!) - beforeMs) / COMPARED);
    const before = process.cpuUsage();
    await tens(COMPARED, byLibrary);
    const used = process.cpuUsage(before);
    libraryMs.push((used.user + used.system) / 1_000 / COMPARED);
  }
  const half = (list: number[]): number => [...list].sort((one, other) => one - other)[list.length >> 1]!;
  console.log(`  ${JSON.stringify({ apiMs, libraryMs })}`);
  const [api, library] = [half(apiMs), half(libraryMs)];
  return { text: `${api.toFixed(2)}, ${library.toFixed(2)} ms: ${(api - library).toFixed(2)} ms more` };
}

/** What the connections cost a server that has nothing else to do, and so nothing else to take memory for. */
async function silentCostOfIdle(): Promise<number> {
  const data = await dataFolder();
  const server = await startServe(data.dir, LOOPBACK);
  try {
    const before = rssOf(server);
    const sockets = await silentSockets(server, SOCKETS);
    const more = rssOf(server) - before;
    await closed(sockets);
    return more;
  } finally {
    await server.kill();
    await data.remove();
  }
}
