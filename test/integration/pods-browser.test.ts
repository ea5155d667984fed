// Browsers on pods: pages that need scripts are rendered, the others are not; a browser that grows is replaced, and the
// address guard is the same.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Configuration } from '../../src/configuration.js';
import { openRendering } from '../../src/crawl/browser/rendering.js';
import { createBrowserPool } from '../../src/fetch/browser/pool.js';
import type { Engine } from '../../src/fetch/engine.js';
import { browserPath, launchPlan, serveSite, shellPath } from '../support/browser.js';
import { MAIN, startNode } from './cli-process.js';
import { inFolder, run } from './pods-fixtures.js';

const LONG = { timeout: 240_000 };
const TEXT = 'A paragraph of plain text that is there without any script at all. '.repeat(8);
const HANDLER = `export default async ({ request, content, pushData, enqueueLinks }) => {
  await pushData({ path: new URL(request.url).pathname, text: content.text });
  await enqueueLinks({ strategy: 'all' });
};`;
// The only link to /hidden, and all of the text, are made by a script.
const APP = `<!doctype html><title>App</title><div id="root"></div><script>
  const root = document.getElementById('root');
  root.innerHTML = '<h1>Made by a script</h1><p>${'Rendered words for the reader. '.repeat(20)}</p><a href="/hidden">on</a>';
</script>`;

describe.skipIf(browserPath === undefined)('pods with browsers', () => {
  const folder = inFolder();

  it('render what is empty without scripts, and nothing else', LONG, async () => {
    const agents = new Map<string, string[]>();
    const page = (html: string) => (request: { url?: string; headers: Record<string, unknown> }, response: Reply) => {
      agents.set(request.url!, [...(agents.get(request.url!) ?? []), String(request.headers['user-agent'])]);
      response.writeHead(200, { 'content-type': 'text/html' }).end(html);
    };
    const site = await serveSite({
      '/': page(`<title>Home</title><p>${TEXT}<a href="/plain">plain</a> <a href="/app">app</a>`) as never,
      '/plain': page(`<title>Plain</title><p>${TEXT}`) as never,
      '/app': page(APP) as never,
      '/hidden': page(`<title>Hidden</title><p>${TEXT}`) as never,
    });
    await writeFile(join(folder(), 'seeds.txt'), `${site.url}/\n`);
    await writeFile(join(folder(), 'handler.mjs'), HANDLER);
    await writeFile(
      join(folder(), 'crawl.yaml'),
      'pods: [{ path: ./pod0 }]\ndata_dirs: [./ssd1]\nlog_dir: ./logs\nseed_file: seeds.txt\nemail: you@example.com\n' +
        'enable_cpu_affinity: false\nenable_prometheus: false\npoliteness_delay_seconds: 0\nhandler: ./handler.mjs\n' +
        'engine: auto\nbrowsers_per_pod: 1\nhttp_timeout_seconds: 120\n',
    );
    const args = [MAIN, 'run', '--config', 'crawl.yaml', '--allow-private'];
    const crawled = await startNode(args, { cwd: folder(), timeoutMs: 220_000 }).ended;
    await site.close();
    expect([crawled.code, crawled.stdout]).toEqual([0, expect.stringContaining('4 pages')]);
    const items = await itemsIn(join(folder(), 'ssd1', 'datasets'));
    expect(items.map(({ path }) => path).sort()).toEqual(['/', '/app', '/hidden', '/plain']);
    expect(items.find(({ path }) => path === '/app')!.text).toContain('Made by a script');
    const times = (path: string): number => agents.get(path)?.length ?? 0;
    expect([times('/'), times('/plain'), times('/hidden'), times('/app')]).toEqual([1, 1, 1, 2]);
    // The browser says who it is, as every request of the crawl does.
    expect(agents.get('/app')).toEqual(['orcrawl (you@example.com)', 'orcrawl (you@example.com)']);
  });

  it('replace a browser that has grown beyond its limit', LONG, async () => {
    const pool = createBrowserPool({ launch: launchPlan(), guard: false, maxBrowserBytes: 1 });
    try {
      await pool.lend({}, async ({ page }) => void (await page.setContent('<p>one')));
      await expect.poll(() => pool.counts.browsers, { timeout: 60_000 }).toBe(0);
      await pool.lend({}, async ({ page }) => void (await page.setContent('<p>two')));
      expect(pool.counts.launches).toBe(2);
    } finally {
      await pool.close();
    }
  });

  it('ask no private address', async () => {
    const site = await serveSite({ '/': '<p>private' });
    const options = { engine: 'browser', browsers: 1, maxBrowserBytes: Infinity, userAgent: 'test' } as const;
    const rendering = openRendering({} as Engine, {
      ...options,
      allowPrivateAddresses: false,
      config: new Configuration({ defaultBrowserPath: shellPath! }),
    });
    const order = { url: `${site.url}/`, method: 'GET', headers: {}, redirects: 'follow', maxRedirects: 1 } as const;
    const limits = { timeoutMs: 60_000, maxBodyBytes: 1_000_000, ignoreTlsErrors: false };
    const visit = rendering.engine.visit({ ...order, ...limits, page: { reads: 'shown' } }, async () => 'shown');
    await expect(visit).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
    expect(site.asked).toEqual([]);
    await rendering.close();
    await site.close();
  });
});

describe('a configuration with browsers', () => {
  const folder = inFolder();

  it('refuses parsers and fetchers without a browser', async () => {
    await writeFile(
      join(folder(), 'crawl.yaml'),
      'pods: [redis://127.0.0.1:1]\nengine: auto\nfetchers_per_pod: 4\nparsers_per_pod: 1\nbrowsers_per_pod: 2\n',
    );
    const { code, stderr, stdout } = await run(folder(), ['config', 'check', 'crawl.yaml']);
    expect(code).not.toBe(0);
    expect(stderr + stdout).toMatch(/parsers_per_pod must be 0 with engine: auto/);
    expect(stderr + stdout).toMatch(/browsers_per_pod is 2, but each of the 4 fetchers needs its own/);
  });
});

interface Reply {
  writeHead(status: number, headers: Record<string, string>): { end(body: string): void };
}

async function itemsIn(folder: string): Promise<{ path: string; text: string }[]> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files
      .filter((file) => file.isFile() && file.name.endsWith('.jsonl'))
      .map((file) => readFile(join(file.parentPath, file.name), 'utf8')),
  );
  return texts.flatMap((text) => text.split('\n').filter(Boolean)).map((line) => JSON.parse(line) as never);
}
