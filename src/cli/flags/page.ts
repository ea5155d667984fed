// What the shared flags of `crawl`, `batch` and `scrape` set in the library: options of crawlers, and of single runs.
// Promise: flags that contradict each other, and files that cannot be used, are refused before anything is fetched.
import { readFileSync } from 'node:fs';
import type { CrawlError } from '../../errors.js';
import type { Cookie, PageActions, PageStep, RunConfig, WebCrawlerOptions } from '../../index.js';
import { parseCookieFile } from '../../session/cookie-file.js';
import type { CacheMode } from '../../store/cache/cache.js';
import { UsageError } from '../exit-codes.js';
import { profileFolder } from './profiles.js';
import { type ContentFlags, contentOf } from './content.js';
import { type ExtractFlags, extractOf } from './extract.js';
import type { ProxyFlags } from './proxies.js';
import type { WAIT_EVENTS } from './table.js';

/** Flags that all three commands have. */
export interface PageFlags extends ContentFlags, ExtractFlags, ProxyFlags {
  readonly selector?: string;
  readonly header?: Readonly<Record<string, string>>;
  readonly userAgent?: string;
  readonly cookies?: string;
  readonly insecure?: boolean;
  readonly timeout?: number;
  readonly retries?: number;
  readonly browser?: boolean;
  readonly auto?: boolean;
  readonly headed?: boolean;
  readonly userDataDir?: string;
  readonly waitUntil?: (typeof WAIT_EVENTS)[number];
  /** Both are the same list: what --js and --wait-for ask for, in order. */
  readonly waitFor?: readonly PageStep[];
  readonly js?: readonly PageStep[];
  readonly screenshot?: string;
  readonly allowPrivate?: boolean;
  readonly refusePrivate?: boolean;
}

/** Flags of `batch` and `scrape`, which use a WebCrawler. */
export interface RunFlags extends PageFlags {
  readonly acceptMarkdown?: boolean;
  readonly session?: string;
  readonly pdf?: string;
  readonly cache?: CacheMode;
  readonly cacheTtl?: number;
  readonly validate?: boolean;
  readonly respectRobots?: boolean;
}

/** What fetches: HTTP alone, a browser, or a browser where it is needed. */
export function engineOf(flags: PageFlags & Pick<RunFlags, 'session' | 'pdf'>): 'http' | 'browser' | 'auto' {
  const { browser, auto, headed, userDataDir, session, waitUntil, screenshot, pdf } = flags;
  const wanted = [browser, headed, userDataDir, session, waitUntil, stepsOf(flags), screenshot, pdf];
  if (auto && !browser) return 'auto';
  return wanted.some((one) => one !== undefined) ? 'browser' : 'http';
}

function stepsOf({ js, waitFor }: PageFlags): readonly PageStep[] | undefined {
  return js ?? waitFor;
}

/** What is done in each page before it is read. */
export function actionsOf(flags: PageFlags): PageActions {
  const steps = stepsOf(flags);
  return {
    ...(flags.waitUntil !== undefined && { waitUntil: flags.waitUntil }),
    ...(steps !== undefined && { steps }),
  };
}

export function webCrawlerOptionsOf(flags: RunFlags): WebCrawlerOptions {
  const engine = engineOf(flags);
  const cookies = flags.cookies === undefined ? undefined : readCookies(flags.cookies);
  if (cookies && flags.userDataDir !== undefined) {
    throw new UsageError('--cookies and --user-data-dir cannot be combined: the profile has its own cookies');
  }
  return {
    ...(flags.allowPrivate && { allowPrivateAddresses: true }),
    ...(flags.refusePrivate && { allowPrivateSeeds: false }),
    ...(cookies && { cookies }),
    ...(engine !== 'http' && {
      engine,
      browser: {
        ...(flags.headed && { headless: false }),
        ...(flags.insecure && { ignoreHttpsErrors: true }),
        ...(flags.userDataDir !== undefined && { userDataDir: profileFolder(flags.userDataDir) }),
      },
    }),
  };
}

export function runConfigOf(flags: RunFlags): RunConfig {
  if (flags.cache === undefined && (flags.cacheTtl !== undefined || flags.validate)) {
    const name = flags.cacheTtl === undefined ? '--validate' : '--cache-ttl';
    throw new UsageError(`${name} has no effect without --cache: add --cache enabled`);
  }
  const config: RunConfig = {
    cssSelector: flags.selector,
    acceptMarkdown: flags.acceptMarkdown,
    maxRetries: flags.retries,
    pageTimeoutMs: flags.timeout === undefined ? undefined : flags.timeout * 1000,
    userAgent: flags.userAgent,
    ignoreSslErrors: flags.insecure,
    cacheMode: flags.cache,
    cacheTtlSecs: flags.cacheTtl,
    validate: flags.validate,
    respectRobots: flags.respectRobots,
    ...actionsOf(flags),
    ...(flags.session !== undefined && { sessionId: flags.session }),
    ...(flags.screenshot !== undefined && { screenshot: true }),
    ...(flags.pdf !== undefined && { pdf: true }),
    ...contentOf(flags),
    ...extractOf(flags),
  };
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
}

/** The cookies of --cookies. */
export function readCookies(file: string): Cookie[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      code === 'ENOENT' ? `--cookies: file not found: "${file}"` : `--cookies: cannot read "${file}" (${code})`,
    );
  }
  try {
    return parseCookieFile(text);
  } catch (error) {
    throw new UsageError(`--cookies ${file}: ${(error as CrawlError).message.replace(/^cookies: /, '')}`);
  }
}
