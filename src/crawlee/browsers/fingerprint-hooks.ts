// The hooks of a BrowserPool that shows its pages as other browsers, and the parts they use, which the pool shows.
// Promise: a browser has one fingerprint; pages in contexts of their own get theirs from the same session or proxy.
import { createRecentMap } from '../../base/recent-map.js';
import type { BrowserContext } from '../../fetch/browser/playwright-types.js';
import {
  contextOptionsOf,
  type Fingerprint,
  type FingerprintOptions,
  type Fingerprints,
  machineOptions,
  openFingerprints,
} from '../../session/identity/fingerprints.js';
import type { PostPageCreateHook, PreLaunchHook, PrePageCreateHook } from './browser-pool.js';
import type { LaunchContext } from './launch-context.js';
import type { CommonPage } from './types.js';

/** Makes and injects fingerprints by the optional packages, which are loaded at the first call. */
export interface FingerprintParts {
  readonly generator: { getFingerprint(options?: object): Fingerprint | Promise<Fingerprint> };
  readonly injector: {
    attachFingerprintToPlaywright(context: BrowserContext, fingerprint: Fingerprint): Promise<void>;
    attachFingerprintToPuppeteer(page: CommonPage, fingerprint: Fingerprint): Promise<void>;
  };
  /** By session or proxy; none without `useFingerprintCache`. */
  readonly cache:
    | {
        readonly maxSize: number;
        get(key: string): Fingerprint | undefined;
        set(key: string, fingerprint: Fingerprint): void;
      }
    | undefined;
}

export interface FingerprintHooks {
  readonly preLaunch: PreLaunchHook;
  readonly prePageCreate: PrePageCreateHook;
  readonly postPageCreate: PostPageCreateHook;
}

const MAX_SESSIONS = 10_000;
/** The generator's names of the browsers of a library. */
const BROWSERS: Readonly<Record<string, string>> = { firefox: 'firefox', webkit: 'safari' };

export function createFingerprintParts(options: FingerprintOptions): FingerprintParts {
  const { useFingerprintCache = true, fingerprintCacheSize: maxSize = MAX_SESSIONS } = options;
  let opening: Promise<Fingerprints> | undefined;
  const open = () => (opening ??= openFingerprints(options));
  const recent = createRecentMap<string, Fingerprint>(maxSize);
  return {
    generator: { getFingerprint: async (wanted) => (await open()).make(wanted) },
    injector: {
      attachFingerprintToPlaywright: async (context, fingerprint) => (await open()).attach(context, fingerprint),
      attachFingerprintToPuppeteer: async (page, fingerprint) => (await open()).attachToPage(page, fingerprint),
    },
    cache: useFingerprintCache
      ? { maxSize, get: (key) => recent.get(key), set: (key, fingerprint) => void recent.set(key, fingerprint) }
      : undefined,
  };
}

export function createFingerprintHooks(options: FingerprintOptions, parts: () => FingerprintParts): FingerprintHooks {
  const attached = new WeakSet<object>();

  /** As the browser and the machine are, unless asked for otherwise: a lie less is a contradiction less. */
  async function fingerprintFor(launchContext: LaunchContext): Promise<Fingerprint> {
    const { generator, cache } = parts();
    const session = launchContext['session'] as { id?: string } | undefined;
    const key = session?.id ?? launchContext.proxyUrl;
    const known = key === undefined ? undefined : cache?.get(key);
    if (known) return known;
    const browser = BROWSERS[launchContext.browserPlugin.library.name?.() ?? ''] ?? 'chrome';
    const wanted = { ...machineOptions(), browsers: [browser], ...options.fingerprintGeneratorOptions };
    const fingerprint = await generator.getFingerprint(wanted);
    if (key !== undefined) cache?.set(key, fingerprint);
    return fingerprint;
  }

  return {
    async preLaunch(_pageId, launchContext) {
      const fingerprint = await fingerprintFor(launchContext);
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
      const { injector } = parts();
      // Puppeteer's pages have no context(): each is changed by itself.
      const context = page.context?.() as unknown as BrowserContext | undefined;
      if (!context) return injector.attachFingerprintToPuppeteer(page, fingerprint);
      if (attached.has(context)) return;
      attached.add(context);
      await injector.attachFingerprintToPlaywright(context, fingerprint);
    },
  };
}
