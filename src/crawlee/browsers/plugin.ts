// A plugin knows how to launch the browsers of one library, and makes their controllers.
import { CriticalError } from '../../errors.js';
import type { Dictionary } from '../../request/request.js';
import type { BrowserController } from './controller.js';
import { LaunchContext, type LaunchContextOptions } from './launch-context.js';
import type { CommonBrowser, CommonLibrary } from './types.js';

/** How the browsers of a plugin are launched. */
export interface BrowserPluginOptions<LibraryOptions = Dictionary> {
  launchOptions?: LibraryOptions;
  proxyUrl?: string;
  useIncognitoPages?: boolean;
  experimentalContainers?: boolean;
  userDataDir?: string;
  browserPerProxy?: boolean;
  ignoreProxyCertificate?: boolean;
}
/** What differs for one launch. */
export type CreateLaunchContextOptions = Partial<Omit<LaunchContextOptions, 'browserPlugin'>>;

/**
 * A browser could not be launched: no request can succeed.
 *
 * @example
 * if (error instanceof BrowserLaunchError) log.error('install a browser');
 */
export class BrowserLaunchError extends CriticalError {}

/**
 * The base of plugins; use `PlaywrightPlugin` or `PuppeteerPlugin`, or write one for another library.
 *
 * @example
 * const pool = new BrowserPool({ browserPlugins: [new PlaywrightPlugin(playwright.chromium)] });
 */
export abstract class BrowserPlugin {
  name = this.constructor.name;
  library: CommonLibrary;
  launchOptions: Dictionary;
  proxyUrl: string | undefined;
  userDataDir: string | undefined;
  useIncognitoPages: boolean;
  experimentalContainers: boolean;
  browserPerProxy: boolean | undefined;
  ignoreProxyCertificate: boolean | undefined;

  constructor(library: CommonLibrary, options: BrowserPluginOptions = {}) {
    this.library = library;
    this.launchOptions = options.launchOptions ?? {};
    this.proxyUrl = options.proxyUrl === undefined ? undefined : new URL(options.proxyUrl).href.replace(/\/$/, '');
    this.userDataDir = options.userDataDir;
    this.useIncognitoPages = options.useIncognitoPages ?? false;
    this.experimentalContainers = options.experimentalContainers ?? false;
    this.browserPerProxy = options.browserPerProxy;
    this.ignoreProxyCertificate = options.ignoreProxyCertificate;
  }

  /** The plugin's own settings, changed by those of one launch. */
  createLaunchContext(options: CreateLaunchContextOptions = {}): LaunchContext {
    const { launchOptions, ...rest } = options;
    const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
    const { useIncognitoPages, experimentalContainers, userDataDir, browserPerProxy, ignoreProxyCertificate } = this;
    return new LaunchContext({
      useIncognitoPages,
      experimentalContainers,
      ...(userDataDir === undefined ? {} : { userDataDir }),
      ...(browserPerProxy === undefined ? {} : { browserPerProxy }),
      ...(ignoreProxyCertificate === undefined ? {} : { ignoreProxyCertificate }),
      ...(this.proxyUrl === undefined ? {} : { proxyUrl: this.proxyUrl }),
      ...given,
      browserPlugin: this,
      launchOptions: structuredCloneOf({ ...this.launchOptions, ...launchOptions }),
    });
  }

  createController(): BrowserController {
    return this._createController();
  }

  async launch(launchContext: LaunchContext = this.createLaunchContext()): Promise<CommonBrowser> {
    if (launchContext.proxyUrl) await this._addProxyToLaunchOptions(launchContext);
    return this._launch(launchContext);
  }

  protected _throwAugmentedLaunchError(cause: unknown, executablePath: string | undefined): never {
    const where = executablePath === undefined ? '' : ` (${executablePath})`;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new BrowserLaunchError(`Failed to launch browser${where}: ${reason}`, { cause });
  }

  protected abstract _addProxyToLaunchOptions(launchContext: LaunchContext): Promise<void>;
  protected abstract _isChromiumBasedBrowser(launchContext: LaunchContext): boolean;
  protected abstract _launch(launchContext: LaunchContext): Promise<CommonBrowser>;
  protected abstract _createController(): BrowserController;
}

/** One level deep: what hooks change must not change the plugin; loggers and functions stay what they are. */
function structuredCloneOf(options: Dictionary): Dictionary {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [name, Array.isArray(value) ? [...(value as unknown[])] : value]),
  );
}
