// Classes derived from Crawlee's crawlers: the protected methods that are called, and a warning about those that are not.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  BasicCrawler,
  CheerioCrawler,
  Configuration,
  createBasicRouter,
  HttpCrawler,
  log,
} from '../../src/crawlee/entry.js';

const inMemory = () => new Configuration({ persistStorage: false });

describe('a class derived from a crawler', () => {
  let server: Server;
  let origin: string;
  const cookies: (string | undefined)[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      cookies.push(request.headers.cookie);
      const isText = request.url === '/text';
      response.setHeader('content-type', isText ? 'text/plain' : 'text/html; charset=iso-8859-1');
      response.end(Buffer.from('<title>caf\u00e9</title>', 'latin1'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('cleans up once per attempt, after the handlers, also of a router and of a failure', async () => {
    const said: string[] = [];
    class Cleaning extends BasicCrawler {
      protected override async _cleanupContext({ request }: Parameters<BasicCrawler['_cleanupContext']>[0]) {
        said.push(`clean ${request.retryCount}`);
        throw new Error('not the business of the visit');
      }
    }
    const router = createBasicRouter();
    router.addDefaultHandler(({ request }) => {
      said.push('handler');
      if (request.url.endsWith('/b')) throw new Error('no');
    });
    const options = { requestHandler: router, maxRequestRetries: 1, errorHandler: () => void said.push('error') };
    const good = await new Cleaning(options, inMemory()).run(['https://example.com/a']);
    const bad = await new Cleaning(options, inMemory()).run(['https://example.com/b']);
    expect([good.requestsFinished, bad.requestsFailed]).toEqual([1, 1]);
    expect(said).toEqual(['handler', 'clean 0', 'handler', 'error', 'clean 0', 'handler', 'clean 1']);
  });

  it('says what the log tells of a request that failed for good', async () => {
    const told = vi.fn<(message: string) => void>();
    class Telling extends BasicCrawler {
      protected override _getMessageFromError(error: Error): string {
        return `mine: ${error.message}`;
      }
    }
    const requestHandler = () => Promise.reject(new Error('no'));
    const crawler = new Telling({ maxRequestRetries: 0, requestHandler }, inMemory());
    vi.spyOn(crawler.log, 'error').mockImplementation(told);
    await crawler.run(['https://example.com/']);
    expect(told.mock.calls.map(([message]) => message)).toEqual([expect.stringContaining('mine: no')]);
  });

  it('adds to the cookies of a request', async () => {
    class Adding extends HttpCrawler {
      protected override _applyCookies(...given: Parameters<HttpCrawler['_applyCookies']>): void {
        super._applyCookies(...given);
        const [, options, before, after] = given;
        options.headers['Cookie'] += `; mine=${before.length}${after.length}`;
      }
    }
    const preNavigationHooks = [
      ({ request }: { request: { headers?: Record<string, string> } }) =>
        void (request.headers = { cookie: 'a=1; b=2' }),
    ];
    const crawler = new Adding({ preNavigationHooks, requestHandler: () => undefined }, inMemory());
    await crawler.run([{ url: `${origin}/cookies`, headers: { cookie: 'a=1' } }]);
    expect(cookies.at(-1)).toBe('a=1; b=2; mine=38');
  });

  it('parses pages in its own way, from UTF-8, and no others', async () => {
    const seen: unknown[] = [];
    class Parsing extends CheerioCrawler {
      protected override async _parseHTML(...given: Parameters<CheerioCrawler['_parseHTML']>): Promise<object> {
        const [response, isXml] = given;
        const pieces = (await response.toArray()) as Buffer[];
        return { ...(await super._parseHTML(...given)), mine: [Buffer.concat(pieces).toString(), isXml] };
      }
    }
    const requestHandler = ({ mine, $ }: { mine?: unknown; $?: (selector: string) => { text(): string } }) => {
      seen.push(mine, $?.('title').text());
    };
    const options = { additionalMimeTypes: ['text/plain'], requestHandler: requestHandler as never };
    await new Parsing(options, inMemory()).run([`${origin}/page`]);
    expect(seen).toEqual([['<title>caf\u00e9</title>', false], 'caf\u00e9']);
    await new Parsing(options, inMemory()).run([`${origin}/text`]);
    expect(seen[2]).toBeUndefined();
  });

  it('is warned once about a method that is not called', async () => {
    const warnings = vi.spyOn(log, 'warning').mockImplementation(() => undefined);
    class Odd extends BasicCrawler {
      _timeoutAndRetry() {}
      _parseHTML() {}
      getRobotsTxtFileForUrl() {}
      _own() {}
    }
    const run = () => new Odd({ requestHandler: () => undefined }, inMemory()).run(['https://example.com/']);
    await run();
    await run();
    const said = warnings.mock.calls.map(([message]) => message).filter((message) => message.includes('Odd'));
    warnings.mockRestore();
    expect(said.map((message) => /Odd\.(\w+)\(\).*docs\/from-crawlee\.md/.exec(message)?.[1])).toEqual([
      '_parseHTML',
      '_timeoutAndRetry',
      'getRobotsTxtFileForUrl',
    ]);
  });
});
