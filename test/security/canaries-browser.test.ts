// The token in the address of a rented browser: it reaches the browser's host, and is in no page, log, file or list.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { startNode } from '../integration/cli-process.js';
import { browserPath } from '../support/browser.js';
import { temporaryFolder } from '../support/crawl.js';
import { startWeb, watched } from './canary-run.js';
import { canariesIn, canaryFiles, leaks } from './canary-web.js';

const INDEX = fileURLToPath(new URL('../../dist/index.js', import.meta.url));

/** A browser that runs already, on loopback: its address. */
async function startChromium(): Promise<URL> {
  const flags = ['--headless=new', '--no-sandbox', '--remote-debugging-port=0', 'about:blank'];
  const profile = `--user-data-dir=${await temporaryFolder()}`;
  const running = spawn(browserPath!, [profile, ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
  onTestFinished(async () => {
    const gone = once(running, 'exit');
    running.kill('SIGKILL');
    await gone;
  });
  for await (const chunk of running.stderr) {
    const [found] = /ws:\/\/\S+/.exec(String(chunk)) ?? [];
    if (found !== undefined) return new URL(found);
  }
  throw new Error('the browser ended');
}

it.skipIf(browserPath === undefined)('the token of a cdpUrl reaches its host and nothing else', async () => {
  const { web, cwd, env } = await startWeb();
  const chromium = await startChromium();
  // The service that rents it out: it takes the token off the first line and passes on the rest.
  const heard: string[] = [];
  const service = createServer((client) => {
    client.on('error', () => undefined);
    client.once('data', (bytes: Buffer) => {
      const text = bytes.toString('latin1');
      const end = text.indexOf('\r\n');
      heard.push(text.slice(0, end));
      const behind = connect(Number(chromium.port), '127.0.0.1');
      behind.on('error', () => client.destroy());
      behind.write(`GET ${chromium.pathname} HTTP/1.1${text.slice(end)}`, 'latin1');
      client.pipe(behind).pipe(client);
    });
  });
  service.listen(0, '127.0.0.1');
  await once(service, 'listening');
  onTestFinished(() => void service.close());
  const address = `127.0.0.1:${(service.address() as AddressInfo).port}/canary-cdppath?token=canary-cdptoken`;
  const script = join(cwd, '..', 'script.mjs');
  writeFileSync(
    script,
    `import { Configuration, PlaywrightCrawler } from '${INDEX}';
    const crawler = new PlaywrightCrawler({
      launchContext: { cdpUrl: process.env.CDP_URL },
      allowPrivateAddresses: true,
      ignoreSslErrors: true,
      maxRequestRetries: 0,
      maxRequestsPerCrawl: 6,
      async requestHandler({ page, request, enqueueLinks, pushData, log }) {
        log.info('Seen ' + request.url);
        await pushData({ url: request.url, title: await page.title() });
        await enqueueLinks({ strategy: 'all' });
      },
    }, new Configuration({ storageClientOptions: { localDataDirectory: 'storage' } }));
    const { requestsFinished } = await crawler.run(['${web.strangers[0]}/', '${web.strangers[1]}/']);
    await crawler.teardown();
    if (requestsFinished === 0) process.exitCode = 3;`,
  );
  const run = (cdpUrl: string) =>
    watched(startNode([script], { cwd, env: { ...env, CDP_URL: cdpUrl, CRAWLEE_LOG_LEVEL: 'DEBUG' } }));
  const ran = await run(`ws://${address}`);
  expect({ code: ran.code, end: ran.code === 0 ? '' : ran.shown.slice(-2_000) }).toEqual({ code: 0, end: '' });
  expect(canariesIn(heard.join('\n'))).toEqual(['canary-cdppath', 'canary-cdptoken']);
  const dead = await run(`ws://127.0.0.1:1/canary-cdppath?token=canary-cdptoken`);
  expect(dead.code).not.toBe(0);
  expect(dead.shown).toContain('no browser answers at ws://127.0.0.1:1');
  for (const { shown, listed } of [ran, dead]) {
    expect(canariesIn(shown)).toEqual([]);
    expect(listed).toEqual([]);
  }
  expect(web.heardElsewhere.length).toBeGreaterThan(1);
  expect(leaks(web)).toEqual([]);
  expect(canaryFiles(cwd)).toEqual([]);
});
