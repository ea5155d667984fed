// Which browser to start: the one given, one installed by Playwright, or one of the system.
// Promise: a missing browser is an error that says what to install on this system.
import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';
import { CrawlError } from '../../errors.js';

export interface BrowserWish {
  readonly executablePath?: string;
  /** Without a window. A headless shell, which costs half as much a page, is taken then if there is one. */
  readonly headless: boolean;
  /** A profile that a person uses too: then never a headless shell, which reads profiles differently. */
  readonly hasProfile: boolean;
}

/** What finding looks at; tests give their own. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isExecutable: (file: string) => boolean;
  /** Where Playwright would have installed its own, if it says so. */
  readonly installed?: () => string | undefined;
}

const SHELLS = ['chromium-headless-shell', 'chrome-headless-shell', 'headless-shell'];
const COMMANDS = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'microsoft-edge-stable',
  'microsoft-edge',
  'brave-browser',
];
const MAC_APPS = ['Google Chrome', 'Chromium', 'Microsoft Edge', 'Brave Browser'];
const WINDOWS_PROGRAMS = [
  String.raw`Google\Chrome\Application\chrome.exe`,
  String.raw`Chromium\Application\chrome.exe`,
  String.raw`Microsoft\Edge\Application\msedge.exe`,
];

export const thisMachine: Machine = {
  platform: process.platform,
  env: process.env,
  isExecutable(file) {
    try {
      accessSync(file, constants.X_OK);
      return existsSync(file);
    } catch {
      return false;
    }
  },
};

/**
 * The program to start.
 *
 * @example
 * findBrowser({ headless: true, hasProfile: false }); // '/usr/bin/chromium'
 */
export function findBrowser(wish: BrowserWish, machine: Machine = thisMachine): string {
  const { executablePath } = wish;
  if (executablePath !== undefined) {
    if (machine.isExecutable(executablePath)) return executablePath;
    throw new CrawlError('BROWSER_MISSING', `executablePath: ${executablePath} is not an executable file`);
  }
  for (const file of candidates(wish, machine)) if (machine.isExecutable(file)) return file;
  throw new CrawlError('BROWSER_MISSING', `no Chromium, Chrome or Edge found: ${advice(machine.platform)}`);
}

function* candidates({ headless, hasProfile }: BrowserWish, machine: Machine): Generator<string> {
  if (headless && !hasProfile) yield* onPath(SHELLS, machine);
  const installed = machine.installed?.();
  if (installed !== undefined) yield installed;
  if (machine.platform === 'darwin') {
    for (const folder of ['/Applications', path.posix.join(machine.env.HOME ?? '/', 'Applications')]) {
      for (const app of MAC_APPS) yield `${folder}/${app}.app/Contents/MacOS/${app}`;
    }
  } else if (machine.platform === 'win32') {
    for (const folder of [machine.env.PROGRAMFILES, machine.env['PROGRAMFILES(X86)'], machine.env.LOCALAPPDATA]) {
      if (folder) for (const program of WINDOWS_PROGRAMS) yield path.win32.join(folder, program);
    }
  } else {
    yield* onPath(COMMANDS, machine);
    yield '/snap/bin/chromium';
  }
}

function* onPath(names: readonly string[], { env, platform }: Machine): Generator<string> {
  const folders = (env.PATH ?? '').split(platform === 'win32' ? ';' : ':').filter(Boolean);
  const join = platform === 'win32' ? path.win32.join : path.posix.join;
  for (const name of names) for (const folder of folders) yield join(folder, name);
}

function advice(platform: NodeJS.Platform): string {
  const install =
    platform === 'linux'
      ? '"apt-get install chromium" (Debian, Ubuntu) or your system\'s package'
      : platform === 'darwin'
        ? '"brew install --cask google-chrome"'
        : 'Google Chrome';
  return `install one with ${install}, or with "npx playwright-core install chromium", or give executablePath, channel or cdpUrl`;
}
