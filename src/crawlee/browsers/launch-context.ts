// How one browser of a BrowserPool is launched; hooks may change it and add fields of their own.
import { CrawlError } from '../../errors.js';
import type { Dictionary } from '../../request/request.js';
import type { BrowserPlugin } from './plugin.js';

/** How a browser is launched. */
export interface LaunchContextOptions {
  id?: string;
  browserPlugin: BrowserPlugin;
  launchOptions: Dictionary;
  /** One browser per proxy. */
  browserPerProxy?: boolean;
  /** Every page in a context of its own. */
  useIncognitoPages?: boolean;
  experimentalContainers?: boolean;
  userDataDir?: string;
  proxyUrl?: string;
  proxyTier?: number;
  ignoreProxyCertificate?: boolean;
}

/**
 * How a browser of a pool is launched.
 *
 * @example
 * const preLaunchHooks = [(pageId: string, launchContext: LaunchContext) => launchContext.extend({ startedFor: pageId })];
 */
export class LaunchContext {
  [field: string]: unknown;
  id?: string | undefined;
  browserPlugin: BrowserPlugin;
  launchOptions: Dictionary;
  useIncognitoPages: boolean;
  browserPerProxy: boolean | undefined;
  experimentalContainers: boolean;
  userDataDir: string;
  proxyTier: number | undefined;
  ignoreProxyCertificate: boolean | undefined;
  fingerprint?: unknown;
  protected _proxyUrl: string | undefined;
  readonly #reserved: ReadonlySet<string>;

  constructor(options: LaunchContextOptions) {
    this.id = options.id;
    this.browserPlugin = options.browserPlugin;
    this.launchOptions = options.launchOptions;
    this.useIncognitoPages = options.useIncognitoPages ?? false;
    this.browserPerProxy = options.browserPerProxy;
    this.experimentalContainers = options.experimentalContainers ?? false;
    this.userDataDir = options.userDataDir ?? '';
    this.proxyTier = options.proxyTier;
    this.ignoreProxyCertificate = options.ignoreProxyCertificate;
    this.proxyUrl = options.proxyUrl;
    this.#reserved = new Set([...Object.keys(this), 'proxyUrl', 'extend']);
  }

  /** Adds fields, which later hooks and the controller see. */
  extend<T extends Record<string, unknown>>(fields: T): void {
    for (const [name, value] of Object.entries(fields)) {
      if (this.#reserved.has(name)) {
        throw new CrawlError('OPTION_INVALID', `Cannot extend LaunchContext with key: ${name}, because it's reserved.`);
      }
      Reflect.set(this, name, value);
    }
  }

  set proxyUrl(url: string | undefined) {
    this._proxyUrl = url ? new URL(url).href.replace(/\/$/, '') : undefined;
  }

  get proxyUrl(): string | undefined {
    return this._proxyUrl;
  }
}
