// `orcrawl scrape`: one page to standard output.
// Promise: the page and nothing else on standard output; a failure is one line on standard error and exit code 2.
import { type Command, Option } from 'commander';
import { CrawlError } from '../../errors.js';
import type { CrawlResult } from '../../index.js';
import { forgetLogin } from '../../request/login.js';
import type { CacheMode } from '../../store/cache/cache.js';
import { seedUrl, headers, wholeNumber } from '../arguments.js';
import { CACHE_OPTION, seconds } from './batch.js';
import {
  addBrowserFlags,
  addFileFlags,
  type BrowserFlags,
  crawlerOptionsOf,
  pageConfigOf,
  writeFiles,
} from '../browser-flags.js';
import { type FormatOf, formatHelp, formatsOf, isPageFormat, pageText } from '../../store/formats.js';
import { DEFAULT_FIELDS, itemOf, partsOf } from '../batch/items.js';
import { itemFor } from '../batch/urls.js';
import { EXIT } from '../exit-codes.js';
import { addExtractFlags, type ExtractFlags, extractOf } from '../extract-flags.js';
import { complain, plain, say, shown } from '../terminal.js';

interface ScrapeFlags extends BrowserFlags, ExtractFlags {
  readonly format: FormatOf<'scrape'>;
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
  $ orcrawl scrape example.com --schema '{"engine":"css","fields":{"title":{"selector":"h1"}}}'
  $ orcrawl scrape example.com --prompt 'the price' --llm-url http://127.0.0.1:11434/v1 --llm-model llama3.2
  $ orcrawl scrape example.com --wait-for css:main --screenshot page.png
`;

export function addScrapeCommand(program: Command, onExit: (code: number) => void): void {
  const command = program
    .command('scrape')
    .summary('fetch one page')
    .description('Fetches one page and writes its content to standard output.')
    .argument('<URL>', 'a bare domain gets https://')
    .addOption(
      new Option('-f, --format <F>', `what to write; ${formatHelp('scrape')}`)
        .choices(formatsOf('scrape'))
        .default('markdown'),
    )
    .option('--selector <CSS>', 'only what matches counts as the page; html is then its cleaned HTML')
    .option('--retries <N>', 'further tries after a transient failure (default: 1)', wholeNumber(0))
    .option('--timeout <SECS>', 'longest one attempt may take (default: 60)', seconds)
    .option('--user-agent <UA>', 'the User-Agent header')
    .option('-H, --header <NAME: VALUE>', 'send a header (may be repeated)', headers)
    .addOption(CACHE_OPTION)
    .option('--cache-ttl <SECS>', 'how long a cached page is used (default: for ever)', seconds)
    .option('--validate', 'follow HTTP’s caching rules, and ask whether a stale page is still good')
    .option('--respect-robots', 'ask for nothing that robots.txt forbids');
  addFileFlags(addBrowserFlags(addExtractFlags(command)))
    .addHelpText('after', EXAMPLES)
    .action(async (url: string, flags: ScrapeFlags) => onExit(await scrape(url, flags)));
}

async function scrape(text: string, flags: ScrapeFlags): Promise<number> {
  const pageConfig = pageConfigOf(flags);
  const extraction = extractOf(flags);
  const typed = seedUrl(text);
  await checkSelector(flags.selector);
  const { WebCrawler } = await import('../../index.js');
  const crawlerOptions = crawlerOptionsOf(flags);
  const item = itemFor(typed, crawlerOptions.engine !== undefined);
  const { url, config: login } = typeof item === 'string' ? { url: item } : item;
  const crawler = await WebCrawler.open(crawlerOptions);
  const sayOf = (page: string) => say(forgetLogin(page, typed));
  try {
    const result = await crawler.run(url, {
      cssSelector: flags.selector,
      maxRetries: flags.retries,
      pageTimeoutMs: flags.timeout === undefined ? undefined : flags.timeout * 1000,
      userAgent: flags.userAgent,
      headers: { ...login?.headers, ...flags.header },
      cacheMode: flags.cache,
      cacheTtlSecs: flags.cacheTtl,
      validate: flags.validate,
      respectRobots: flags.respectRobots,
      ...pageConfig,
      ...extraction,
    });
    await writeFiles(result, flags);
    if (flags.format === 'json') sayOf(JSON.stringify(itemOf(result, DEFAULT_FIELDS), null, 2));
    if (!result.success) {
      complain(`error: ${shown(plain(result.errorMessage ?? ''), 1000)} (${result.errorCode})`);
      return EXIT.someFailed;
    }
    const nothing = whyNothing(result, flags);
    if (nothing !== undefined) {
      complain(`error: ${nothing}`);
      return EXIT.someFailed;
    }
    if (extraction.extract) {
      const { extracted } = result;
      say(typeof extracted === 'string' ? plain(extracted) : JSON.stringify(extracted, null, 2));
      return EXIT.done;
    }
    if (isPageFormat(flags.format)) {
      const text =
        flags.format === 'html' && flags.selector !== undefined
          ? result.cleanedHtml
          : pageText(flags.format, partsOf(result));
      if (text !== '') sayOf(text);
    }
    return EXIT.done;
  } finally {
    await crawler.close();
  }
}

/** A selector that cannot be read is refused before anything is asked for. */
async function checkSelector(selector: string | undefined): Promise<void> {
  if (selector === undefined) return;
  const { load } = await import('cheerio');
  try {
    load('')(selector);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CrawlError('OPTION_INVALID', `--selector "${selector}" is no CSS selector: ${why}`);
  }
}

/** Why a page that came has nothing to write in the format asked for. */
function whyNothing(result: CrawlResult, { format, selector, screenshot, pdf }: ScrapeFlags): string | undefined {
  // A picture of the page is what was asked for, and there.
  if (format === 'json' || screenshot !== undefined || pdf !== undefined) return undefined;
  if (result.html === '' && result.bytes > 0) {
    const type = String(result.headers['content-type'] ?? 'this content')
      .split(';')[0]!
      .trim();
    return `${shown(type)} has no text: ${shown(result.url)}`;
  }
  if (selector !== undefined && result.metadata !== null && result.cleanedHtml === '' && result.text === '') {
    return `nothing in ${shown(result.url)} matches --selector ${shown(selector)}`;
  }
  return undefined;
}
