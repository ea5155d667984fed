// A page whose work blocks the event loop is named while it blocks: in a script, in a batch, and on pods, where its worker
// is killed, the page fails, and the pages in progress beside it lose nothing.
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { type Started, startNode } from '../integration/cli-process.js';
import { temporaryFolder } from '../support/crawl.js';
import { until } from '../support/pods-crawl.js';
import { podsTrial } from '../support/pods-trial.js';
import { redisMissing } from '../support/redis-server.js';
import { serveSite } from '../support/site.js';

const program = fileURLToPath(new URL('./programs/blocking.mjs', import.meta.url));
const handler = fileURLToPath(new URL('./programs/blocking-handler.mjs', import.meta.url));
const GOOD = 24;

async function site() {
  const names = [...Array.from({ length: GOOD }, (_, n) => `/good${n}`), '/bad'];
  const web = await serveSite(Object.fromEntries(names.map((name) => [name, `<title>${name}</title><p>a page`])));
  onTestFinished(() => web.close());
  const [first, second] = [names.slice(0, GOOD / 2), names.slice(GOOD / 2, GOOD)];
  return {
    good: names.slice(0, GOOD).map((name) => web.url + name),
    bad: `${web.url}/bad`,
    urls: [...first, '/bad', ...second].map((name) => web.url + name),
  };
}

async function start(plan: object): Promise<Started> {
  const folder = await temporaryFolder();
  const started = startNode([program, JSON.stringify({ folder, blockedLoopSecs: 1.5, ...plan })], { cwd: folder });
  onTestFinished(async () => {
    started.signal('SIGKILL');
    await started.ended;
  });
  return started;
}

for (const [kind, acts] of [
  ['script', ['loop', 'regexp']],
  ['batch', ['stand still', 'regexp']],
] as const) {
  for (const act of acts) {
    it(`names the page of a ${kind} that blocks for ever by ${act}, while it blocks`, async () => {
      const { urls, bad } = await site();
      const started = await start({ kind, act, urls });
      await until(() => started.stderr().includes('VISIT_BLOCKED_LOOP'));
      expect(started.stderr()).toContain(`by the visit of ${bad} (VISIT_BLOCKED_LOOP)`);
      expect(started.stdout()).not.toContain('end');
    });
  }
}

it('counts a block that ends, and stores every page', async () => {
  const { urls, bad } = await site();
  const { stdout, stderr } = await (await start({ kind: 'script', act: 'some seconds', urls })).ended;
  expect(stdout).toContain(`end ${GOOD + 1} 1`);
  expect(stderr).toMatch(new RegExp(`was blocked for [\\d.]+ s: by the visit of ${bad}`));
});

it('names those that may have blocked when user code blocks after it waited', async () => {
  const { urls, bad } = await site();
  const { stdout, stderr } = await (await start({ kind: 'script', act: 'late-some seconds', urls })).ended;
  expect(stdout).toContain(`end ${GOOD + 1} 1`);
  expect(stderr).toMatch(/(?:one of the visits|probably by the visit) of/);
  expect(stderr.match(/blocked for .*/)![0]).toContain(bad);
});

it('says nothing of a crawl that does not block', async () => {
  const { good } = await site();
  const { stdout, stderr } = await (await start({ kind: 'script', act: 'loop', urls: good })).ended;
  expect([stdout.includes(`end ${GOOD} 0`), stderr.includes('VISIT_BLOCKED_LOOP')]).toEqual([true, false]);
});

for (const [name, plan] of [
  ['an embedded pod', { embedded: 1, more: [] }],
  ['a pod in Redis', { redis: 1, more: [] }],
  ['a pod with a parser', { redis: 1, more: ['parsers_per_pod: 1'] }],
] as const) {
  it.skipIf('redis' in plan && redisMissing !== undefined)(
    `fails the page that blocked the worker of ${name} at its first death, and nothing else`,
    async () => {
      const { urls, good, bad } = await site();
      const trial = await podsTrial({ ...plan, seeds: urls, more: [...plan.more, `handler: ${handler}`] });
      process.env.BLOCKING_ACT = 'stand still';
      onTestFinished(() => void delete process.env.BLOCKING_ACT);
      const { stdout, stderr } = await trial.run().ended;
      const said = `${stdout}${stderr}${await trial.log(0)}`;
      expect(await trial.stored()).toEqual([...good].sort());
      expect(said).toContain(`by the visit of ${bad} (VISIT_BLOCKED_LOOP)`);
      // One death, of one worker: nobody was tried again.
      expect(said.match(/was silent for/g)).toHaveLength(1);
    },
  );
}
