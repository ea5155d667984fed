// What WebCrawler takes and gives beside its pages: the URL in the config, priorities, a log of results, bodies, sessions.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { Log, LogLevel, SemaphoreDispatcher, type UrlItem, WebCrawler } from '../../src/index.js';
import { browserPath, shellPath } from '../support/browser.js';
import { inTemporaryFolder, startNode } from './cli-process.js';
import { fixtures, until } from './http-fixtures.js';

const servers = fixtures();
afterAll(() => servers.closeAll());

/** Answers with what was asked; tells in which order. */
async function echo() {
  const asked: string[] = [];
  const { url } = await servers.serve((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const heard = `${request.method} ${request.headers['x-who'] ?? '-'} ${Buffer.concat(chunks).toString() || '-'}`;
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>echo</title><p>${heard}</p>`);
    });
  });
  return { url, asked };
}

describe('open', () => {
  it('says of an option of a run where to give it', async () => {
    await expect(WebCrawler.open({ ignoreSslErrors: true } as object)).rejects.toThrow(
      'WebCrawler option "ignoreSslErrors" is an option of a run: give it to run(url, options)',
    );
  });
});

describe('run', () => {
  it('takes the URL in its config, with every other option there', async () => {
    const { url } = await echo();
    await using crawler = await WebCrawler.open();
    const config = { url: `${url}/a`, method: 'POST' as const, body: 'hello', headers: { 'x-who': 'me' } };
    const result = await crawler.run(config);
    expect([result.url, result.text]).toEqual([`${url}/a`, expect.stringContaining('POST me hello')]);
  });

  it('refuses a URL given twice, beside a config, or in the config of a list', async () => {
    await using crawler = await WebCrawler.open();
    const url = 'http://127.0.0.1:9/';
    await expect(crawler.run(url, { url })).rejects.toThrow(/given twice/);
    // @ts-expect-error a config with a URL stands alone
    await expect(crawler.run({ url }, {})).rejects.toThrow(/or a config with a "url"/);
    expect(() => crawler.runMany([url], { url })).toThrow(/takes its URLs as a list/);
  });
});

describe('the items of a list', () => {
  const ORDER = ['high1', 'high2', 'some', 'plain1', 'plain2', 'low'];
  const items = (url: string): UrlItem[] => [
    { url: `${url}/low`, priority: -2 },
    `${url}/plain1`,
    { url: `${url}/high1`, priority: 2 },
    `${url}/plain2`,
    { url: `${url}/some`, priority: 1 },
    { url: `${url}/high2`, priority: 2 },
  ];

  it('go by their priority, equal ones in the order of the list; results keep the order of the list', async () => {
    const { url, asked } = await echo();
    await using crawler = await WebCrawler.open();
    const list = items(url);
    const results = await crawler.runMany(list, {}, new SemaphoreDispatcher({ permits: 1 }));
    expect(asked.map((line) => line.slice('GET /'.length))).toEqual(ORDER);
    expect(results.map((result) => result.url)).toEqual(
      list.map((item) => (typeof item === 'string' ? item : item.url)),
    );
  });

  it('of a list that is read as it comes go by priority among those read so far', async () => {
    const asked: string[] = [];
    const held: (() => void)[] = [];
    const { url } = await servers.serve((request, response) => {
      asked.push(request.url!.slice(1));
      held.push(() => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>page</p>'));
    });
    async function* items(): AsyncGenerator<UrlItem> {
      for (let n = 0; n < 7; n++) yield { url: `${url}/${n}` };
      yield { url: `${url}/high`, priority: 2 };
    }
    await using crawler = await WebCrawler.open();
    // Four are fetched, and as many more are read ahead.
    const results = crawler.runMany(items(), {}, new SemaphoreDispatcher({ permits: 4 })).then((all) => all.length);
    for (let answered = 0; answered < 8; answered++) {
      await until(() => asked.length >= Math.min(8, answered + 4), 'the next ones are asked for');
      held[answered]!();
    }
    expect(await results).toBe(8);
    // Last of the list, and at the latest the first of those that were read ahead.
    expect(asked.indexOf('high')).toBeLessThanOrEqual(4);
  });

  it('with unknown names or a priority out of range fail by name, and the rest of the list goes on', async () => {
    const { url, asked } = await echo();
    await using crawler = await WebCrawler.open();
    const results = await crawler.runMany([
      { url: `${url}/post`, method: 'POST', body: 'x' } as UrlItem,
      { url: `${url}/five`, priority: 5 as 2 },
      `${url}/good`,
    ]);
    expect(results.map(({ errorCode }) => errorCode)).toEqual(['OPTION_INVALID', 'OPTION_INVALID', null]);
    expect(results[0]!.errorMessage).toMatch(/"method".*"body".*in the config of its item/s);
    expect(results[1]!.errorMessage).toMatch(/priority.*-2.*2.*5/);
    expect(asked).toEqual(['GET /good']);
  });
});

describe('verbose', () => {
  const DIST = JSON.stringify(new URL('../../dist/index.js', import.meta.url).href);
  /** What a program of its own writes that fetches one page, and one that is not there. */
  const printed = async (options: object) => {
    const { url } = await echo();
    const urls = [`${url.replace('//', '//user:secret@')}/a`, 'http://127.0.0.1:1/'];
    const program = `import { WebCrawler } from ${DIST};
      const crawler = await WebCrawler.open(${JSON.stringify(options)});
      await crawler.runMany(${JSON.stringify(urls)}, { maxRetries: 0 });
      await crawler.close();`;
    return inTemporaryFolder(async (cwd) => {
      const ended = await startNode(['--input-type=module', '-e', program], { cwd }).ended;
      expect(ended.code, ended.stderr).toBe(0);
      return ended.stdout + ended.stderr;
    });
  };

  it('logs each result with its status, without passwords; nothing is logged without it', async () => {
    const said = await printed({ verbose: true });
    expect(said).toMatch(/INFO .*200 http:\/\/\S*\/a/);
    expect(said).toMatch(/- http:\/\/127\.0\.0\.1:1\/.*CONNECT_REFUSED/);
    expect(said).not.toContain('secret');
    expect(await printed({})).toBe('');
  });

  it('logs to a log of the user where there is one', async () => {
    const { url } = await echo();
    const messages: string[] = [];
    const log = new Log({ level: LogLevel.INFO, logger: { write: ({ message }) => void messages.push(message) } });
    await using crawler = await WebCrawler.open({ verbose: true, log });
    await crawler.run(`${url}/b`);
    expect(messages).toEqual([`200 ${url}/b`]);
  });
});

describe('result.body', () => {
  it('has the bytes of files that have no text, decompressed, and is empty where nothing came', async () => {
    const picture = Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 31) % 256));
    const { url } = await servers.serve((request, response) => {
      if (request.url === '/packed') {
        const packed = { 'content-type': 'application/octet-stream', 'content-encoding': 'gzip' };
        return void response.writeHead(200, packed).end(gzipSync(picture));
      }
      response.writeHead(200, { 'content-type': 'image/png' }).end(picture);
    });
    await using crawler = await WebCrawler.open();
    const [plain, packed, none] = await crawler.runMany([`${url}/p.png`, `${url}/packed`, 'http://127.0.0.1:1/'], {
      maxRetries: 0,
    });
    const sum = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    for (const result of [plain!, packed!]) {
      expect(result).toMatchObject({ success: true, bytes: picture.length, text: '' });
      expect(sum(result.body)).toBe(sum(picture));
    }
    expect([none!.success, none!.body.length]).toEqual([false, 0]);
    // Binary bytes stay out of JSON lines.
    expect(JSON.stringify(plain)).not.toContain('"body"');
  });
});

describe.skipIf(browserPath === undefined)('maxSessions', () => {
  it('closes the session that was idle longest for a further one, and waits while all are in use', async () => {
    const held: (() => void)[] = [];
    const { url } = await servers.serve((request, response) => {
      response.setHeader('content-type', 'text/html');
      const answer = () => void response.end('<title>t</title><p>page</p>');
      if (request.url === '/held') held.push(answer);
      else answer();
    });
    await using crawler = await WebCrawler.open({
      engine: 'browser',
      maxSessions: 2,
      browser: { executablePath: shellPath },
    });
    const go = (route: string, sessionId: string, more = {}) =>
      crawler.run(`${url}${route}`, { sessionId, maxRetries: 0, delayBeforeReturnMs: 0, ...more });
    await go('/', 'a');
    await go('/', 'b');
    await go('/', 'a');
    expect((await go('/', 'c')).success).toBe(true);
    expect(crawler.browserCounts.pages).toBeLessThanOrEqual(2);
    expect(crawler.listSessions().sort()).toEqual(['a', 'c']);
    expect((await go('/', 'b', { jsOnly: true })).errorCode).toBe('SESSION_UNKNOWN');
    expect((await go('/', 'a', { jsOnly: true })).success).toBe(true);

    const both = [go('/held', 'a'), go('/held', 'c')];
    await until(() => held.length === 2, 'both sessions are in use');
    let isDone = false;
    const further = go('/', 'd').finally(() => (isDone = true));
    await go('/', 'nobody', { sessionId: undefined });
    expect(isDone).toBe(false);
    held.forEach((answer) => answer());
    await Promise.all(both);
    expect((await further).success).toBe(true);
    expect(crawler.listSessions()).toHaveLength(2);
  });
});
