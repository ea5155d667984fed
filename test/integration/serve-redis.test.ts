// Three servers on one Redis: a job started at one is read, watched and cancelled at another; when servers die it goes on.
// `npm run measure -- serve-kills` kills more often.
import { describe, expect, it } from 'vitest';
import { Simweb } from '../../src/testing/index.js';
import { redisMissing, startRedis } from '../support/redis-server.js';
import { dataFolder, eventually, LOOPBACK, startServe } from '../support/serve.js';
import { killServers } from '../support/serve-kills.js';

describe.skipIf(redisMissing)('servers on one Redis', () => {
  it('go on without a restart of a job when they are killed in turn', async () => {
    const { problems, events } = await killServers({ servers: 3, kills: 3, hosts: 3, pagesPerHost: 25 });
    expect(problems).toEqual([]);
    expect(events).toBe(6 * 27);
  }, 900_000);

  it('read and cancel the jobs of each other', async () => {
    const redis = await startRedis();
    const web = await Simweb.start({ hosts: 1, pagesPerHost: 40, pageBytes: 1_500 });
    const folders = await Promise.all([dataFolder(), dataFolder()]);
    const flags = [...LOOPBACK, '--redis', redis.url];
    const servers = await Promise.all(folders.map(({ dir }) => startServe(dir, flags)));
    const slow = await servers[0]!.ask('POST', '/v2/crawl', { url: web.url(0), delay: 1 });
    await eventually(
      async () => (await servers[1]!.ask('GET', `/v2/crawl/${slow.json.id}`)).json.completed > 0,
      'it runs',
    );
    expect((await servers[1]!.ask('DELETE', `/v2/crawl/${slow.json.id}`)).json).toMatchObject({ status: 'cancelled' });
    expect((await servers[0]!.ask('GET', `/v2/crawl/${slow.json.id}`)).json.status).toBe('cancelled');
    for (const server of servers) expect((await server.stop()).code).toBe(0);
    for (const { remove } of folders) await remove();
    await web.close();
    await redis.dispose();
  }, 300_000);
});
