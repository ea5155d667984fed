// A crawl placed as a StatefulSet places it: the machine's name says which pods it runs, probes say how it is, SIGTERM
// drains it, the next start continues, and the end of the crawl does not end the process.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GRACE_SECS } from '../../src/pods/placing/patience.js';
import { Simweb } from '../../src/testing/index.js';
import { orcrawlHere } from '../support/cli-here.js';
import { storedKeys } from '../support/pods-crawl.js';
import { podsTrial } from '../support/pods-trial.js';
import { freePort, redisMissing } from '../support/redis-server.js';
import { MAIN, startNode } from './cli-process.js';

async function until(look: () => Promise<boolean>, patienceMs = 90_000): Promise<void> {
  for (const endMs = performance.now() + patienceMs; performance.now() < endMs; await delay(100)) {
    if (await look().catch(() => false)) return;
  }
  throw new Error('it never happened');
}

describe.skipIf(redisMissing)('a crawl as a StatefulSet', () => {
  it('drains on SIGTERM, is continued by the next container, and stays when it is over', async () => {
    await using web = await Simweb.start({ hosts: 6, pagesPerHost: 40, pageBytes: 500 });
    const trial = await podsTrial({ redis: 2, seeds: web.seeds(), more: ['politeness_delay_seconds: 0.05'] });
    const yaml = await readFile(path.join(trial.folder, 'crawl.yaml'), 'utf8');
    /** As in a cluster: each container has its own address and volume. */
    const machines = await Promise.all(
      [0, 1].map(async (ordinal) => {
        const port = await freePort();
        const data = path.join(trial.folder, `data${ordinal}`);
        const own = yaml
          .replace(/^data_dirs:.*$/m, `data_dirs: [${data}]`)
          .replace(/^log_dir:.*$/m, `log_dir: ${data}/logs`)
          .replace(/^enable_prometheus:.*$/m, `enable_prometheus: true\nprometheus_port: ${port}`);
        await writeFile(path.join(trial.folder, `machine${ordinal}.yaml`), `${own}resume: true\n`);
        const start = () => {
          const flags = ['--config', `machine${ordinal}.yaml`, '--pods-from-hostname', '1', '--stay'];
          const started = startNode([MAIN, 'run', ...flags], {
            cwd: trial.folder,
            env: { HOSTNAME: `crawl-${ordinal}` },
          });
          onTestFinished(async () => {
            started.signal('SIGKILL');
            await started.ended;
          });
          return started;
        };
        const asked = async (what: string) => {
          const answer = await fetch(`http://127.0.0.1:${port}${what}`);
          return { status: answer.status, text: (await answer.text()).trim() };
        };
        return { data, start, asked };
      }),
    );
    const [first, second] = machines as [(typeof machines)[0], (typeof machines)[0]];

    // Alone it waits for the machine that coordinates: it lives and is not ready.
    let running = second.start();
    await until(async () => (await second.asked('/health')).status === 200);
    expect(await second.asked('/ready')).toEqual({ status: 503, text: 'starting' });
    const coordinator = first.start();
    await until(async () => (await first.asked('/ready')).status === 200);
    await until(async () => (await second.asked('/ready')).status === 200);
    await until(async () => /pages_crawled_total\{pod="1"\} [1-9]/.test((await second.asked('/metrics')).text));

    const answers: string[] = [];
    const signalledMs = performance.now();
    running.signal('SIGTERM');
    const drained = running.ended.then((ended) => ended);
    while ((await Promise.race([drained, delay(20, 'runs')])) === 'runs') {
      const { status, text } = await second.asked('/ready').catch(() => ({ status: 0, text: 'gone' }));
      answers.push(`${status} ${text}`);
      if (status !== 503) continue;
      expect((await second.asked('/health').catch(() => ({ status: 200 }))).status).toBe(200);
    }
    const { code, stderr } = await drained;
    expect([code, stderr], 'interrupted').toEqual([130, expect.stringContaining('SIGTERM')]);
    expect(performance.now() - signalledMs).toBeLessThan(GRACE_SECS * 1_000);
    expect(answers).toContain('503 draining');

    running = second.start();
    await until(async () => (await second.asked('/ready')).text === 'the crawl is over');
    await until(async () => (await first.asked('/ready')).text === 'the crawl is over');
    for (const one of machines) expect((await one.asked('/health')).status).toBe(200);
    for (const one of [running, coordinator]) one.signal('SIGTERM');
    for (const one of [running, coordinator]) expect((await one.ended).code).toBe(0);

    const keys = (await Promise.all(machines.map(({ data }) => storedKeys(path.join(data, 'content'))))).flat();
    expect(keys).toHaveLength(6 * 40);
    expect(new Set(keys).size).toBe(keys.length);
    // Each ran its own pods only.
    for (const { data } of machines) expect((await storedKeys(path.join(data, 'content'))).length).toBeGreaterThan(0);
  });

  it('says which name it cannot use', async () => {
    const trial = await podsTrial({ redis: 1, seeds: ['http://a.test/'] });
    const flags = ['run', '--config', 'crawl.yaml', '--pods-from-hostname', '1'];
    const start = (HOSTNAME: string) => orcrawlHere(flags, { cwd: trial.folder, env: { HOSTNAME } });
    expect(await start('laptop')).toMatchObject({ code: 1, stderr: expect.stringContaining('"laptop"') as unknown });
    expect(await start('crawl-1')).toMatchObject({ code: 1, stderr: expect.stringContaining('no pods') as unknown });
  });
});
