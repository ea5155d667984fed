// Pages that try to break out into the console: what they say is shown as text, and harmless where markdown is rendered.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launch, openConsole, show } from '../integration/console-fixtures.js';
import { dataFolder, endedAt, type ServerProcess, type Site, startServe, startSite } from '../support/serve.js';

const RUN = 'window.__broken=1';

/** Each tries to run something, to load something from elsewhere, or to leave its place. */
const PAYLOADS = [
  `<script>${RUN}</script>`,
  `<img src=x onerror="${RUN}">`,
  `<svg onload="${RUN}"></svg>`,
  `"><script>${RUN}</script>`,
  `'><img src=x onerror=${RUN}>`,
  `</title><script>${RUN}</script>`,
  `</script><script>${RUN}</script>`,
  `<iframe srcdoc="<script>parent.${RUN}</script>"></iframe>`,
  `<a href="javascript:${RUN}">here</a>`,
  `[here](javascript:${RUN})`,
  `[here](JaVaScRiPt:${RUN})`,
  `[here](data:text/html,<script>${RUN}</script>)`,
  `[here](vbscript:${RUN})`,
  `<javascript:${RUN}>`,
  `![x](https://evil.example/pixel.png)`,
  `![x](javascript:${RUN})`,
  `<img src="https://evil.example/pixel.png">`,
  `<link rel=stylesheet href=https://evil.example/x.css>`,
  `<style>body{background:url(https://evil.example/x.png)}</style>`,
  `<body onload=${RUN}>`,
  `<details open ontoggle=${RUN}>`,
  `<form action=https://evil.example><button>go</button></form>`,
  `<base href=https://evil.example/>`,
  `<meta http-equiv=refresh content="0;url=https://evil.example">`,
  `<object data=https://evil.example></object>`,
  `<math><mi xlink:href="javascript:${RUN}">x</mi></math>`,
  `{{constructor.constructor("${RUN}")()}}`,
  `\${${RUN}}`,
  `<template><script>${RUN}</script></template>`,
  `&lt;script&gt;${RUN}&lt;/script&gt;`,
  `<video><source onerror="${RUN}"></video>`,
  `\u202e<script>${RUN}</script>\u0000`,
];

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

let browser: Browser;
let site: Site;
let server: ServerProcess;
let data: Awaited<ReturnType<typeof dataFolder>>;

beforeAll(async () => {
  data = await dataFolder();
  site = await startSite((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site.invalid');
    const number = Number(pathname.split('/')[1]);
    if (pathname.startsWith('/broken')) return void request.socket.destroy();
    const payload = escaped(PAYLOADS[number] ?? '');
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(
      `<!doctype html><html><head><title>${payload} ${number}</title><meta name="description" content="${payload.replaceAll('"', '&quot;')}"></head>` +
        `<body><main><h1>${payload}</h1><p>${payload} ${'Words of a page that is long enough. '.repeat(10)}</p>` +
        `<ul><li>${payload}</li></ul><blockquote>${payload}</blockquote><pre>${payload}</pre></main></body></html>`,
    );
  });
  [browser, server] = await Promise.all([launch(), startServe(data.dir)]);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await site?.close();
  await data?.remove();
});

describe('what pages say', () => {
  it(
    `is text in lists, errors and details, and harmless as markdown (${PAYLOADS.length} payloads)`,
    { timeout: 400_000 },
    async () => {
      expect(PAYLOADS.length).toBeGreaterThanOrEqual(30);
      const urls = PAYLOADS.flatMap((payload, number) => [
        `${site.url}/${number}/${encodeURIComponent(payload)}?q="><script>${RUN}</script>`,
        `${site.url}/broken/${number}/'"><img src=x onerror=${RUN}>`,
      ]);
      const { id } = (await server.ask('POST', '/v2/batch/scrape', { urls, formats: ['markdown', 'links'] })).json;
      await endedAt(server, `/v2/batch/scrape/${id}`);
      const tab = await openConsole(browser, server);
      const { page } = tab;
      await show(page, `#/jobs/${id}?show=pages&kind=page`);
      const list = page.getByRole('listbox');
      await list.locator('.list-row').first().waitFor();
      expect(await list.locator('script, img, svg, iframe, style, a').count()).toBe(0);
      for (let number = 0; number < PAYLOADS.length; number++) {
        await list.focus();
        await page.keyboard.press(number === 0 ? 'Home' : 'ArrowDown');
        await page.keyboard.press('Enter');
        const sheet = page.getByRole('dialog');
        await sheet.locator('.markdown').waitFor();
        const inside = sheet.locator('.markdown');
        expect(await inside.locator('script, img, svg, iframe, style, form, base, meta, object, link').count()).toBe(0);
        const targets = await inside.locator('a').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
        expect(targets.filter((href) => !/^https?:\/\//.test(href ?? ''))).toEqual([]);
        expect(await sheet.locator('h2').innerText()).toMatch(/\d+$/);
        await page.keyboard.press('Escape');
        await sheet.waitFor({ state: 'detached' });
      }
      for (const part of ['answers', 'request', 'domains', 'pages&kind=failed']) {
        await show(page, `#/jobs/${id}?show=${part}`);
        await page.waitForTimeout(300);
      }
      await show(page, '#/');
      await page.locator('a.job').first().waitFor();
      expect(await page.evaluate('window.__broken')).toBeUndefined();
      expect(tab.problems).toEqual([]);
      expect(tab.asked.filter((url) => new URL(url).origin !== server.url)).toEqual([]);
      expect(page.url().startsWith(server.url)).toBe(true);
      await tab.context.close();
    },
  );
});
