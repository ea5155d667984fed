// `--dashboard` of crawl, batch and run: the same page for one crawl, at an unguessable address.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/crawl.js';
import { MAIN, type Started, startNode } from './cli-process.js';
import { launch, newTab, startGarden, type Watched } from './console-fixtures.js';
import { ask, eventually, type Site } from '../support/serve.js';

let browser: Browser;
let site: Site;
beforeAll(async () => {
  [browser, site] = await Promise.all([launch(), startGarden(() => 60)]);
});
afterAll(async () => {
  await browser?.close();
  await site?.close();
});

async function watch(child: Started): Promise<Watched & { address: string }> {
  await eventually(async () => /Console: \S+/.test(child.stderr()), 'the address is printed');
  const address = /Console: (\S+)/.exec(child.stderr())![1]!;
  const tab = await newTab(browser);
  await tab.page.goto(address);
  await tab.page.locator('.connection.live').waitFor();
  return { ...tab, address };
}

const start = (args: readonly string[], cwd: string): Started =>
  startNode([MAIN, ...args], { cwd, env: {}, timeoutMs: 300_000 });

describe('--dashboard', () => {
  it(
    'shows a crawl, its pages and its end; a resumed crawl goes on with what was shown',
    { timeout: 400_000 },
    async () => {
      const folder = await temporaryFolder();
      const crawl = ['crawl', `${site.url}/`, '--delay', '0', '--retries', '0', '--dashboard', '--out', 'out'];
      const child = start([...crawl, '--max-pages', '150'], folder);
      const { page, address, context, problems, asked } = await watch(child);
      expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=orc-[\w-]{32}$/);
      const origin = new URL(address).origin;
      expect((await ask(`${origin}/events`, 'GET', undefined, {})).status).toBe(401);
      expect((await ask(`${origin}/v2/scrape`, 'POST', {}, {})).status).toBe(401);
      await page.locator('.list-row').nth(3).waitFor();
      await page.locator('.list-row').nth(2).click();
      await page.getByRole('dialog').locator('.facts, .markdown').first().waitFor();
      await page.keyboard.press('Escape');
      expect(await page.getByRole('link', { name: 'New job' }).count()).toBe(0);
      expect((await child.ended).code).not.toBe(1);
      await page.locator('.state.completed').waitFor();
      const kept = Number((await page.locator('.figure .number').first().innerText()).replaceAll(',', ''));
      expect(child.stdout()).toContain(`${kept} stored`);
      expect(problems).toEqual([]);
      expect(asked.filter((url) => new URL(url).origin !== origin)).toEqual([]);
      await context.close();

      const again = start(['crawl', '--resume', '--out', 'out', '--max-pages', '400', '--dashboard'], folder);
      const second = await watch(again);
      await second.page.locator('.list-row').first().waitFor();
      const shown = async (): Promise<number> =>
        Number((await second.page.locator('.figure .number').first().innerText()).replaceAll(',', ''));
      expect(await shown()).toBeGreaterThanOrEqual(kept);
      await second.page.getByRole('button', { name: 'Cancel' }).click();
      await again.ended;
      await second.context.close();
      await rm(folder, { recursive: true, force: true });
    },
  );

  it('--open gives a browser the address by a private file, not on a command line', { timeout: 400_000 }, async () => {
    const folder = await temporaryFolder();
    const bin = path.join(folder, 'bin');
    await mkdir(bin);
    // In place of a browser: notes what it was called with, and who may read the file.
    const script = `#!/bin/sh\n{ echo "$@"; stat -c %a "$1"; cat "$1"; } > "${folder}/opened.part"; mv "${folder}/opened.part" "${folder}/opened"\n`;
    await writeFile(path.join(bin, 'xdg-open'), script, { mode: 0o755 });
    const args = ['crawl', `${site.url}/`, '--delay', '0', '--max-pages', '5', '--dashboard', '--open', '--out', 'out'];
    const env = { PATH: `${bin}:${process.env.PATH ?? ''}` };
    const child = startNode([MAIN, ...args], { cwd: folder, env, timeoutMs: 300_000 });
    const opened = (): Promise<string> => readFile(path.join(folder, 'opened'), 'utf8').catch(() => '');
    await eventually(async () => (await opened()) !== '', 'the browser is started');
    const [called, mode, page] = (await opened()).split('\n');
    const address = /Console: (\S+)/.exec(child.stderr())![1]!;
    expect(called).not.toContain('token');
    expect(mode).toBe('600');
    expect(page).toContain(`url=${address}"`);
    await child.ended;
    expect(await readFile(called!, 'utf8').catch(() => 'gone')).toBe('gone');
    await rm(folder, { recursive: true, force: true });
  });

  it('shows a batch while its results are written', { timeout: 400_000 }, async () => {
    const folder = await temporaryFolder();
    const urls = Array.from({ length: 120 }, (_, number) => `${site.url}/${number}`);
    await writeFile(path.join(folder, 'urls.txt'), urls.join('\n'));
    const args = ['batch', 'urls.txt', '--stream', '--dashboard', '--out', 'pages.jsonl', '--concurrency', '2'];
    const child = start([...args, '--retries', '0'], folder);
    const { page, context } = await watch(child);
    await page.locator('.list-row').nth(3).waitFor();
    expect(await page.locator('.kind').innerText()).toBe('batch');
    expect((await child.ended).code).toBe(2);
    await page.locator('.state.completed').waitFor();
    await context.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('shows the pods of a run and its charts', { timeout: 400_000 }, async () => {
    const folder = await temporaryFolder();
    await writeFile(path.join(folder, 'seeds.txt'), `${site.url}/\n`);
    const args = [
      'run',
      '--seed-file',
      'seeds.txt',
      '--email',
      'a@example.com',
      '--data-dir',
      'data',
      '--allow-private',
    ];
    const child = start([...args, '--max-duration', '40', '--dashboard'], folder);
    const { page, context, problems } = await watch(child);
    await page.keyboard.press('p');
    await page.locator('table.pods tbody tr').first().waitFor();
    await page.locator('table.pods tbody tr').first().getByText('Running').waitFor({ timeout: 90_000 });
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByRole('link', { name: 'Crawl', exact: true }).click();
    await page.locator('.charts').waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await child.ended;
    expect(problems).toEqual([]);
    await context.close();
    expect(await readdir(folder)).toContain('data');
    await rm(folder, { recursive: true, force: true });
  });
});
