// The schedule of webhooks, on a clock of the test's: at once, then after 1, 5 and 15 minutes, then the next event.
import { expect, it } from 'vitest';
import { openLmdbJobs } from '../../src/serve/jobs/lmdb-store.js';
import { createWebhooks } from '../../src/serve/watch/webhooks.js';
import { silent, temporaryFolder } from '../support/crawl.js';
import { eventually, startSite } from '../support/serve.js';

const MINUTE_MS = 60_000;

it('tries an event again after 1, 5 and 15 minutes, then gives it up; a restart keeps the time', async () => {
  let nowMs = 1_000_000;
  let look: () => void = () => undefined;
  const clock = {
    nowMs: () => nowMs,
    every(_ms: number, call: () => void) {
      look = call;
      return () => undefined;
    },
  };
  const tries: { type: string; atMs: number }[] = [];
  const site = await startSite((_request, response, body) => {
    const { type } = JSON.parse(body) as { type: string };
    tries.push({ type, atMs: nowMs - 1_000_000 });
    response.writeHead(type === 'crawl.started' ? 500 : 200).end();
  });
  const folder = await temporaryFolder();
  const store = await openLmdbJobs(folder);
  const open = () => createWebhooks({ store, allowPrivate: ['127.0.0.1'], secret: 's', log: silent, clock });
  let webhooks = open();
  const { id } = await store.create({
    id: 'job',
    kind: 'crawl',
    owner: 'me',
    url: 'http://a.example/',
    request: {},
    webhook: { url: `${site.url}/hook` },
  });
  await store.end(id, 'completed');
  webhooks.wake(id);
  const dueAtMs = async () => (await store.read(id))!.delivery!.dueAtMs;

  for (const [count, waitMs] of [1, 5, 15].entries()) {
    await eventually(async () => tries.length === count + 1 && (await dueAtMs()) > nowMs, 'a try has failed');
    expect(await dueAtMs()).toBe(nowMs + waitMs * MINUTE_MS);
    // A moment before its time nothing happens, also not after a restart.
    nowMs += waitMs * MINUTE_MS - 1;
    if (count === 1) {
      await webhooks.close();
      webhooks = open();
    }
    webhooks.wake(id);
    look();
    await new Promise((resume) => setTimeout(resume, 100));
    expect(tries).toHaveLength(count + 1);
    nowMs += 1;
    look();
  }
  await eventually(async () => tries.length === 5, 'the next event came');
  expect(tries.map(({ type, atMs }) => [type, atMs / MINUTE_MS])).toEqual([
    ['crawl.started', 0],
    ['crawl.started', 1],
    ['crawl.started', 6],
    ['crawl.started', 21],
    ['crawl.completed', 21],
  ]);
  await webhooks.close();
  await store.close();
  await site.close();
});
