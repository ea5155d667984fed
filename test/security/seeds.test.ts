// Seeds at private addresses: a name that was public when it was seeded stays so, regardless of later DNS, and a
// crawl can refuse them all.
import { afterEach, describe, expect, it } from 'vitest';
import { CheerioCrawler, WebCrawler } from '../../src/index.js';
import { memoryConfig, silent } from '../support/crawl.js';
import { fetchText, fixtures } from '../integration/http-fixtures.js';

const { serve, engine, closeAll } = fixtures();
afterEach(closeAll);

describe('a seeded name that is rebound to loopback', () => {
  it('is refused, also when its seed is asked for again', async () => {
    const victim = await serve((_request, response) => response.end('secret'));
    let address = '8.8.8.8';
    const resolve = async () => ({ addresses: [address], ttlMs: 0 });
    const http = engine({ allowPrivateAddresses: false, resolve });
    const url = `http://rebound.example:${victim.port}/`;
    // Nobody is there, or the machine has no way to it: the name was looked up all the same.
    await expect(fetchText(http, url, { seeded: true, timeoutMs: 300 })).rejects.toThrow();
    address = '127.0.0.1';
    await expect(fetchText(http, url, { seeded: true })).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    expect(http.allowHost(url)).toBe(false);
    await expect(fetchText(http, url, { seeded: true })).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    await expect(fetchText(http, `${url}link`)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    expect(victim.accepted()).toBe(0);
  });
});

describe('allowPrivateSeeds: false', () => {
  it('refuses seeds at private addresses, in crawlers and in batches', async () => {
    const victim = await serve((_request, response) => response.end('<p>secret'));
    const run = async (allowPrivateSeeds: boolean | undefined) => {
      const failures: string[] = [];
      const crawler = new CheerioCrawler(
        {
          allowPrivateSeeds,
          maxRequestRetries: 0,
          log: silent,
          requestHandler: () => undefined,
          failedRequestHandler: (_context, error) => void failures.push((error as Error & { code: string }).code),
        },
        memoryConfig(),
      );
      await crawler.run([victim.url, `http://localhost:${victim.port}/`]);
      const web = await WebCrawler.open({ allowPrivateSeeds });
      const result = await web.run(victim.url, { maxRetries: 0 });
      await web.close();
      return [...failures, result.errorCode];
    };
    expect(await run(false)).toEqual(['ADDRESS_REFUSED', 'ADDRESS_REFUSED', 'ADDRESS_REFUSED']);
    expect(victim.accepted()).toBe(0);
    expect(await run(undefined)).toEqual([null]);
  });
});
