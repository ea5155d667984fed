// The flags of commands that can use a browser, and what they mean for a WebCrawler.
// Promise: a flag that needs a browser turns it on; pictures and documents go to the files that were named.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { type Command, Option } from 'commander';
import type { CrawlResult, RunConfig, WebCrawlerOptions } from '../index.js';
import { UsageError } from './exit-codes.js';

export interface BrowserFlags {
  readonly allowPrivate?: boolean;
  readonly refusePrivate?: boolean;
  readonly browser?: boolean;
  readonly auto?: boolean;
  readonly headed?: boolean;
  readonly userDataDir?: string;
  readonly session?: string;
  readonly waitFor?: string;
  readonly js?: string;
  readonly screenshot?: string;
  readonly pdf?: string;
}

/** Flags of every command that loads pages in a browser. */
export function addBrowserFlags(command: Command): Command {
  return command
    .option('--browser', 'load pages in a browser (Chromium, Chrome or Edge)')
    .option('--auto', 'load in a browser only what shows nothing without scripts')
    .option('--headed', 'show the browser')
    .option('--user-data-dir <DIR>', 'a browser profile that keeps log-ins: a folder, or a name of "profile create"')
    .option('--session <NAME>', 'load all pages in one live page, one after another')
    .addOption(new Option('--wait-for <WHAT>', 'css:SELECTOR or js:EXPRESSION that must be there'))
    .option('--js <CODE>', 'run this in the page before it is read')
    .option('--allow-private', 'also follow redirects to private and loopback addresses')
    .option('--refuse-private', 'refuse private and loopback addresses also for the given URLs');
}

/** Those that write a file: for commands that load one page. */
export function addFileFlags(command: Command): Command {
  return command
    .option('--screenshot <FILE>', 'a picture of the whole page, as PNG')
    .option('--pdf <FILE>', 'the page as PDF');
}

function wantsBrowser({ browser, auto: _auto, allowPrivate: _private, ...rest }: BrowserFlags): boolean {
  const { headed, userDataDir, session, waitFor, js, screenshot, pdf } = rest;
  return [browser, headed, userDataDir, session, waitFor, js, screenshot, pdf].some((one) => one !== undefined);
}

export function crawlerOptionsOf(flags: BrowserFlags): WebCrawlerOptions {
  const addresses = {
    ...(flags.allowPrivate ? { allowPrivateAddresses: true } : {}),
    ...(flags.refusePrivate ? { allowPrivateSeeds: false } : {}),
  };
  if (!wantsBrowser(flags) && !flags.auto) return addresses;
  return {
    ...addresses,
    engine: flags.auto && !flags.browser ? 'auto' : 'browser',
    browser: {
      ...(flags.headed && { headless: false }),
      ...(flags.userDataDir !== undefined && { userDataDir: profileFolder(flags.userDataDir) }),
    },
  };
}

export function pageConfigOf(flags: BrowserFlags): RunConfig {
  if (flags.waitFor !== undefined && !/^(?:css|js):/.test(flags.waitFor)) {
    throw new UsageError('--wait-for needs css:SELECTOR or js:EXPRESSION');
  }
  return {
    ...(flags.session !== undefined && { sessionId: flags.session }),
    ...(flags.waitFor !== undefined && { waitFor: flags.waitFor }),
    ...(flags.js !== undefined && { jsCode: flags.js }),
    ...(flags.screenshot !== undefined && { screenshot: true }),
    ...(flags.pdf !== undefined && { pdf: true }),
  };
}

export async function writeFiles(result: CrawlResult, flags: BrowserFlags): Promise<void> {
  if (flags.screenshot !== undefined && result.screenshot) await writeFile(flags.screenshot, result.screenshot);
  if (flags.pdf !== undefined && result.pdf) await writeFile(flags.pdf, result.pdf);
}

/** Where profiles with a name live. */
export function profilesFolder(): string {
  return path.join(process.env.XDG_DATA_HOME ?? path.join(homedir(), '.local', 'share'), 'orcrawl', 'profiles');
}

/** A name of a profile that exists means that one; anything else is a folder. */
export function profileFolder(given: string): string {
  const named = path.join(profilesFolder(), given);
  return /^[\w.-]+$/.test(given) && existsSync(named) ? named : path.resolve(given);
}
