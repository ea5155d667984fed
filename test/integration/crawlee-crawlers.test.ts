// The crawlers of `orcrawl/crawlee`: what a script written for Crawlee can tell from those of `orcrawl`.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  AutoscaledPool,
  BasicCrawler,
  CheerioCrawler,
  Configuration,
  CrawlerExtension,
  HttpCrawler,
  Statistics,
} from '../../src/crawlee/entry.js';

const inMemory = () => new Configuration({ persistStorage: false });
const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

class Longer extends CrawlerExtension {
  constructor(readonly options: Record<string, unknown>) {
    super();
  }

  override getCrawlerOptions() {
    return this.options;
  }
}

describe('the crawlers for scripts of Crawlee', () => {
  it('are a family: a Cheerio crawler is an HTTP crawler', () => {
    const crawler = new CheerioCrawler({ requestHandler: () => undefined }, inMemory());
    expect(crawler).toBeInstanceOf(HttpCrawler);
    expect(crawler).toBeInstanceOf(BasicCrawler);
  });

  it('repeat a failed request ten times without a wait in between', async () => {
    const waits: number[] = [];
    const crawler = new BasicCrawler(
      {
        maxRequestRetries: 10,
        requestHandler: () => {
          throw new Error('again');
        },
        failedRequestHandler: ({ request }) => {
          waits.push(request.retryCount);
        },
      },
      inMemory(),
    );
    const { requestsFailed } = await crawler.run(['https://example.com/']);
    // With the waits of `orcrawl` this would take minutes.
    expect({ requestsFailed, waits }).toEqual({ requestsFailed: 1, waits: [10] });
  });

  it('take what is no content type for bytes', async () => {
    const server = createServer((request, response) => {
      response
        .setHeader('content-type', request.url === '/odd' ? 'crazy-stuff; charset=utf-8' : 'Text/Html')
        .end('<p>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ended.push(() => server.close());
    const types: string[] = [];
    const crawler = new HttpCrawler(
      {
        additionalMimeTypes: ['*/*'],
        maxConcurrency: 1,
        requestHandler: ({ contentType: { type, encoding } }) => void types.push(`${type} ${encoding}`),
      },
      inMemory(),
    );
    const { port } = server.address() as AddressInfo;
    await crawler.run([`http://127.0.0.1:${port}/odd`, `http://127.0.0.1:${port}/`]);
    expect(types.sort()).toEqual(['application/octet-stream utf-8', 'text/html utf-8']);
  });

  it('take the older names of options', async () => {
    const seen: string[] = [];
    const crawler = new BasicCrawler(
      { handleRequestFunction: ({ request }: { request: { url: string } }) => void seen.push(request.url) },
      inMemory(),
    );
    await crawler.run(['https://example.com/a']);
    expect(seen).toEqual(['https://example.com/a']);
  });

  it('give back what they export, and lay JSON out', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'orcrawl-export-'));
    ended.push(() => rm(folder, { recursive: true, force: true }));
    const crawler = new BasicCrawler({}, inMemory());
    await crawler.pushData([{ a: 1 }, { a: 2 }]);
    expect(await crawler.exportData(join(folder, 'deep', 'all.json'))).toEqual([{ a: 1 }, { a: 2 }]);
    const text = await readFile(join(folder, 'deep', 'all.json'), 'utf8');
    expect(text).toBe(`${JSON.stringify([{ a: 1 }, { a: 2 }], null, 4)}\n`);
  });

  it('take over the options of an extension, and refuse those that they do not know', async () => {
    const attempts: number[] = [];
    const crawler = new BasicCrawler(
      {
        maxRequestRetries: 0,
        requestHandler({ request }) {
          attempts.push(request.retryCount);
          throw new Error('again');
        },
        failedRequestHandler: () => undefined,
      },
      inMemory(),
    );
    expect(() => crawler.use({} as never)).toThrow('of type `CrawlerExtension`');
    expect(() => crawler.use(new Longer({ nobodyKnows: 1 }))).toThrow(/"nobodyKnows" that is not configurable/);
    expect(() => crawler.use(new Longer({ maxRequestRetries: 'many' }))).toThrow(/different type "string"/);
    crawler.use(new Longer({ maxRequestRetries: 2 }));
    await crawler.run(['https://example.com/']);
    expect(attempts).toEqual([0, 1, 2]);
  });

  it('let derived classes put their work around the handler', async () => {
    const order: string[] = [];
    class Wrapping extends BasicCrawler {
      protected override async _runRequestHandler(...args: Parameters<BasicCrawler['_runRequestHandler']>) {
        order.push('before');
        await super._runRequestHandler(...args);
        order.push('after');
      }
    }
    await new Wrapping({ requestHandler: () => void order.push('handler') }, inMemory()).run(['https://example.com/']);
    expect(order).toEqual(['before', 'handler', 'after']);
  });
});

describe('cookies', () => {
  it('of a session are sent even when those of servers are not kept, and both spellings of the header are meant', async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.headers.cookie ?? '');
      response.setHeader('content-type', 'text/html').end('<title>here</title>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ended.push(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const sent: unknown[] = [];
    const crawler = new HttpCrawler(
      {
        useSessionPool: true,
        persistCookiesPerSession: false,
        preNavigationHooks: [
          ({ request, session }) => {
            session?.setCookies([{ name: 'own', value: '1' }], request.url);
            (request.headers ??= {})['Cookie'] = 'b=3; c=4';
          },
        ],
        requestHandler: ({ response }) => void sent.push(response.statusCode),
      },
      inMemory(),
    );
    await crawler.run([{ url, headers: { cookie: 'a=1; b=2' } }]);
    expect({ asked, sent }).toEqual({ asked: ['own=1; a=1; b=3; c=4'], sent: [200] });
  });
});

describe('AutoscaledPool', () => {
  it('runs again, and derived classes can look at the system for it', async () => {
    let left = 5;
    class Judged extends AutoscaledPool {
      protected override systemStatus = {
        getCurrentStatus: () => ({ isSystemIdle: true }) as never,
        getHistoricalStatus: () => ({ isSystemIdle: false }) as never,
      };

      look(): number {
        this._autoscale(() => undefined);
        return this.desiredConcurrency;
      }

      want(desired: number): void {
        this._desiredConcurrency = desired;
      }
    }
    const pool = new Judged({
      minConcurrency: 1,
      desiredConcurrency: 4,
      runTaskFunction: async () => void left--,
      isTaskReadyFunction: async () => left > 0,
      isFinishedFunction: async () => left <= 0,
    });
    await pool.run();
    left = 3;
    await pool.run();
    expect({ left, desired: pool.look() }).toEqual({ left: 0, desired: 3 });
    pool.want(50);
    expect(pool.look()).toBe(47);
  });
});

describe('Statistics', () => {
  it('have no average of what took no time', () => {
    const stats = new Statistics({ config: inMemory() });
    stats.startJob('a');
    stats.failJob('a', 0);
    const { requestAvgFinishedDurationMillis, requestsFinishedPerMinute } = stats.calculate();
    expect({ requestAvgFinishedDurationMillis, requestsFinishedPerMinute }).toEqual({
      requestAvgFinishedDurationMillis: Infinity,
      requestsFinishedPerMinute: 0,
    });
  });
});
