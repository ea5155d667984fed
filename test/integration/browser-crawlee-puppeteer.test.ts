// PuppeteerPlugin of Crawlee's BrowserPool. Puppeteer is not among our packages: a real browser speaks through the few
// calls that its library has, so that proxies, contexts and cookies are real and only the names are put on.
import { chromium, type BrowserContext } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { BrowserPool, PlaywrightPlugin, PuppeteerController, PuppeteerPlugin } from '../../src/crawlee/entry.js';
import type { CommonPage } from '../../src/crawlee/entry.js';
import { Simweb, startProxy } from '../../src/testing/index.js';
import { browserPath, shellPath } from '../support/browser.js';

interface ContextOptions {
  proxyServer?: string;
  proxyBypassList?: string[];
}
type Visited = CommonPage & { goto(url: string): Promise<{ status(): number }> };

/** A page with Puppeteer's calls, and no others. */
async function pageOf(context: BrowserContext) {
  const page = await context.newPage();
  return {
    goto: (url: string) => page.goto(url),
    url: () => page.url(),
    close: () => page.close(),
    evaluate: (script: string) => page.evaluate(script),
    once: (event: 'close', listener: () => void) => page.once(event, listener),
    cookies: () => context.cookies(),
    setCookie: (...cookies: Parameters<BrowserContext['addCookies']>[0]) => context.addCookies(cookies),
  };
}

/** Puppeteer's library, as far as the plugin calls it; it notes how it was launched. */
function puppeteer() {
  const launched: { args?: string[]; userDataDir?: string }[] = [];
  const contexts = { open: 0 };
  return {
    launched,
    contexts,
    product: 'chrome',
    async launch(options: { args?: string[] } = {}) {
      launched.push(options);
      const args = [...(options.args ?? []), '--no-sandbox'];
      const browser = await chromium.launch({ executablePath: shellPath!, args });
      const shared = await browser.newContext();
      return {
        newPage: () => pageOf(shared),
        close: () => browser.close(),
        once: (event: 'disconnected', listener: () => void) => browser.once(event, listener),
        async createBrowserContext({ proxyServer: server, proxyBypassList: bypass = [] }: ContextOptions) {
          const proxy = server === undefined ? {} : { proxy: { server, bypass: bypass.join() } };
          const context = await browser.newContext(proxy);
          contexts.open++;
          context.once('close', () => contexts.open--);
          return { newPage: () => pageOf(context), close: () => context.close() };
        },
      };
    },
  };
}

let pool: BrowserPool | undefined;
afterEach(() => pool?.destroy());

function createPool(library: ReturnType<typeof puppeteer>, options = {}): BrowserPool {
  pool = new BrowserPool({ browserPlugins: [new PuppeteerPlugin(library, options)], operationTimeoutSecs: 100 });
  return pool;
}

describe.skipIf(!browserPath)('a BrowserPool over Puppeteer', () => {
  it('opens pages, counts them, and takes and gives cookies', async () => {
    const library = puppeteer();
    createPool(library, { userDataDir: '/tmp/profile' });
    const page = await pool!.newPage();
    const controller = pool!.getBrowserControllerByPage(page)!;
    expect(controller).toBeInstanceOf(PuppeteerController);
    await controller.setCookies(page, [{ name: 'a', value: '1', url: 'http://a.test/' } as never]);
    expect((await controller.getCookies(page)).map(({ name }) => name)).toEqual(['a']);
    expect([controller.activePages, controller.totalPages]).toEqual([1, 1]);
    await page.close();
    expect([controller.activePages, controller.totalPages]).toEqual([0, 1]);
    expect(library.launched).toEqual([{ args: [], userDataDir: '/tmp/profile' }]);
    await expect(controller.newPage({})).rejects.toThrow('only when using incognito pages');
  });

  it('sends the login of a proxy that its browser was launched with', async () => {
    await using web = await Simweb.start({ seed: 1 });
    await using proxy = await startProxy({ auth: { username: 'ann', password: 'p w' } });
    const library = puppeteer();
    createPool(library, { launchOptions: { args: ['--proxy-bypass-list=<-loopback>'] } });
    const page = (await pool!.newPage({ proxyUrl: proxy.url })) as Visited;
    expect((await page.goto(web.seeds()[0]!)).status()).toBe(200);
    expect(proxy.requests.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    expect(library.launched[0]!.args!.join()).not.toContain('ann');
  });

  it('gives each page a context and a proxy of its own, and closes the context with the page', async () => {
    await using web = await Simweb.start({ seed: 1 });
    await using proxy = await startProxy({ auth: { username: 'ann', password: 'p w' } });
    const library = puppeteer();
    createPool(library, { useIncognitoPages: true });
    const direct = (await pool!.newPage()) as Visited;
    await direct.goto(web.seeds()[0]!);
    expect(proxy.requests).toHaveLength(0);
    const pageOptions = { proxyBypassList: ['<-loopback>'] };
    const page = (await pool!.newPage({ proxyUrl: proxy.url, pageOptions })) as Visited;
    expect((await page.goto(web.seeds()[0]!)).status()).toBe(200);
    expect(proxy.requests.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    expect([library.launched.length, library.contexts.open]).toEqual([1, 2]);
    await page.close();
    await expect.poll(() => library.contexts.open).toBe(1);
  });

  it('says that a browser cannot be launched', async () => {
    const broken = { ...puppeteer(), launch: () => Promise.reject(new Error('no such file')) };
    createPool(broken as never, { launchOptions: { executablePath: '/nowhere' } });
    await expect(pool!.newPage()).rejects.toThrow('Failed to launch browser (/nowhere): no such file');
  });

  it('does not take plugins of two libraries', () => {
    const browserPlugins = [new PuppeteerPlugin(puppeteer()), new PlaywrightPlugin(chromium)];
    expect(() => new BrowserPool({ browserPlugins })).toThrow('one kind');
  });

  it('keeps what page options say of a proxy beside its URL, with Playwright', async () => {
    await using web = await Simweb.start({ seed: 1 });
    await using proxy = await startProxy();
    const launchOptions = { executablePath: browserPath, args: ['--no-sandbox'] };
    const plugin = new PlaywrightPlugin(chromium, { launchOptions, useIncognitoPages: true });
    pool = new BrowserPool({ browserPlugins: [plugin], operationTimeoutSecs: 100 });
    const pageOptions = { proxy: { bypass: '<-loopback>' } };
    const page = (await pool.newPage({ proxyUrl: proxy.url, pageOptions })) as Visited;
    await page.goto(web.seeds()[0]!);
    expect(proxy.requests.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
  });
});
