// `kill -9` of servers during crawls and batches with webhooks: one server on a data folder, or several on one Redis.
// Says what went wrong: pages that are missing or twice, events that are missing or out of order, jobs that did not end.
import { Simweb } from '../../src/testing/index.js';
import { startRedis } from './redis-server.js';
import { dataFolder, endedAt, eventually, LOOPBACK, type ServerProcess, startHooks, startServe } from './serve.js';

export interface KillsPlan {
  /** 1: embedded. More: they share a Redis and are killed in turn. */
  readonly servers: number;
  readonly kills: number;
  /** A crawl and a batch of each. */
  readonly hosts: number;
  readonly pagesPerHost: number;
}

export interface KillsReport {
  readonly jobs: number;
  readonly kills: number;
  readonly pages: number;
  readonly events: number;
  /** Events that came again after a kill. */
  readonly repeatedEvents: number;
  readonly problems: readonly string[];
}

interface KilledJob {
  readonly name: 'crawl' | 'batch_scrape';
  readonly where: string;
  readonly id: string;
}

const JOB_MS = 300_000;

export async function killServers({ servers: count, kills, hosts, pagesPerHost }: KillsPlan): Promise<KillsReport> {
  const web = await Simweb.start({ hosts, pagesPerHost, pageBytes: 1_500, crossHostLinks: 0, latencyMs: 150 });
  const hooks = await startHooks();
  const redis = count > 1 ? await startRedis() : undefined;
  const folders = await Promise.all(Array.from({ length: count }, dataFolder));
  const flags = [...LOOPBACK, '--concurrency', '20', ...(redis ? ['--redis', redis.url] : [])];
  const start = (index: number): Promise<ServerProcess> => startServe(folders[index]!.dir, flags);
  const servers: ServerProcess[] = [];
  const problems: string[] = [];
  try {
    for (let index = 0; index < count; index++) servers.push(await start(index));
    const jobs = await begin(servers, web, hosts, pagesPerHost, `${hooks.url}/hook`);
    const all = jobs.length * pagesPerHost;
    for (let kill = 0; kill < kills; kill++) {
      const dying = kill % count;
      // Let something happen between two kills, so that they hit work of every kind.
      await progress(servers[dying]!, jobs, all);
      await new Promise((resume) => setTimeout(resume, 40 * (kill % 7)));
      await servers[dying]!.kill();
      if (count > 1) await progress(servers[(dying + 1) % count]!, jobs, all);
      servers[dying] = await start(dying);
    }
    let events = 0;
    let repeatedEvents = 0;
    for (const job of jobs) {
      const urls = await check(servers[0]!, job, pagesPerHost, problems);
      const last = `${job.name}.completed`;
      await eventually(async () => hooks.received.get(job.id)?.at(-1)?.type === last, 'the last event came', JOB_MS);
      const told = hooks.received.get(job.id)!.map(({ type, url }) => `${type} ${url}`);
      // At least once: an event may come again after a kill, and then nothing before it does.
      const once = told.filter((event, index) => index === 0 || event !== told[index - 1]);
      const expected = [`${job.name}.started `, ...urls.map((url) => `${job.name}.page ${url}`), `${last} `];
      if (JSON.stringify(once) !== JSON.stringify(expected))
        problems.push(`${job.where}: events out of order or missing`);
      events += once.length;
      repeatedEvents += told.length - once.length;
    }
    for (const server of servers) {
      const { code } = await server.stop();
      if (code !== 0) problems.push(`a server ended with ${code}`);
    }
    return { jobs: jobs.length, kills, pages: all, events, repeatedEvents, problems };
  } finally {
    for (const server of servers) await server.kill();
    await web.close();
    await hooks.close();
    await redis?.dispose();
    for (const { remove } of folders) await remove();
  }
}

async function begin(
  servers: readonly ServerProcess[],
  web: Simweb,
  hosts: number,
  pages: number,
  webhook: string,
): Promise<KilledJob[]> {
  const jobs: KilledJob[] = [];
  for (let host = 0; host < hosts; host++) {
    const server = servers[host % servers.length]!;
    const scrapeOptions = { formats: ['links'] };
    const crawl = await server.ask('POST', '/v2/crawl', { url: web.url(host), limit: 1_000, webhook, scrapeOptions });
    jobs.push({ name: 'crawl', where: `/v2/crawl/${crawl.json.id}`, id: crawl.json.id });
    const urls = Array.from({ length: pages }, (_, page) => web.url(host, `/_/page?title=p${page}`));
    const batch = await server.ask('POST', '/v2/batch/scrape', { urls, webhook, ...scrapeOptions });
    jobs.push({ name: 'batch_scrape', where: `/v2/batch/scrape/${batch.json.id}`, id: batch.json.id });
  }
  return jobs;
}

/** Resolves when a page more is done, or all are. */
async function progress(server: ServerProcess, jobs: readonly KilledJob[], all: number): Promise<void> {
  const completed = async (): Promise<number> => {
    const states = await Promise.all(jobs.map(async ({ where }) => (await server.ask('GET', `${where}?limit=1`)).json));
    return states.reduce((sum, { completed: count }) => sum + Number(count), 0);
  };
  const before = await completed();
  await eventually(async () => before >= all || (await completed()) > before, 'a page is done', 120_000);
}

/** The URLs of a job's results, in their order. */
async function check(server: ServerProcess, job: KilledJob, pages: number, problems: string[]): Promise<string[]> {
  const state = await endedAt(server, job.where, JOB_MS);
  const urls = (state.data as { metadata: { sourceURL: string } }[]).map(({ metadata }) => metadata.sourceURL);
  if (state.status !== 'completed') problems.push(`${job.where} is ${state.status}`);
  if (urls.length !== pages || new Set(urls).size !== pages) {
    problems.push(`${job.where} has ${urls.length} pages, ${new Set(urls).size} of them once, of ${pages}`);
  }
  return urls;
}
