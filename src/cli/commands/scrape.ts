// `orcrawl scrape`: one page to standard output, or to a file.
// Promise: only the page on standard output; a failure, and a page with nothing to read, is one line on standard error
// and exit code 2.
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { type Command, Option } from 'commander';
import type { CrawlResult } from '../../index.js';
import { forgetLogin, withoutLogin } from '../../request/login.js';
import { adviceFor } from '../advice.js';
import { pageUrl } from '../arguments.js';
import {
  extensionOfFormat,
  type FormatOf,
  formatHelp,
  formatsOf,
  isPageFormat,
  pageText,
} from '../../store/formats.js';
import { DEFAULT_FIELDS, itemOf, lackOfResult, partsOf } from '../batch/items.js';
import { itemFor } from '../batch/urls.js';
import { EXIT } from '../exit-codes.js';
import { type RunFlags, runConfigOf, webCrawlerOptionsOf } from '../flags/page.js';
import { proxiesOf } from '../flags/proxies.js';
import { checkSelectors } from '../flags/selectors.js';
import { addPageFlags } from '../flags/table.js';
import { writeArtifact } from '../pages/artifacts.js';
import { createPageNames } from '../pages/names.js';
import { complain, plain, print, shown } from '../terminal.js';

interface ScrapeFlags extends RunFlags {
  readonly format: FormatOf<'scrape'>;
  readonly out?: string;
}

const EXAMPLES = `
Examples:
  $ orcrawl scrape example.com --format fit
  $ orcrawl scrape https://example.com/ --format json | jq .metadata
  $ orcrawl scrape example.com --selector main --format html --out main.html
  $ orcrawl scrape example.com --schema '{"fields":{"title":{"selector":"h1"}}}'
  $ orcrawl scrape example.com --prompt 'the price' --llm-url http://127.0.0.1:11434/v1 --llm-model llama3.2
  $ orcrawl scrape example.com --wait-for css:main --screenshot page.png
  $ orcrawl scrape example.com --wait-for css:#more --js 'document.querySelector("#more").click()' --wait-for css:.item
`;

export function addScrapeCommand(program: Command, onExit: (code: number) => void): void {
  const command = program
    .command('scrape')
    .summary('fetch one page')
    .description('Fetches one page and writes its content to standard output.')
    .argument('<URL>', 'a bare domain gets https://');
  addPageFlags(command, 'scrape', {
    output: [
      new Option('-f, --format <F>', `output format; ${formatHelp('scrape')}`)
        .choices(formatsOf('scrape'))
        .default('markdown'),
      new Option(
        '-o, --out <FILE|DIR>',
        'where to write it: a file, or DIR/ for a file named after the path of the page',
      ),
    ],
  })
    .addHelpText('after', EXAMPLES)
    .action(async (url: string, flags: ScrapeFlags) => onExit(await scrape(url, flags)));
}

async function scrape(text: string, flags: ScrapeFlags): Promise<number> {
  const config = runConfigOf(flags);
  const typed = pageUrl(text);
  await checkSelectors(flags);
  const crawlerOptions = webCrawlerOptionsOf(flags);
  const usesBrowser = crawlerOptions.engine !== undefined;
  const item = itemFor(typed, { usesBrowser, header: flags.header, proxyFor: proxiesOf(flags) });
  const { url, config: own } = typeof item === 'string' ? { url: item, config: {} } : item;
  const { WebCrawler } = await import('../../index.js');
  const crawler = await WebCrawler.open(crawlerOptions);
  try {
    const result = await crawler.run(url, { ...config, ...own });
    if (flags.screenshot !== undefined && result.screenshot) await writeArtifact(flags.screenshot, result.screenshot);
    if (flags.pdf !== undefined && result.pdf) await writeArtifact(flags.pdf, result.pdf);
    const output = config.extract && result.success ? dataOf(result) : pageOf(result, flags);
    const isWanted = flags.format === 'json' || result.success;
    if (isWanted && output !== '') await write(forgetLogin(output, typed), typed, flags);
    if (!result.success) {
      const advice = adviceFor(result.errorCode, result.statusCode);
      const why = shown(plain(result.errorMessage ?? ''), 1000);
      complain(`error: ${why} (${result.errorCode})${advice === undefined ? '' : `. ${advice}`}`);
      return EXIT.someFailed;
    }
    return verdictOf(result, flags);
  } finally {
    await crawler.close();
  }
}

/** A picture of an empty page is what was asked for; an empty page is not. */
function verdictOf(result: CrawlResult, { screenshot, pdf, selector, schema, prompt }: ScrapeFlags): number {
  if (screenshot !== undefined || pdf !== undefined || schema !== undefined || prompt !== undefined) return EXIT.done;
  const lack = lackOfResult(result, selector);
  if (lack === undefined) return EXIT.done;
  complain(`${lack.isEmpty ? 'error' : 'note'}: ${lack.why}`);
  return lack.isEmpty ? EXIT.someFailed : EXIT.done;
}

function dataOf({ extracted }: CrawlResult): string {
  return `${typeof extracted === 'string' ? plain(extracted) : JSON.stringify(extracted, null, 2)}\n`;
}

/** With a final line end, or empty. */
function pageOf(result: CrawlResult, { format, selector }: ScrapeFlags): string {
  if (!isPageFormat(format)) return `${JSON.stringify(itemOf(result, DEFAULT_FIELDS), null, 2)}\n`;
  const isPart = format === 'html' && selector !== undefined;
  const text = isPart ? result.cleanedHtml : pageText(format, partsOf(result));
  return text === '' ? '' : `${text}\n`;
}

async function write(text: string, typed: string, { out, format, schema, prompt }: ScrapeFlags): Promise<void> {
  if (out === undefined) return print(Buffer.from(text));
  const isFolder = /[/\\]$/.test(out) || (await stat(out).catch(() => undefined))?.isDirectory() === true;
  const extension = schema === undefined && prompt === undefined ? extensionOfFormat(format) : 'json';
  const file = isFolder ? path.join(out, createPageNames(extension)(withoutLogin(typed).url)) : out;
  await writeArtifact(file, text);
  if (isFolder) complain(`Written to ${shown(file, 1000)}`);
}
