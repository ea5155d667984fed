// Starts a browser, or connects to a running one, and ends it: the only place where Playwright is loaded.
// Promise: after close() neither its processes nor its temporary folders are left, even if it hangs or was killed.
import { mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { isAlive } from '../../base/alive.js';
import { CrawlError } from '../../errors.js';
import { endsWithin } from './deadline.js';
import { disabledFeatures } from './disabled-features.js';
import { assertNotEnding, watchExit } from './exit-watch.js';
import { findBrowser, thisMachine } from './find-browser.js';
import { connectError, launchError, profileError } from './launch-errors.js';
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  BrowserType,
  LaunchOptions,
  Playwright,
} from './playwright-types.js';

/** How browsers are started; resolved and frozen by the crawl. */
export interface LaunchPlan {
  readonly headless: boolean;
  readonly executablePath?: string;
  /** A branded browser that Playwright locates: `chrome`, `msedge`, … */
  readonly channel?: string;
  readonly args?: readonly string[];
  /** A profile on disk that outlives the browser. */
  readonly userDataDir?: string;
  /** A running browser to connect to. */
  readonly cdpUrl?: string;
  /** Whether Chromium's own sandbox is on. It cannot be for root. */
  readonly sandbox: boolean;
  /** Playwright's own options, under ours. */
  readonly launchOptions?: LaunchOptions;
  /** The user's own Playwright, in place of the one beside orcrawl. */
  readonly launcher?: BrowserType;
  /** For every context. */
  readonly contextOptions?: BrowserContextOptions;
  /** Signals end the browser by themselves: for one that is the user's own. Default false. */
  readonly endsBySignals?: boolean;
}

export interface RunningBrowser {
  /** A context of its own; with a profile always the profile's. */
  newContext(options: BrowserContextOptions): Promise<BrowserContext>;
  /** Playwright's own; some versions have none for a profile. */
  readonly browser: Browser | undefined;
  /** The profile's context, when there is a profile. */
  readonly profile: BrowserContext | undefined;
  readonly pid: number | undefined;
  readonly version: string;
  readonly isGone: boolean;
  /** Called once when the browser has ended, for any reason. */
  onGone(listener: () => void): void;
  close(): Promise<void>;
}

const LAUNCH_TIMEOUT_MS = 30_000;
/** A browser that has not exited within this time is killed. */
const CLOSE_TIMEOUT_MS = 5_000;

/** Chromium makes a socket in it, 44 characters further down, and the name of one ends at 107: it would not start. */
const MAX_SCRATCH_LENGTH = 60;

/** What no page of a crawl needs, and what would leave the machine on its own. */
const OUR_ARGS = [
  '--disable-background-networking',
  '--no-pings',
  '--disable-domain-reliability',
  '--disable-component-update',
  // WebRTC knows no proxy for UDP: without this it would be a way around the guard.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
];

/** Loading it takes about 300 CPU-ms, so it is loaded when a browser starts. */
export function loadPlaywright(): Playwright {
  try {
    return createRequire(import.meta.url)('playwright-core') as Playwright;
  } catch (cause) {
    throw new CrawlError(
      'BROWSER_MISSING',
      'the package playwright-core is not installed: run "npm install playwright-core"',
      { cause },
    );
  }
}

/** The program that a plan starts; undefined when Playwright finds it by channel, or when none is started. */
export function programOf(plan: LaunchPlan): string | undefined {
  if (plan.cdpUrl !== undefined || plan.channel !== undefined) return undefined;
  const chromium = plan.launcher ?? loadPlaywright().chromium;
  const { headless, userDataDir, executablePath = plan.launchOptions?.executablePath } = plan;
  return findBrowser(
    { headless, executablePath, hasProfile: userDataDir !== undefined },
    { ...thisMachine, installed: () => installedBy(chromium) },
  );
}

