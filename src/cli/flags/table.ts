// The flags that `crawl`, `batch` and `scrape` share: each is declared once, and every command picks those of its own.
// Promise: a flag has the same name, argument and meaning in every command that has it; help shows them in groups.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { PageStep } from '../../index.js';
import { CONTENT_CHOICES, CONTENT_PARTS } from '../../extract/content-options.js';
import { CACHE_MODES } from '../../store/cache/cache.js';
import { headers, seconds, wholeNumber } from '../arguments.js';

export type PageCommand = 'crawl' | 'batch' | 'scrape';

/** In the order of the help. */
export const GROUPS = {
  pages: 'Which pages:',
  order: 'Which pages first:',
  output: 'Output:',
  content: 'Content:',
  fetching: 'Fetching:',
  pace: 'Pace and politeness:',
  browser: 'Browser (a flag of this group turns it on):',
  addresses: 'Addresses and cache:',
  model: 'Data by a model:',
} as const;

interface Flag {
  readonly group: keyof typeof GROUPS;
  readonly of: readonly PageCommand[];
  readonly make: (command: PageCommand, steps: PageStep[]) => Option;
}

const ALL: readonly PageCommand[] = ['crawl', 'batch', 'scrape'];
const LISTED: readonly PageCommand[] = ['batch', 'scrape'];

export const WAIT_EVENTS = ['commit', 'domcontentloaded', 'load', 'networkidle'] as const;

const flag = (flags: string, text: string, read?: (text: string) => unknown) => () => {
  const option = new Option(flags, text);
  return read ? option.argParser(read) : option;
};

/** Both kinds of steps go into one list, in the order in which they were typed. */
const step = (flags: string, text: string, read: (text: string) => PageStep) => (_: PageCommand, steps: PageStep[]) =>
  new Option(flags, text).argParser((given) => {
    steps.push(read(given));
    return steps;
  });

const chosen = (flags: string, text: string, choices: readonly string[]) => () =>
  new Option(flags, `${text} (default: ${choices[0]})`).choices(choices);

const parts = (flags: string, text: string) =>
  flag(flags, `${text}: ${CONTENT_PARTS.join(', ')} (several with commas)`, (given) => {
    const named = given.split(',').map((name) => name.trim());
    const unknown = named.find((name) => !(CONTENT_PARTS as readonly string[]).includes(name));
    if (unknown === undefined) return named;
    throw new InvalidArgumentError(`"${unknown}" is not a part. Expected ${CONTENT_PARTS.join(', ')}.`);
  });

