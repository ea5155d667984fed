// `context.crawler` of a handler on pods: what works there, and what says why it does not.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { podsTrial } from '../support/pods-trial.js';
import { serveSite } from '../support/site.js';

const HANDLER = `
export default async function handle({ request, crawler, pushData }) {
  const state = await crawler.useState({ pages: 0 });
  state.pages++;
  if (new URL(request.url).pathname !== '/start') return pushData({ path: new URL(request.url).pathname, pages: state.pages });
  const { addedRequests } = await crawler.addRequests([new URL('/added', request.url).href]);
  const refusals = [];
  for (const call of ['stop', 'teardown', 'getRequestQueue', 'exportData']) {
    try { await crawler[call](); } catch (error) { refusals.push([call, error.code, error.message]); }
  }
  await pushData({
    path: '/start', isNew: !addedRequests[0].wasAlreadyPresent, finished: crawler.stats.state.requestsFinished, refusals,
  });
}
`;

it('adds requests, keeps state and counts; what one process cannot do for all says what to use', async () => {
  const site = await serveSite({ '/start': '<title>start</title>', '/added': '<title>added</title>' });
  const trial = await podsTrial({
    embedded: 2,
    seeds: [`${site.url}/start`],
    more: ['handler: handler.mjs', 'max_duration: 60'],
  });
  await writeFile(path.join(trial.folder, 'handler.mjs'), HANDLER);
  const { code, stdout, stderr } = await trial.finished();
  await site.close();
  expect(code, stdout + stderr).toBe(0);
  const items: Record<string, unknown>[] = [];
  for (const folder of trial.dataDirs) {
    const dataset = path.join(folder, 'datasets', 'default');
    for (const file of await readdir(dataset).catch(() => [])) {
      if (!file.endsWith('.jsonl')) continue;
      const lines = (await readFile(path.join(dataset, file), 'utf8')).split('\n').filter(Boolean);
      items.push(...lines.map((line) => JSON.parse(line) as Record<string, unknown>));
    }
  }
  expect(items.map(({ path: at }) => at).sort()).toEqual(['/added', '/start']);
  const start = items.find(({ path: at }) => at === '/start')!;
  expect(start).toMatchObject({ isNew: true, finished: 0 });
  const refusals = start.refusals as string[][];
  expect(refusals.map(([call, code]) => [call, code])).toEqual([
    ['stop', 'NOT_ON_PODS'],
    ['teardown', 'NOT_ON_PODS'],
    ['getRequestQueue', 'NOT_ON_PODS'],
    ['exportData', 'NOT_ON_PODS'],
  ]);
  for (const [, , message] of refusals) expect(message).toMatch(/does not work on pods: /);
  expect(items.find(({ path: at }) => at === '/added')).toMatchObject({ pages: 2 });
});
