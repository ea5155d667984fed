// Crawlee's BrowserPool over a real browser: hooks in order, room for pages, retirement, cookies.
import { chromium } from 'playwright-core';
import { afterEach, describe, expect, it } from 'vitest';
import { BROWSER_POOL_EVENTS, BrowserLaunchError, BrowserPool, PlaywrightPlugin } from '../../src/crawlee/entry.js';
import type { BrowserPoolHooks, CommonPage } from '../../src/crawlee/entry.js';
import { browserPath } from '../support/browser.js';

const launchOptions = { executablePath: browserPath, args: ['--no-sandbox'] };
let pool: BrowserPool;
afterEach(() => pool?.destroy());

function createPool(options: Partial<ConstructorParameters<typeof BrowserPool>[0]> & BrowserPoolHooks = {}) {
  const plugin = new PlaywrightPlugin(chromium, { launchOptions, useIncognitoPages: true });
  pool = new BrowserPool({ browserPlugins: [plugin], operationTimeoutSecs: 100, ...options });
  return pool;
}

describe.skipIf(!browserPath)('a BrowserPool', () => {
  it('calls its hooks in order and knows its pages', async () => {
    const calls: string[] = [];
    createPool({
      preLaunchHooks: [(_, context) => (context.extend({ mark: 'm' }), void calls.push('preLaunch'))],
      postLaunchHooks: [(_, controller) => void calls.push(`postLaunch ${String(controller.launchContext['mark'])}`)],
      prePageCreateHooks: [
        (_, __, options) => (Object.assign(options!, { locale: 'de-DE' }), void calls.push('prePage')),
      ],
      postPageCreateHooks: [() => void calls.push('postPage')],
      prePageCloseHooks: [() => void calls.push('preClose')],
      postPageCloseHooks: [(id) => void calls.push(`postClose ${id}`)],
    });
    const page = await pool.newPage({ id: 'one' });
    expect(await page.evaluate('navigator.language')).toBe('de-DE');
    expect(pool.getPageId(page)).toBe('one');
    expect(pool.getPage('one')).toBe(page);
    const controller = pool.getBrowserControllerByPage(page)!;
    await controller.setCookies(page, [{ name: 'a', value: '1', url: 'http://a.test/' } as never]);
    expect((await controller.getCookies(page)).map(({ name }) => name)).toEqual(['a']);
    await expect(pool.newPage({ id: 'one' })).rejects.toThrow('already exists');
    await page.close();
    expect(calls).toEqual(['preLaunch', 'postLaunch m', 'prePage', 'postPage', 'preClose', 'postClose one']);
  });

  it('shows pages as another browser when asked to', async () => {
    const fingerprintGeneratorOptions = { operatingSystems: ['windows'] };
    createPool({ useFingerprints: true, fingerprintOptions: { fingerprintGeneratorOptions } });
    const page = await pool.newPage();
    const { launchContext } = pool.getBrowserControllerByPage(page)!;
    const { fingerprint } = launchContext.fingerprint as { fingerprint: { navigator: { userAgent: string } } };
    await (page as unknown as { goto(url: string): Promise<unknown> }).goto('about:blank');
    expect(await page.evaluate('[navigator.userAgent, navigator.platform]')).toEqual([
      fingerprint.navigator.userAgent,
      'Win32',
    ]);
  });

  it('has the parts that make and inject fingerprints, and a cache by session', async () => {
    createPool({ useFingerprints: true, fingerprintOptions: { useFingerprintCache: false } });
    expect(pool.fingerprintCache).toBeUndefined();
    await pool.destroy();
    createPool({
      useFingerprints: true,
      fingerprintOptions: { fingerprintCacheSize: 3, fingerprintGeneratorOptions: { operatingSystems: ['windows'] } },
      preLaunchHooks: [(_, context) => void context.extend({ session: { id: 's' } })],
    });
    const [wanted, shown]: [unknown[], unknown[]] = [[], []];
    const { getFingerprint } = pool.fingerprintGenerator!;
    pool.fingerprintGenerator = { getFingerprint: (options) => (wanted.push(options), getFingerprint(options)) };
    pool.fingerprintInjector = {
      attachFingerprintToPlaywright: async (_, fingerprint) => void shown.push(fingerprint),
      attachFingerprintToPuppeteer: async () => undefined,
    };
    for (const page of [await pool.newPageInNewBrowser(), await pool.newPageInNewBrowser()]) await page.close();
    expect(wanted).toEqual([{ browsers: ['chrome'], devices: ['desktop'], operatingSystems: ['windows'] }]);
    expect(shown).toEqual([pool.fingerprintCache!.get('s'), pool.fingerprintCache!.get('s')]);
    expect(pool.fingerprintCache!.maxSize).toBe(3);
  });

  it('takes its steps by methods that a derived class may override', async () => {
    const steps: string[] = [];
    class Mine extends BrowserPool {
      protected override _overridePageClose(page: CommonPage): void {
        steps.push('page');
        super._overridePageClose(page);
      }
      protected override async _launchBrowser(...given: Parameters<BrowserPool['_launchBrowser']>) {
        steps.push('launch');
        return super._launchBrowser(...given);
      }
      protected override _closeRetiredBrowserWithNoPages(
        ...given: Parameters<BrowserPool['_closeRetiredBrowserWithNoPages']>
      ): void {
        steps.push('closed');
        super._closeRetiredBrowserWithNoPages(...given);
      }
      protected override async _executeHooks<A extends readonly unknown[]>(
        hooks: readonly ((...args: A) => void | Promise<void>)[],
        ...args: A
      ): Promise<void> {
        steps.push('hooks');
        await super._executeHooks(hooks, ...args);
      }
    }
    pool = new Mine({ browserPlugins: [new PlaywrightPlugin(chromium, { launchOptions })] });
    await (await pool.newPage()).close();
    expect(steps).toEqual(['launch', 'hooks', 'hooks', 'hooks', 'page', 'hooks', 'hooks', 'hooks', 'closed']);
  });

  it('retires a browser without pages after retireInactiveBrowserAfterSecs', async () => {
    createPool({ retireInactiveBrowserAfterSecs: 0, closeInactiveBrowserAfterSecs: 300 });
    const page = await pool.newPage();
    const closed = new Promise((resolve) => pool.getBrowserControllerByPage(page)!.once('browserClosed', resolve));
    await page.close();
    await closed;
    expect([pool.activeBrowserControllers.size, pool.retiredBrowserControllers.size]).toEqual([0, 0]);
  });

  it('opens pages where there is room, and retires a browser after its pages', async () => {
    const retired: unknown[] = [];
    createPool({ maxOpenPagesPerBrowser: 2, retireBrowserAfterPageCount: 2 });
    pool.on(BROWSER_POOL_EVENTS.BROWSER_RETIRED, (controller) => retired.push(controller));
    const pages: CommonPage[] = await Promise.all([pool.newPage(), pool.newPage(), pool.newPage()]);
    const [first, second, third] = pages.map((page) => pool.getBrowserControllerByPage(page));
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    expect(retired).toEqual([first]);
    const closed = new Promise((resolve) => first!.once('browserClosed', resolve));
    await pages[0]!.close();
    await pages[1]!.close();
    await closed;
    expect(pool.activeBrowserControllers.size).toBe(1);
  });

  it('says that a browser cannot be launched, and what plugins it takes', async () => {
    const broken = new PlaywrightPlugin(chromium, { launchOptions: { executablePath: '/nowhere' } });
    createPool({ browserPlugins: [broken] });
    await expect(pool.newPage()).rejects.toBeInstanceOf(BrowserLaunchError);
    expect(() => new BrowserPool({ browserPlugins: [] })).toThrow('at least one plugin');
  });
});
