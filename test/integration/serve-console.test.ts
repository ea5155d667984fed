// The console in a real Chromium: every view and action by pointer and by keyboard, and what it must never do.
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launch, newTab, openConsole, seriousFindings, show, startGarden } from './console-fixtures.js';
import { ask, dataFolder, endedAt, eventually, type ServerProcess, type Site, startServe } from '../support/serve.js';

const DIST = path.resolve(import.meta.dirname, '../../dist/console');

/** Two cores are shared by many: what a person waits a second for may take a while here. */
const PATIENT = { timeout: 400_000 };

let browser: Browser;
let site: Site;
let server: ServerProcess;
let data: Awaited<ReturnType<typeof dataFolder>>;
/** How long a page of the site takes. */
let pageMs = 15;

beforeAll(async () => {
  data = await dataFolder();
  [browser, site, server] = await Promise.all([launch(), startGarden(() => pageMs), startServe(data.dir)]);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await site?.close();
  await data?.remove();
});

async function startCrawl(limit: number, more: object = {}): Promise<string> {
  const body = { url: `${site.url}/`, limit, crawlEntireDomain: true, ...more };
  return (await server.ask('POST', '/v2/crawl', body)).json.id as string;
}

const finished = (id: string) => endedAt(server, `/v2/crawl/${id}`);
const rows = (place: Page | Locator): Locator => place.locator('.list-row');

describe('the files of the console', () => {
  it('are at most 200 KB, named by their content, cached for long, and run nothing that is not theirs', async () => {
    const names = await readdir(DIST);
    const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(DIST, name))).size));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(200_000);
    const page = await ask(`${server.url}/`, 'GET', undefined, {});
    expect(page.status).toBe(200);
    const policy = page.headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain('unsafe');
    expect(policy).toContain("frame-ancestors 'none'");
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.text).not.toMatch(/<script(?![^>]* src=)|\son\w+=|style=/);
    const files = [...page.text.matchAll(/\/console\/[\w.-]+/g)].map(([name]) => name);
    expect(files).toHaveLength(3);
    for (const name of files) {
      expect(name).toMatch(/-[0-9a-f]{12}\.\w+$/);
      const file = await ask(server.url + name, 'GET', undefined, {});
      expect([name, file.status, file.headers.get('cache-control')]).toEqual([
        name,
        200,
        'public, max-age=31536000, immutable',
      ]);
    }
    expect((await ask(`${server.url}/console/..%2f..%2fpackage.json`, 'GET', undefined, {})).status).toBe(401);
  });
});

describe('without permission', () => {
  const PATHS = ['/events', '/console/jobs/x/pages', '/console/jobs/x/pages/0', '/console/jobs/x/domains'];

  it('nothing is told: without a token, with a wrong one, by another Host or Origin', async () => {
    const token = { authorization: `Bearer ${server.token}` };
    for (const where of PATHS) {
      expect((await ask(server.url + where, 'GET', undefined, {})).status).toBe(401);
      expect((await ask(server.url + where, 'GET', undefined, { authorization: 'Bearer wrong' })).status).toBe(401);
      expect((await ask(`${server.url}${where}?token=${server.token}`, 'GET', undefined, {})).status).toBe(401);
      const foreign = { ...token, origin: 'https://evil.example' };
      expect((await ask(server.url + where, 'GET', undefined, foreign)).status).toBe(403);
    }
    for (const where of ['/', ...PATHS]) expect(await statusFor(where, 'evil.example')).toBe(421);
    expect((await ask(`${server.url}/console/files/guess`, 'GET', undefined, {})).status).toBe(404);
  });

  it('the page asks for the token, shows nothing, and opens with it', async () => {
    await finished(await startCrawl(3));
    const { page } = await newTab(browser);
    await page.goto(`${server.url}/#token=wrong`);
    await page.getByRole('heading', { name: 'This console needs a token' }).waitFor();
    expect(await page.content()).not.toContain(site.url.slice('http://'.length));
    expect(page.url()).not.toContain('wrong');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('Token', { exact: true }).fill(server.token);
    await page.keyboard.press('Enter');
    await page.locator('a.job').first().waitFor();
    await page.context().close();
  });

  it('a token sees its own jobs only', async () => {
    const mine = await startCrawl(3);
    await finished(mine);
    const stranger = { authorization: 'Bearer a-token-of-somebody-else' };
    expect((await ask(`${server.url}/events?job=${mine}`, 'GET', undefined, stranger)).status).toBe(401);
    expect((await server.ask('GET', '/events?job=unknown')).status).toBe(404);
  });

  async function statusFor(where: string, host: string): Promise<number> {
    const { request } = await import('node:http');
    const { hostname, port } = new URL(server.url);
    return new Promise((resolve, reject) => {
      const headers = { host, authorization: `Bearer ${server.token}` };
      request({ hostname, port, path: where, headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode!);
      })
        .on('error', reject)
        .end();
    });
  }
});

