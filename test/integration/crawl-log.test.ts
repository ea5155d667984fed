// What a crawl logs: where a handler's bug is, and a summary at the end.
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheerioCrawler, type CheerioCrawlingContext, Configuration, Log, LogLevel } from '../../src/index.js';
import { Simweb } from '../../src/testing/index.js';
import { temporaryFolder, testConfig } from '../support/crawl.js';

let web: Simweb;
beforeAll(async () => {
  web = await Simweb.start({ pagesPerHost: 3 });
});
afterAll(() => web.close());

async function linesOf(
  requestHandler: (context: CheerioCrawlingContext) => unknown,
  config = new Configuration({ persistStorage: false }),
): Promise<string[]> {
  const lines: string[] = [];
  const log = new Log({
    level: LogLevel.INFO,
    logger: { write: ({ level, message }) => void lines.push(`${LogLevel[level]} ${message}`) },
  });
  const options = {
    log,
    maxRequestRetries: 0,
    requestHandler: async (context: CheerioCrawlingContext) => void (await requestHandler(context)),
  };
  await new CheerioCrawler(options, config).run([web.url(0)]);
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

  it('says after stop() what is still queued, and that the next run starts afresh', async () => {
    const lines = await linesOf(async ({ crawler, addRequests }) => {
      await addRequests([web.url(0, 1), web.url(0, 2)]);
      crawler.stop();
    });
    expect(lines.at(-1)).toMatch(
      /^INFO Stopped: 1 page, 0 failed, .* s, 2 still queued \(the next run starts afresh\)$/,
    );
  });

  it('says why a second crawler in the process finds nothing to do', async () => {
    const config = new Configuration({ persistStorage: false });
    await linesOf(() => undefined, config);
    const lines = await linesOf(() => undefined, config);
    expect(lines.at(-1)).toMatch(
      /^WARNING Nothing was crawled: the queue had all of these requests already \(1 done\)/,
    );
  });

  it('counts the work of its own process when others work on the same queue', async () => {
    const folder = await temporaryFolder();
    const other = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
    try {
      const first = await testConfig(folder);
      const options = { experiments: { requestLocking: true }, requestHandler: async () => undefined };
      await new CheerioCrawler(options, first).run([web.url(0, 1), web.url(0, 2)]);
      // As if another process had done it, and went on.
      const runs = { default: { state: 'running', pids: [other.pid] } };
      await writeFile(path.join(folder, 'run.json'), JSON.stringify({ runs }));
      const second = new CheerioCrawler(options, await testConfig(folder));
      expect(await second.run([web.url(0)])).toMatchObject({ requestsFinished: 1 });
    } finally {
      other.kill();
    }
  });

  it('ends with what the crawl came to', async () => {
    expect((await linesOf(() => undefined)).at(-1)).toMatch(/^INFO Finished: 1 page, 0 failed, [\d.]+ s$/);
  });
});
