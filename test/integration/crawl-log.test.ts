// What a crawl says to whoever reads its log: where a handler's bug is, and what the crawl came to.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheerioCrawler, Configuration, Log, LogLevel } from '../../src/index.js';
import { Simweb } from '../../src/testing/index.js';

let web: Simweb;
beforeAll(async () => {
  web = await Simweb.start({ pagesPerHost: 3 });
});
afterAll(() => web.close());

async function linesOf(requestHandler: () => unknown): Promise<string[]> {
  const lines: string[] = [];
  const log = new Log({
    level: LogLevel.INFO,
    logger: { write: ({ level, message }) => void lines.push(`${LogLevel[level]} ${message}`) },
  });
  const options = { log, maxRequestRetries: 0, requestHandler: async () => void requestHandler() };
  await new CheerioCrawler(options, new Configuration({ persistStorage: false })).run([web.url(0)]);
  return lines;
}

describe('the log of a crawl', () => {
  it('names the line of a handler that throws', async () => {
    const lines = await linesOf(() => {
      throw new TypeError('no such thing');
    });
    expect(lines).toContainEqual(
      expect.stringMatching(/^ERROR Request failed .*HANDLER_FAILED: no such thing at \S*crawl-log\.test\.ts:\d+\)$/),
    );
    expect(lines.at(-1)).toMatch(/^INFO Finished: 0 pages, 1 failed, [\d.]+ s$/);
  });

  it('ends with what the crawl came to', async () => {
    expect((await linesOf(() => undefined)).at(-1)).toMatch(/^INFO Finished: 1 page, 0 failed, [\d.]+ s$/);
  });
});