describe('by pointer', () => {
  it(
    'a crawl is started by the form, watched, read, filtered, cancelled, resumed, retried and downloaded',
    PATIENT,
    async () => {
      const tab = await openConsole(browser, server);
      const { page } = tab;
      await page.getByRole('link', { name: 'New job' }).click();
      await page.getByLabel('URL', { exact: true }).fill(`${site.url}/`);
      await page.getByLabel('Most pages').fill('400');
      await page.getByLabel('The whole domain').check();
      await page.getByLabel('Links', { exact: true }).check();
      const curl = await page.getByLabel('the curl command', { exact: true }).innerText();
      expect(curl).toContain(`${server.url}/v2/crawl`);
      expect(curl).toContain('"limit": 400');
      expect(curl).not.toContain(server.token);
      // However slow this browser is, the crawl is not over before it was looked at and cancelled.
      pageMs = 800;
      await page.getByRole('button', { name: 'Start the crawl' }).click();
      await rows(page).nth(5).waitFor();
      expect(await page.locator('.one-job .state').innerText()).toContain('Running');
      const id = /jobs\/([\w-]+)/.exec(page.url())![1]!;

      // Newest first; further down, new ones wait above.
      const list = page.locator('.virtual');
      // First long enough: once it is scrolled, it does not grow.
      await eventually(
        () => list.evaluate((one) => one.scrollHeight - one.clientHeight >= 300),
        'the list is long enough to scroll',
      );
      await list.evaluate((one) => void (one.scrollTop = 300));
      await page.locator('.new-rows').waitFor();
      await page.locator('.new-rows').click();
      await eventually(
        async () => (await page.locator('.virtual').evaluate((list) => list.scrollTop)) === 0,
        'the top',
      );

      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      pageMs = 15;
      const before = (await server.ask('GET', `/v2/crawl/${id}`)).json.completed as number;
      await eventually(async () => {
        const resume = page.getByRole('button', { name: 'Resume' });
        // It goes away when the job goes on, also amid a click.
        if (await resume.isVisible()) await resume.click({ timeout: 1_000 }).catch(() => undefined);
        return page.locator('.one-job .state.running').isVisible();
      }, 'the job goes on');
      await finished(id);
      await page.locator('.state.completed').waitFor();
      const after = (await server.ask('GET', `/v2/crawl/${id}`)).json as { completed: number; total: number };
      expect(after.completed).toBeGreaterThan(before);

      // The numbers of the page are those of the API.
      const shown = await page.locator('.figure').first().innerText();
      expect(shown.replaceAll(',', '')).toContain(String(after.completed));
      const urls = (await documentsOf(id)).map(({ metadata }) => metadata.sourceURL);
      expect(new Set(urls).size).toBe(urls.length);

      // A page that was kept.
      await page.getByRole('button', { name: 'Pages', exact: true }).click();
      await rows(page).first().click();
      const sheet = page.getByRole('dialog');
      await sheet.locator('.markdown h4').first().waitFor();
      expect(await sheet.locator('.markdown').innerText()).toContain('What was found');
      await sheet.getByRole('tab', { name: 'Details' }).click();
      expect(await sheet.locator('.facts').innerText()).toMatch(/Status\s+\d+[\s\S]*Load time/);
      await sheet.getByRole('tab', { name: 'Fields' }).click();
      expect(await sheet.locator('.facts').innerText()).toContain('description');
      await sheet.getByRole('tab', { name: 'Links' }).click();
      expect(await sheet.locator('.links a').count()).toBeGreaterThan(3);
      await sheet.getByRole('button', { name: 'Older page' }).click();
      await sheet.getByRole('button', { name: 'Close' }).click();
      await sheet.waitFor({ state: 'detached' });

      // What failed, and why.
      await page.getByRole('tab', { name: 'Answers' }).click();
      await page.getByRole('link', { name: /CONNECT/ }).click();
      await page.getByText('pages fit').waitFor();
      await rows(page).first().click();
      await page.getByRole('dialog').getByText('Failed after its retries').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'All', exact: true }).click();
      await page.getByPlaceholder('Search URLs').fill('part 17');
      await page.getByText(/pages? fits?/).waitFor();
      expect(await rows(page).first().innerText()).toContain('part 17');

      await page.getByRole('tab', { name: 'Domains' }).click();
      await rows(page.getByRole('listbox', { name: 'Domains' }))
        .first()
        .click();
      await page.getByRole('button', { name: /^Remove filter 127/ }).waitFor();
      await page.getByRole('tab', { name: 'Request' }).click();
      expect(await page.getByLabel('the options as JSON', { exact: true }).innerText()).toContain('"limit": 400');

      for (const [format, extension] of [
        ['JSON lines', 'jsonl'],
        ['CSV', 'csv'],
        ['Markdown', 'zip'],
      ] as const) {
        await page.getByRole('button', { name: 'Download' }).click();
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('menuitem', { name: format }).click(),
        ]);
        expect(download.suggestedFilename()).toMatch(new RegExp(`\\.${extension}$`));
        const bytes = await readFile(await download.path());
        if (extension === 'jsonl') expect(bytes.toString().trim().split('\n')).toHaveLength(after.completed);
        if (extension === 'csv') expect(bytes.toString()).toContain('failed');
        if (extension === 'zip') expect(bytes.readUInt32LE(0)).toBe(0x04034b50);
        expect(download.url()).not.toContain(server.token);
      }

      await page.getByRole('button', { name: /Retry \d+ failed/ }).click();
      await eventually(async () => !page.url().includes(id), 'the new job is shown');
      await page.locator('.kind', { hasText: 'batch' }).waitFor();

      expect(tab.problems).toEqual([]);
      expect(tab.asked.filter((url) => new URL(url).origin !== server.url)).toEqual([]);
      expect(tab.asked.filter((url) => url.split('#')[0]!.includes(server.token))).toEqual([]);
      expect(tab.referrers).toEqual([]);
      expect(server.process.stderr().split(server.token)).toHaveLength(2);
      await tab.context.close();
    },
  );

  it('one page is scraped with a screenshot, a list is started as a batch, a site is mapped', PATIENT, async () => {
    const tab = await openConsole(browser, server);
    const { page } = tab;
    await show(page, '#/new');
    await page.getByText('Scrape', { exact: true }).click();
    await page.getByLabel('URL', { exact: true }).fill(`${site.url}/3`);
    await page.getByLabel('Screenshot').check();
    await page.getByRole('button', { name: 'Scrape the page' }).click();
    const result = page.getByRole('region', { name: 'Result' });
    await result.locator('.markdown').waitFor({ timeout: 90_000 });
    await result.getByRole('tab', { name: 'Screenshot' }).click();
    await eventually(
      () =>
        result
          .locator('img.screenshot')
          .evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth > 100),
      'the screenshot is drawn',
    );
    await page.getByText('Map', { exact: true }).click();
    await page.getByRole('button', { name: 'Map the site' }).click();
    await result.locator('.links li').first().waitFor({ timeout: 90_000 });
    await page.getByText('Batch', { exact: true }).click();
    await page.getByRole('button', { name: 'Start the batch' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('URLs, one per line').fill(`${site.url}/1\n${site.url}/2`);
    await page.getByRole('tab', { name: 'TypeScript' }).click();
    expect(await page.getByLabel('the TypeScript', { exact: true }).innerText()).toContain('/v2/batch/scrape');
    await page.getByRole('button', { name: 'Start the batch' }).click();
    await page.locator('.state.completed').waitFor();
    expect(tab.problems).toEqual([]);
    await tab.context.close();
  });
});