/** @param proxyServer where all connections of the browser go; undefined: directly */
export async function launchBrowser(plan: LaunchPlan, proxyServer: string | undefined): Promise<RunningBrowser> {
  const chromium = plan.launcher ?? loadPlaywright().chromium;
  if (plan.cdpUrl !== undefined) return connectTo(chromium, plan.cdpUrl);
  assertNotEnding();
  const executablePath = programOf(plan);
  if (plan.userDataDir !== undefined) assertFree(plan.userDataDir);
  // Chromium's own temporary files: Playwright removes its folders, a killed Chromium leaves these behind.
  const scratch = mkdtempSync(path.join(tmpdir(), 'orcrawl-browser-'));
  const { launchOptions } = plan;
  // Of the user's own Playwright, or with arguments of the user's own, it is not known what they turn off.
  const isPlain = plan.launcher === undefined && !launchOptions?.ignoreDefaultArgs;
  const features = isPlain ? disabledFeatures() : [];
  const options: LaunchOptions = {
    timeout: LAUNCH_TIMEOUT_MS,
    ...launchOptions,
    headless: plan.headless,
    executablePath,
    channel: plan.channel,
    args: [...OUR_ARGS, ...features, ...(launchOptions?.args ?? []), ...(plan.args ?? [])],
    chromiumSandbox: plan.sandbox,
    env: {
      ...process.env,
      ...launchOptions?.env,
      ...(scratch.length <= MAX_SCRATCH_LENGTH && { TMPDIR: scratch }),
    } as Record<string, string>,
    proxy: proxyServer === undefined ? launchOptions?.proxy : { server: proxyServer },
    // Signals are the crawl's: it settles what is under way, then closes us.
    handleSIGINT: plan.endsBySignals ?? false,
    handleSIGTERM: plan.endsBySignals ?? false,
    handleSIGHUP: plan.endsBySignals ?? false,
  };
  const removeScratch = () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  const start = async (): Promise<RunningBrowser> => {
    try {
      if (plan.userDataDir === undefined) return await manage(await chromium.launch(options), undefined, removeScratch);
      const profile = await chromium.launchPersistentContext(plan.userDataDir, { ...plan.contextOptions, ...options });
      return await manage(profile.browser() ?? undefined, profile, removeScratch);
    } catch (thrown) {
      removeScratch();
      throw launchError(thrown as Error, plan);
    }
  };
  const started = start();
  const close = () =>
    started.then(
      (running) => running.close(),
      () => undefined,
    );
  const stopWatch = watchExit({ close, leave: removeScratch });
  try {
    return await started;
  } finally {
    stopWatch();
  }
}

async function connectTo(chromium: BrowserType, cdpUrl: string): Promise<RunningBrowser> {
  try {
    const browser = await chromium.connectOverCDP(cdpUrl, { timeout: LAUNCH_TIMEOUT_MS });
    return await manage(browser, undefined, () => undefined, true);
  } catch (cause) {
    throw connectError(cdpUrl, cause as Error);
  }
}

async function manage(
  browser: Browser | undefined,
  profile: BrowserContext | undefined,
  cleanUp: () => void,
  isForeign = false,
): Promise<RunningBrowser> {
  let isGone = false;
  const listeners: (() => void)[] = [];
  const gone = new Promise<void>((resolve) => {
    const onGone = () => {
      if (isGone) return;
      isGone = true;
      resolve();
      for (const listener of listeners) listener();
    };
    browser?.on('disconnected', onGone);
    profile?.on('close', onGone);
  });
  const pid = browser && !isForeign ? await pidOf(browser) : undefined;
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= end());
  const stopWatch = isForeign ? () => undefined : watchExit({ close, leave: cleanUp });

  async function end(): Promise<void> {
    const closed = (profile ?? browser!).close();
    const isGraceful = await endsWithin(CLOSE_TIMEOUT_MS, closed);
    if (!isGraceful && pid !== undefined) {
      killGroup(pid);
      await endsWithin(CLOSE_TIMEOUT_MS, Promise.all([gone, closed]));
    }
    try {
      cleanUp();
    } finally {
      stopWatch();
    }
  }

  return {
    browser,
    newContext: (options) => (profile ? Promise.resolve(profile) : browser!.newContext(options)),
    profile,
    pid,
    version: browser?.version() ?? '',
    get isGone() {
      return isGone;
    },
    onGone(listener) {
      if (isGone) listener();
      else listeners.push(listener);
    },
    close,
  };
}

/** For browsers without a relay: Playwright wants the credentials apart. */
export function proxyOf(proxyUrl: string): { server: string; username?: string; password?: string } {
  const { protocol, host, username, password } = new URL(proxyUrl);
  const credentials =
    username === '' ? {} : { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  // Chromium leaves names to a SOCKS 5 proxy anyway, and knows it by one scheme only.
  return { server: `${protocol === 'socks5h:' ? 'socks5:' : protocol}//${host}`, ...credentials };
}

/** Playwright hides the process; the browser reports its id. */
async function pidOf(browser: Browser): Promise<number | undefined> {
  try {
    const session = await browser.newBrowserCDPSession();
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    await session.detach();
    return processInfo.find(({ type }) => type === 'browser')?.id;
  } catch {
    return undefined;
  }
}

/** Playwright starts browsers as leaders of a process group of their own. */
function killGroup(pid: number): void {
  for (const target of process.platform === 'win32' ? [pid] : [-pid, pid]) {
    try {
      process.kill(target, 'SIGKILL');
    } catch {
      // Gone already.
    }
  }
}

function installedBy(chromium: BrowserType): string | undefined {
  try {
    return chromium.executablePath() || undefined;
  } catch {
    return undefined;
  }
}

/** A profile in use would make Chromium hand over to the other instance and Playwright wait for its time limit. */
function assertFree(userDataDir: string): void {
  let holder: string;
  try {
    holder = readlinkSync(path.join(userDataDir, 'SingletonLock'));
  } catch {
    return;
  }
  const dash = holder.lastIndexOf('-');
  const pid = Number(holder.slice(dash + 1));
  if (holder.slice(0, dash) !== hostname() || !isAlive(pid)) return;
  throw profileError(userDataDir, `process ${pid}`);
}