const FLAGS: readonly Flag[] = [
  { group: 'content', of: ALL, make: flag('--selector <CSS>', 'use only what matches of each page') },
  {
    group: 'content',
    of: ALL,
    make: flag('--schema <FILE>', 'fields by CSS, XPath or regular expressions as JSON (a file, or the JSON itself)'),
  },
  {
    group: 'content',
    of: LISTED,
    make: flag('--accept-markdown', 'ask for markdown where a site offers it (Accept: text/markdown)'),
  },
  {
    group: 'content',
    of: ALL,
    make: () =>
      new Option('--favor <ERRORS>', 'main content: which errors to avoid (default: balanced)').choices(
        CONTENT_CHOICES.favor,
      ),
  },
  { group: 'content', of: ALL, make: parts('--keep <PARTS>', 'keep these parts in main content') },
  { group: 'content', of: ALL, make: parts('--leave-out <PARTS>', 'leave these parts out of main content') },
  {
    group: 'content',
    of: ALL,
    make: chosen('--hidden <WHAT>', 'text that readers cannot see', CONTENT_CHOICES.hidden),
  },
  { group: 'content', of: ALL, make: chosen('--math <STYLE>', 'formulas in text and markdown', CONTENT_CHOICES.math) },
  {
    group: 'fetching',
    of: ALL,
    make: (command) =>
      new Option(
        '-H, --header <NAME: VALUE>',
        `send a header to ${command === 'scrape' ? 'the host' : 'the hosts'} of the given URLs (may be repeated)`,
      ).argParser(headers),
  },
  { group: 'fetching', of: ALL, make: flag('--user-agent <UA>', 'the User-Agent header') },
  { group: 'fetching', of: ALL, make: flag('--cookies <FILE>', 'cookies to begin with: cookies.txt or JSON') },
  {
    group: 'fetching',
    of: ALL,
    make: flag('--proxy <URL>', 'an HTTP or SOCKS proxy (default: HTTP_PROXY, HTTPS_PROXY and NO_PROXY)'),
  },
  { group: 'fetching', of: ALL, make: flag('--no-proxy', 'ignore the proxies of the environment') },
  { group: 'fetching', of: ALL, make: flag('--insecure', 'accept any TLS certificate') },
  {
    group: 'fetching',
    of: ALL,
    make: (command) =>
      new Option(
        '--timeout <SECS>',
        `time limit per attempt (default: ${command === 'crawl' ? '30; in a browser 60' : '60'})`,
      ).argParser(aboveZero),
  },
  {
    group: 'fetching',
    of: ALL,
    make: (command) =>
      new Option(
        '--retries <N>',
        `retries after a transient failure (default: ${command === 'crawl' ? 3 : 1})`,
      ).argParser(wholeNumber(0)),
  },
  { group: 'browser', of: ALL, make: flag('--browser', 'load pages in a browser (Chromium, Chrome or Edge)') },
  {
    group: 'browser',
    of: ALL,
    make: flag('--auto', 'use a browser only for pages that are empty without scripts'),
  },
  {
    group: 'browser',
    of: ALL,
    make: () => new Option('--wait-until <EVENT>', 'which event ends the loading').choices(WAIT_EVENTS),
  },
  {
    group: 'browser',
    of: ALL,
    make: step('--wait-for <WHAT>', 'then wait for css:SELECTOR or js:EXPRESSION (may be repeated)', (given) => {
      if (/^(?:css|js):\s*\S/.test(given)) return { waitFor: given };
      throw new InvalidArgumentError('Expected css:SELECTOR or js:EXPRESSION.');
    }),
  },
  {
    group: 'browser',
    of: ALL,
    make: step('--js <CODE>', 'then run this code in the page; --js and --wait-for run in the order given', (js) => ({
      js,
    })),
  },
  {
    group: 'browser',
    of: ALL,
    make: (command) =>
      command === 'scrape'
        ? new Option('--screenshot <FILE>', 'write a PNG of the whole page')
        : new Option('--screenshot <DIR>', 'write a PNG of each page, named by its path'),
  },
  {
    group: 'browser',
    of: LISTED,
    make: (command) =>
      command === 'scrape'
        ? new Option('--pdf <FILE>', 'write the page as PDF')
        : new Option('--pdf <DIR>', 'write each page as PDF, named by its path'),
  },
  { group: 'browser', of: ALL, make: flag('--headed', 'show the browser') },
  {
    group: 'browser',
    of: ALL,
    make: flag('--user-data-dir <DIR>', 'a profile that keeps logins: its folder, or its name from "profile create"'),
  },
  {
    group: 'browser',
    of: LISTED,
    make: flag('--session <NAME>', 'load all pages in one live page, one after another'),
  },
  {
    group: 'addresses',
    of: ALL,
    make: (command) =>
      new Option(
        '--allow-private',
        `also follow ${command === 'crawl' ? 'links' : 'redirects'} to private and loopback addresses`,
      ).conflicts('refusePrivate'),
  },
  {
    group: 'addresses',
    of: ALL,
    make: flag('--refuse-private', 'refuse private and loopback addresses even for the given URLs'),
  },
  {
    group: 'addresses',
    of: LISTED,
    make: () => new Option('--cache <MODE>', 'use of the page cache in the storage folder').choices(CACHE_MODES),
  },
  {
    group: 'addresses',
    of: LISTED,
    make: flag('--cache-ttl <SECS>', 'with --cache: how long a page is valid (default: forever)', seconds),
  },
  {
    group: 'addresses',
    of: LISTED,
    make: flag('--validate', 'with --cache: follow HTTP’s caching rules and revalidate stale pages'),
  },
  { group: 'addresses', of: LISTED, make: flag('--respect-robots', 'skip URLs that robots.txt forbids') },
  {
    group: 'model',
    of: ALL,
    make: flag('--prompt <TEXT>', 'what a model is to find; --schema may be a JSON Schema then'),
  },
  { group: 'model', of: ALL, make: flag('--llm-url <URL>', 'an OpenAI-compatible endpoint') },
  { group: 'model', of: ALL, make: flag('--llm-model <NAME>', 'the model to ask there') },
  { group: 'model', of: ALL, make: flag('--llm-key-env <NAME>', 'the environment variable with its key') },
];

/** Adds the shared flags of a command, after its own of the same group. */
export function addPageFlags(
  command: Command,
  name: PageCommand,
  own: Partial<Record<keyof typeof GROUPS, Option[]>>,
): Command {
  const steps: PageStep[] = [];
  for (const group of Object.keys(GROUPS) as (keyof typeof GROUPS)[]) {
    const shared = FLAGS.filter((one) => one.group === group && one.of.includes(name));
    for (const option of [...(own[group] ?? []), ...shared.map(({ make }) => make(name, steps))]) {
      command.addOption(option.helpGroup(GROUPS[group]));
    }
  }
  return command;
}

/** The names of the shared flags of a command, for tests and the documentation. */
export function sharedFlagNames(name: PageCommand): string[] {
  return FLAGS.filter(({ of }) => of.includes(name)).map(({ make }) => make(name, []).long!);
}

function aboveZero(text: string): number {
  const value = seconds(text);
  if (value > 0) return value;
  throw new InvalidArgumentError('Expected seconds above 0.');
}