describe('by keyboard', () => {
  it('a job is started, its list walked, a page opened and closed, tabs and menu used', PATIENT, async () => {
    const { page, context } = await openConsole(browser, server);
    await page.locator('a.job').first().waitFor();
    await page.keyboard.press('n');
    await page.getByRole('heading', { name: 'New job' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('radio', { name: 'Crawl' }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.type(`${site.url}/`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('40');
    await page.keyboard.press('Enter');
    await page.locator('.state.completed').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('part 1');
    await page.getByText('pages fit').waitFor();
    await page.getByRole('listbox').focus();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => page.locator('.list-row.focused').getAttribute('aria-posinset')).toBe('2');
    await page.keyboard.press('End');
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').locator('.markdown').waitFor();
    await page.getByRole('dialog').getByRole('tab', { name: 'Markdown' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('dialog').locator('.facts').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.evaluate(`document.activeElement?.getAttribute('role')`)).toBe('listbox');
    await page.getByRole('button', { name: 'Download' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem').first().waitFor();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toContain('CSV');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toContain('Download');
    await page.keyboard.press('p');
    await page.getByRole('heading', { name: 'No pods here' }).waitFor();
    await page.keyboard.press('j');
    await page.locator('a.job').first().waitFor();
    await context.close();
  });
});

describe('for everybody', () => {
  it(
    'axe-core finds nothing serious in any view, in light and dark, on a phone and on a wide screen',
    PATIENT,
    async () => {
      const id = await startCrawl(60);
      await finished(id);
      for (const [scheme, width] of [
        ['light', 1280],
        ['dark', 390],
      ] as const) {
        const { page, context } = await openConsole(browser, server, { scheme, width });
        for (const [hash, ready] of [
          ['#/', 'a.job'],
          ['#/new', 'form'],
          ['#/pods', '.empty'],
          [`#/jobs/${id}`, '.list-row'],
          [`#/jobs/${id}?show=domains`, '.list-row'],
          [`#/jobs/${id}?show=answers`, '.answers'],
          [`#/jobs/${id}?show=request`, '.wish'],
          ['#/jobs/unknown', '.empty'],
        ] as const) {
          await show(page, hash);
          await page.locator(ready).first().waitFor();
          expect([scheme, hash, await seriousFindings(page)]).toEqual([scheme, hash, []]);
        }
        await show(page, `#/jobs/${id}?show=pages&kind=page`);
        await rows(page).first().click();
        await page.getByRole('dialog').locator('.markdown').waitFor();
        expect([scheme, 'page', await seriousFindings(page)]).toEqual([scheme, 'page', []]);
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect(overflow).toBeLessThanOrEqual(0);
        await context.close();
      }
    },
  );
});

describe('a server that goes away', () => {
  it('is waited for; the page catches up within moments, and the charts go on', PATIENT, async () => {
    const own = await dataFolder();
    let one = await startServe(own.dir);
    const { page, context } = await openConsole(browser, one);
    const body = { url: `${site.url}/`, limit: 5_000, crawlEntireDomain: true, maxConcurrency: 4 };
    const { id } = (await one.ask('POST', '/v2/crawl', body)).json as { id: string };
    await show(page, `#/jobs/${id}`);
    await rows(page).first().waitFor();
    const firstTime = () => page.locator('.chart .ends span').first().innerText();
    await eventually(async () => (await firstTime()) !== '', 'the charts have begun');
    const began = await firstTime();
    // Longer than the time between two saves.
    await new Promise((resume) => setTimeout(resume, 6_500));
    await one.kill();
    await page.getByText('The connection is lost').waitFor();
    expect(await rows(page).count()).toBeGreaterThan(0);
    one = await startServe(own.dir, ['--allow-private', '127.0.0.0/8', '--port', new URL(one.url).port]);
    await page.locator('.connection.live').waitFor();
    await eventually(
      async () => (await page.locator('.one-job .state').innerText()).includes('Running'),
      'it runs again',
    );
    const completed = (): Promise<number> =>
      page
        .locator('.figure .number')
        .first()
        .innerText()
        .then((text) => Number(text.replaceAll(',', '')));
    const caughtUp = await completed();
    await eventually(async () => (await completed()) > caughtUp, 'pages come in');
    expect(await firstTime()).toBe(began);
    await context.close();
    await one.stop();
    await own.remove();
  });
});

async function documentsOf(id: string): Promise<{ metadata: { sourceURL: string } }[]> {
  const all: { metadata: { sourceURL: string } }[] = [];
  for (let where: string | undefined = `/v2/crawl/${id}`; where !== undefined;) {
    const { json } = await server.ask('GET', where);
    all.push(...(json.data as typeof all));
    where = json.next ? String(json.next).slice(server.url.length) : undefined;
  }
  return all;
}
