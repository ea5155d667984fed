// The hooks of a BrowserPool that shows its pages as other browsers.
// Promise: a browser has one fingerprint; pages in contexts of their own get theirs from the same session or proxy.
import type { BrowserContext } from '../../fetch/browser/playwright-types.js';
import {
  contextOptionsOf,
  type Fingerprint,
  type FingerprintOptions,
  type Fingerprints,
  openFingerprints,
} from '../../session/identity/fingerprints.js';
import type { PostPageCreateHook, PreLaunchHook, PrePageCreateHook } from './browser-pool.js';

export interface FingerprintHooks {
  readonly preLaunch: PreLaunchHook;
  readonly prePageCreate: PrePageCreateHook;
  readonly postPageCreate: PostPageCreateHook;
}

export function createFingerprintHooks(options: FingerprintOptions): FingerprintHooks {
  let opening: Promise<Fingerprints> | undefined;
  const open = () => (opening ??= openFingerprints(options));
  const attached = new WeakSet<object>();
  return {
    async preLaunch(_pageId, launchContext) {
      const session = launchContext['session'] as { id?: string } | undefined;
      const fingerprint = (await open()).of(session?.id ?? launchContext.proxyUrl);
      launchContext.fingerprint = fingerprint;
      if (launchContext.useIncognitoPages) return;
      const { launchOptions } = launchContext;
      const shown = contextOptionsOf(fingerprint);
      launchOptions['userAgent'] ??= shown.userAgent;
      launchOptions['viewport'] ??= shown.viewport;
    },
    prePageCreate(_pageId, { launchContext }, pageOptions) {
      const fingerprint = launchContext.fingerprint as Fingerprint | undefined;
      if (!pageOptions || !fingerprint) return;
      const shown = contextOptionsOf(fingerprint);
      pageOptions['userAgent'] ??= shown.userAgent;
      pageOptions['viewport'] ??= shown.viewport;
    },
    async postPageCreate(page, { launchContext }) {
      const fingerprint = launchContext.fingerprint as Fingerprint | undefined;
      if (!fingerprint) return;
      // Puppeteer's pages have no context(): each is changed by itself.
      const context = page.context?.() as unknown as BrowserContext | undefined;
      if (!context) return (await open()).attachToPage(page, fingerprint);
      if (attached.has(context)) return;
      attached.add(context);
      await (await open()).attach(context, fingerprint);
    },
  };
}
