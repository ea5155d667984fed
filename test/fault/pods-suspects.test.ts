// Pages that kill the worker that handles them: each is identified and fails alone, and every other page is stored.
// A real crawl on pods, a real server, real deaths of processes; embedded, in Redis, and with parsers.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Request } from '../../src/request/request.js';
import { Simweb } from '../../src/testing/index.js';
import { lastLine, podsTrial, type TrialPlan } from '../support/pods-trial.js';
import { redisMissing } from '../support/redis-server.js';

const HOSTS = 8;
const PAGES_PER_HOST = 8;
/** So many pages may be in the hands of a worker when it dies: each halving of them costs a death. */
const IN_HANDS = 8;

/** Ends its process over the killers, at once or while others are in its hands; the rest takes a moment. */
function handlerOf(killers: readonly string[]): string {
  return `
    import { setTimeout as delay } from 'node:timers/promises';
    const killers = new Set(${JSON.stringify(killers)});
    export default async ({ request, enqueueLinks, pushData }) => {
      await enqueueLinks({ strategy: 'all' });
      await delay(30);
      if (killers.has(request.url)) process.exit(9);
      await pushData({ url: request.url });
    };
  `;
}

async function crawlWithKillers(count: number, plan: Omit<TrialPlan, 'seeds'>) {
  await using web = await Simweb.start({
    hosts: HOSTS,
    pagesPerHost: PAGES_PER_HOST,
    pageBytes: 500,
    linksPerPage: 12,
    latencyMs: 20,
  });
  const urls = [...web.allUrls()];
  const killers = [urls[7]!, urls.at(-3)!].slice(0, count);
  const trial = await podsTrial({
    ...plan,
    seeds: urls,
    timeoutMs: 220_000,
    more: ['handler: ./handlers.mjs', `fetcher_workers: ${IN_HANDS}`, ...(plan.more ?? [])],
  });
  await writeFile(path.join(trial.folder, 'handlers.mjs'), handlerOf(killers));
  const { code, stdout, stderr } = await trial.run().ended;
  const innocents = urls
    .filter((url) => !killers.includes(url))
    .map((url) => new Request({ url }).uniqueKey)
    .sort();
  return { code, stdout, stderr, innocents, stored: await trial.stored() };
}

const expected = (killers: number) => `${HOSTS * PAGES_PER_HOST - killers} pages: nothing is left to crawl`;

describe('pages that end their worker', () => {
  it('are two, and set aside alone in an embedded pod, and every other page is stored once', async () => {
    const { code, stdout, stderr, stored, innocents } = await crawlWithKillers(2, {});
    expect([code, lastLine(stdout)], stderr).toEqual([0, expect.stringContaining(expected(2))]);
    expect(stored).toEqual(innocents);
  }, 240_000);

  it.skipIf(redisMissing)(
    'are two, and set aside alone by the fetchers of a Redis pod',
    async () => {
      const { code, stdout, stderr, stored, innocents } = await crawlWithKillers(2, {
        redis: 1,
        more: ['fetchers_per_pod: 2'],
      });
      expect([code, lastLine(stdout)], stderr).toEqual([0, expect.stringContaining(expected(2))]);
      expect(stored).toEqual(innocents);
    },
    240_000,
  );

  it.skipIf(redisMissing)(
    'are one, and set aside alone by the parsers of a Redis pod',
    async () => {
      const { code, stdout, stderr, stored, innocents } = await crawlWithKillers(1, {
        redis: 1,
        more: ['parsers_per_pod: 2', `parser_workers: ${IN_HANDS}`, 'handoff_dir: handoff'],
      });
      expect([code, lastLine(stdout)], stderr).toEqual([0, expect.stringContaining(expected(1))]);
      expect(stored).toEqual(innocents);
    },
    240_000,
  );
});
