// `orcrawl profile create NAME`: opens a browser window to log in by hand; later runs use the profile without a window.
// Promise: the profile is on disk when the command ends, however it ends.
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { PRIVATE_FOLDER } from '../../base/private-files.js';
import { type Command, Option } from 'commander';
import { seedUrl } from '../arguments.js';
import { profilesFolder } from '../flags/profiles.js';
import { EXIT, UsageError } from '../exit-codes.js';
import { complain, programName, quoted, say } from '../terminal.js';

interface CreateFlags {
  readonly executablePath?: string;
  readonly headless?: boolean;
}

export function addProfileCommand(program: Command, onExit: (code: number) => void): void {
  const profile = program
    .command('profile')
    .summary('browser profiles that keep logins')
    .description('Manages browser profiles: log in by hand once, and crawl with that login.')
    .addHelpText(
      'after',
      '\nExamples:\n  $ orcrawl profile create shop https://shop.example/login\n  $ orcrawl scrape https://shop.example/orders --user-data-dir shop\n',
    );
  profile
    .command('create')
    .summary('log in by hand once')
    .description('Opens a browser with a new profile. Log in, then close the window.')
    .argument('<NAME>', 'letters, digits, dots, dashes')
    .argument('[URL]', 'the page to open')
    .option('--executable-path <FILE>', 'browser to use (default: the first found)')
    .addOption(new Option('--headless', 'without a window, for tests').hideHelp())
    .addHelpText(
      'after',
      '\nExamples:\n  $ orcrawl profile create shop https://shop.example/login\n' +
        '  $ orcrawl crawl https://shop.example/ --user-data-dir shop      later, without a window\n',
    )
    .action(async (name: string, url: string | undefined, flags: CreateFlags) =>
      onExit(await create(name, url, flags)),
    );
  profile
    .command('list')
    .summary('names and folders of all profiles')
    .description('Lists the names and folders of all profiles.')
    .addHelpText('after', '\nExample:\n  $ orcrawl profile list\n')
    .action(() => {
      for (const name of names()) say(`${name}\t${path.join(profilesFolder(), name)}`);
      if (names().length === 0)
        complain(`There are no profiles in ${profilesFolder()}. To make one: ${programName()} profile create NAME`);
      onExit(EXIT.done);
    });
}

async function create(name: string, url: string | undefined, flags: CreateFlags): Promise<number> {
  if (!/^[\w-][\w.-]*$/.test(name)) throw new UsageError('invalid profile name: use letters, digits, dots and dashes');
  const start = url === undefined ? undefined : seedUrl(url);
  const userDataDir = path.join(profilesFolder(), name);
  const isNew = !existsSync(userDataDir);
  mkdirSync(userDataDir, PRIVATE_FOLDER);
  const { launchBrowser } = await import('../../fetch/browser/launch.js');
  const { executablePath, headless = false } = flags;
  const sandbox = process.getuid?.() !== 0;
  const browser = await launchBrowser({ headless, executablePath, userDataDir, sandbox }, undefined).catch(
    (error: unknown) => {
      // A profile that never had a browser is none.
      if (isNew) rmSync(userDataDir, { recursive: true, force: true });
      throw error;
    },
  );
  const ended = new Promise<void>((resolve) => {
    browser.onGone(resolve);
    // A browser may keep running without windows; the user who closed the last one is done.
    browser.profile!.on('page', (page) => page.on('close', () => browser.profile!.pages().length === 0 && resolve()));
    for (const page of browser.profile!.pages()) {
      page.on('close', () => browser.profile!.pages().length === 0 && resolve());
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  complain(`Log in, then close the browser (or press Ctrl-C here). Profile: ${userDataDir}`);
  const page = browser.profile!.pages()[0] ?? (await browser.profile!.newPage());
  if (start !== undefined) await page.goto(start).catch((error: Error) => complain(`error: ${error.message}`));
  complain('ready');
  await ended;
  await browser.close();
  say(`${programName()} scrape … --user-data-dir ${quoted(name)}`);
  return EXIT.done;
}

function names(): string[] {
  try {
    return readdirSync(profilesFolder(), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort();
  } catch {
    return [];
  }
}
