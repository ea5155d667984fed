// A lease that expires right before its request is sent: nothing is sent, since another holder may have it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createFrontierClient } from '../../src/frontier/client.js';
import { openRedisFrontier } from '../../src/frontier/redis/frontier.js';
import { queuePrefix } from '../../src/frontier/redis/keys.js';
import { HttpCrawler, RequestQueue } from '../../src/index.js';
import { entry } from '../../src/testing/conformance/bench.js';
import { type Certificates, makeCertificates } from '../integration/http-certificates.js';
import { fixtures, until } from '../integration/http-fixtures.js';
import { silent, testConfig } from '../support/crawl.js';
import { TYPESCRIPT } from '../support/processes.js';
import { redisMissing, type RedisServer, startRedis } from '../support/redis-server.js';

const CONNECTOR = fileURLToPath(new URL('lease-connector.ts', import.meta.url));
const pacing = { delayMs: 0, turns: 1 };

describe.skipIf(redisMissing)(`a lost lease${redisMissing ? `: skipped, ${redisMissing}` : ''}`, () => {
  let certificates: Certificates;
  let redis: RedisServer;
  const { listen, closeAll } = fixtures();
  beforeAll(async () => {
    certificates = makeCertificates();
    redis = await startRedis();
  });
  afterAll(async () => {
    await closeAll();
    await redis.dispose();
  });

  /** A site over TLS whose first handshake waits until `release` is called. */
  async function slowSite() {
    const requests: string[] = [];
    /** Those that came over the connection whose handshake waited. */
    const late: string[] = [];
    let firstPort: number | undefined;
    const site = await listen(
      createTlsServer(certificates.good, (request, response) => {
        requests.push(request.url!);
        if (request.socket.remotePort === firstPort) late.push(request.url!);
        const isRobots = request.url === '/robots.txt';
        response.writeHead(200, { 'content-type': isRobots ? 'text/plain' : 'text/html' }).end('<p>page');
      }),
    );
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let connections = 0;
    const door = await listen(
      createServer((client: Socket) => {
        const isFirst = ++connections === 1;
        const up = connect(site.port, '127.0.0.1');
        if (isFirst) up.once('connect', () => (firstPort = up.localPort));
        client.pipe(up);
        for (const socket of [client, up]) socket.on('error', () => undefined);
        client.on('close', () => up.destroy());
        up.on('close', () => client.destroy());
        void (isFirst ? released : Promise.resolve()).then(() => up.pipe(client));
      }),
    );
    return { url: `https://127.0.0.1:${door.port}/`, requests, late, connections: () => connections, release };
  }

  it('sends nothing when its process was stopped for longer than the lease while it connected', async () => {
    const site = await slowSite();
    const frontier = await openRedisFrontier({ url: redis.url, pacing, leaseMs: 3_000 });
    onTestFinished(() => frontier.drop());
    const client = createFrontierClient(frontier, { leaseMs: 3_000 });
    await client.add([entry('a')]);
    const child = spawn(process.execPath, ['--import', TYPESCRIPT, CONNECTOR, redis.url, site.url]);
    const ended = once(child, 'exit');
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    // While others are silent, a process that comes new cannot tell how much time passed in the store.
    while (site.connections() === 0) await client.renew();
    await until(() => said === 'leased 1\n', 'the lease');
    child.kill('SIGSTOP');
    // The store gives the request to another holder: from here on it is not the stopped process's to ask for.
    for (let leases: readonly unknown[] = []; leases.length === 0;) {
      ({ leases } = await client.lease({ max: 1 }));
      await new Promise((resume) => setTimeout(resume, 50));
    }
    site.release();
    child.kill('SIGCONT');
    await until(() => said.split('\n').length > 2, 'the end of the visit');
    expect(said).toBe('leased 1\nfailed LEASE_LOST\n');
    expect(site.requests).toEqual([]);
  });

  it.each([
    ['page', false],
    ['robots.txt', true],
  ])('of a crawl asks for no %s, and the next lease does', async (name, polite) => {
    const site = await slowSite();
    const config = await testConfig();
    const queue = await RequestQueue.open(`fenced-${name}`, { config, redisUrl: redis.url, requestLockSecs: 20 });
    const crawler = new HttpCrawler(
      {
        requestQueue: queue,
        log: silent,
        allowPrivateAddresses: true,
        ignoreSslErrors: true,
        maxRequestRetries: 0,
        ...(polite ? { respectRobotsTxtFile: true, sameDomainDelaySecs: 0.1 } : {}),
        requestHandler: () => undefined,
      },
      config,
    );
    const running = crawler.run([site.url]);
    await until(() => site.connections() === 1, 'the connection');
    // As a supervisor does that takes this process for dead; the process learns of it with its next call.
    const supervisor = await openRedisFrontier({
      url: redis.url,
      prefix: queuePrefix(queue.id),
      pacing,
      create: false,
      seen: { kind: 'requests' },
    });
    expect(await supervisor.release(queue.client.id)).toBe(1);
    await supervisor.close();
    await queue.client.renew();
    site.release();
    const { requestsFinished, requestsFailed } = await running;
    expect({ requestsFinished, requestsFailed }).toEqual({ requestsFinished: 1, requestsFailed: 0 });
    expect(site.late).toEqual([]);
    expect(site.requests).toEqual(polite ? ['/robots.txt', '/'] : ['/']);
    await queue.drop();
  });
});
