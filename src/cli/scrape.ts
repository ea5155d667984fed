// `orcrawl scrape`: one page to standard output.
// Promise: the page and nothing else on standard output; a failure is one line on standard error and exit code 2.
import { type Command, Option } from 'commander';
import type { CacheMode } from '../store/cache.js';
import { seedUrl, headers, wholeNumber } from './arguments.js';
import { CACHE_OPTION, seconds } from './batch.js';
import {
  addBrowserFlags,
  addFileFlags,
  type BrowserFlags,
  crawlerOptionsOf,
  pageConfigOf,
  writeFiles,
} from './browser-flags.js';
import { DEFAULT_FIELDS, fitMarkdown, itemOf } from './batch-items.js';
import { EXIT } from './exit-codes.js';
import { complain, say, shown } from './terminal.js';

const FORMATS = ['markdown', 'fit', 'text', 'html', 'json', 'links'] as const;

interface ScrapeFlags extends BrowserFlags {
  readonly format: (typeof FORMATS)[number];
  readonly selector?: string;
  readonly retries?: number;
  readonly timeout?: number;
  readonly userAgent?: string;
  readonly header?: Readonly<Record<string, string>>;
  readonly cache?: CacheMode;
  readonly cacheTtl?: number;
  readonly validate?: boolean;
  readonly respectRobots?: boolean;
}

const EXAMPLES = `
Examples:
  $ orcrawl scrape example.com --format fit
  $ orcrawl scrape https://example.com/ --format json | jq .metadata
  $ orcrawl scrape example.com --selector main --format html
  $ orcrawl scrape example.com --wait-for css:main --screenshot page.png
`;

export function addScrapeCommand(program: Command, onExit: (code: number) => void): void {
  const command = program
    .command('scrape')
    .summary('fetch one page')
    .description('Fetches one page and writes its content to standard output.')
    .argument('<URL>', 'a bare domain gets https://')
    .addOption(
      new Option('-f, --format <F>', 'what to write; markdown is the whole page, fit its main content')
        .choices(FORMATS)
        .default('markdown'),
    )
    .option('--selector <CSS>', 'only what matches counts as the page')
    .option('--retries <N>', 'further tries after a transient failure (default: 1)', wholeNumber(0))
    .option('--timeout <SECS>', 'longest one attempt may take (default: 60)', seconds)
    .option('--user-agent <UA>', 'the User-Agent header')
    .option('-H, --header <NAME: VALUE>', 'send a header (may be repeated)', headers)
    .addOption(CACHE_OPTION)
    .option('--cache-ttl <SECS>', 'how long a cached page is used (default: for ever)', seconds)
    .option('--validate', 'follow HTTP’s caching rules, and ask whether a stale page is still good')
    .option('--respect-robots', 'ask for nothing that robots.txt forbids');
  addFileFlags(addBrowserFlags(command))
    .addHelpText('after', EXAMPLES)
    .action(async (url: string, flags: ScrapeFlags) => onExit(await scrape(url, flags)));
}

async function scrape(text: string, flags: ScrapeFlags): Promise<number> {
  const pageConfig = pageConfigOf(flags);
  const url = seedUrl(text);
  const { WebCrawler } = await import('../index.js');
  const crawler = await WebCrawler.open(crawlerOptionsOf(flags));
  try {
    const result = await crawler.run(url, {
      cssSelector: flags.selector,
      maxRetries: flags.retries,
      pageTimeoutMs: flags.timeout === undefined ? undefined : flags.timeout * 1000,
      userAgent: flags.userAgent,
      headers: flags.header,
      cacheMode: flags.cache,
      cacheTtlSecs: flags.cacheTtl,
      validate: flags.validate,
      respectRobots: flags.respectRobots,
      ...pageConfig,
    });
    await writeFiles(result, flags);
    if (flags.format === 'json') say(JSON.stringify(itemOf(result, DEFAULT_FIELDS), null, 2));
    if (!result.success) {
      complain(`error: ${shown(result.errorMessage ?? '', 1000)} (${result.errorCode})`);
      return EXIT.someFailed;
    }
    if (flags.format === 'markdown') say(result.markdown.raw.trim());
    if (flags.format === 'fit') say(fitMarkdown(result));
    if (flags.format === 'text') say(result.text.trim());
    if (flags.format === 'html') say(result.html);
    if (flags.format === 'links') {
      for (const link of [...result.links.internal, ...result.links.external]) say(link.url);
    }
    return EXIT.done;
  } finally {
    await crawler.close();
  }
}
