// `orcrawl crawl`: from URLs on the command line to a file of pages.
// Promise: everything is checked before the first request; the crawler itself is loaded only after that.
import type { Command } from 'commander';
import { Option } from 'commander';
import { withoutLogin } from '../../request/login.js';
import { EnqueueStrategy } from '../../request/scope.js';
import { formatsOf } from '../../store/formats.js';
import { byteSize, headers, patterns, positiveNumber, seconds, seedUrl, wholeNumber } from '../arguments.js';
import { chooseStart, defaultFolder, type StartMode } from '../crawl/folder.js';
import { type CrawlSettings, readSettings } from '../crawl/settings.js';
import { EXIT, exitCodeOf, UsageError } from '../exit-codes.js';
import type { CrawlReport } from '../crawl/report.js';
import { complain, errorLine, programName, quoted, say } from '../terminal.js';

interface CrawlFlags extends Partial<Omit<CrawlSettings, 'urls'>> {
  readonly out?: string;
  readonly resume?: boolean;
  readonly fresh?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

const EXAMPLES = `
Examples:
  $ orcrawl crawl example.com --max-pages 100
  $ orcrawl crawl https://example.com/docs/ --include 'https://example.com/docs/**' --format csv
  $ orcrawl crawl example.com --exclude '/\\.(pdf|zip)$/i' --rate 2 --out data/example
  $ orcrawl crawl --resume --out data/example        continue after Ctrl-C or a crash
  $ cat urls.txt | orcrawl crawl - --depth 0         exactly these pages, no links

Crawls are polite: robots.txt and nofollow are observed, and a host rests between two requests.
Check it with: orcrawl audit DIR
Patterns are globs over the whole URL, or regular expressions between slashes.
Exit codes: 0 done, 1 wrong usage or settings, 2 some pages failed (or all were 404 and the like), 3 paused because the disk is full, 130 interrupted.
`;

export function addCrawlCommand(program: Command, onExit: (code: number) => void): void {
  program
    .command('crawl')
    .summary('crawl sites and store their pages')
    .description('Crawls from the given URLs, follows links, and stores one item a page: title, text, metadata.')
    .argument('[URL...]', 'where to start; a bare domain gets https://, - reads a list from standard input')
    .option('-n, --max-pages <N>', 'stop after this many pages', wholeNumber(1))
    .option('-d, --depth <N>', 'follow links this many steps from the start; 0 follows none', wholeNumber(0))
    .option('-i, --include <PATTERN>', 'follow only links that match (may be repeated)', patterns)
    .option('-x, --exclude <PATTERN>', 'never follow links that match (may be repeated)', patterns)
    .addOption(
      new Option('-s, --strategy <S>', 'how far links may lead (default: same-hostname; all with --include)').choices(
        Object.values(EnqueueStrategy),
      ),
    )
    .option('-c, --concurrency <N>', 'most pages at once (default: 200, as far as the machine allows)', wholeNumber(1))
    .option('-r, --rate <N>', 'most pages a second', positiveNumber)
    .option('--delay <SECS>', 'rest between two requests to a host (default: 0.5)', seconds)
    .option('--ignore-robots', 'do not read robots.txt')
    .option('--max-per-host <N>', 'queue at most this many links of one host', wholeNumber(1))
    .option('--exclude-domains <FILE>', 'never visit these domains and their subdomains: one a line')
    .option('--allow-domains <FILE>', 'visit only these domains and their subdomains: one a line')
    .option('--no-traps', 'also follow links that look endless: calendars, repeated folders, session ids')
    .option('--explain-skips', 'list every URL that was left out, and why, in skipped.jsonl')
    .option('-o, --out <DIR>', "the crawl's folder (default: ./orcrawl-out/<host>)")
    .addOption(new Option('-f, --format <F>', 'of the result file (default: jsonl)').choices(formatsOf('crawl')))
    .option('--raw-csv', 'with --format csv: leave cells as they are that a spreadsheet would run as a formula')
    .option('--links', 'also store the links of each page')
    .option('--resume', 'continue the crawl in --out')
    .option('--fresh', 'throw away the crawl in --out and start over')
    .option('--retries <N>', 'further tries of a page that fails (default: 3)', wholeNumber(0))
    .option('--allow-private', 'also follow links to private and loopback addresses')
    .option('--refuse-private', 'refuse private and loopback addresses also for the given URLs')
    .option('--user-agent <UA>', 'the User-Agent header')
    .option('-H, --header <NAME: VALUE>', 'send a header to the hosts of the given URLs (may be repeated)', headers)
    .option('--max-body <SIZE>', 'largest page, decoded, such as 500k or 20M (default: 10M)', byteSize)
    .option('-q, --quiet', 'show nothing but errors')
    .option('-v, --verbose', "show the crawler's log")
    .addHelpText('after', EXAMPLES)
    .action(async (args: string[], flags: CrawlFlags) => onExit(await crawl(args, flags)));
}

async function crawl(args: readonly string[], flags: CrawlFlags): Promise<number> {
  const { out, resume, fresh, quiet, verbose, ...chosen } = flags;
  const typed = args.map((text) => (text === '-' ? text : seedUrl(text)));
  const urls = typed.map((text) => withoutLogin(text).url);
  const logins = typed.filter((text, index) => text !== urls[index]);
  if (urls.length === 0 && !(resume && out !== undefined)) {
    throw new UsageError('give a URL to start from, such as example.com, or --resume with --out to continue a crawl');
  }
  const folder = out ?? defaultFolder(urls);
  const mode = await chooseStart(folder, { resume, fresh });
  const settings = await settingsFor(mode, folder, urls, { ...chosen, ...(logins.length > 0 ? { logins } : {}) });
  const { runCrawl } = await import('../crawl/run.js');
  let report: CrawlReport;
  try {
    report = await runCrawl(settings, { folder, mode }, { quiet, verbose });
  } catch (error) {
    if (exitCodeOf(error) !== EXIT.paused) throw error;
    complain(errorLine(error));
    complain(`Paused: what was crawled is safe. Then: ${programName()} crawl --resume --out ${quoted(folder)}`);
    return EXIT.paused;
  }
  if (!quiet) await tell(report, mode);
  return exitCodeFor(report);
}

/** A resumed crawl keeps its settings, but for those given now. */
async function settingsFor(
  mode: StartMode,
  folder: string,
  urls: readonly string[],
  chosen: Partial<CrawlSettings>,
): Promise<CrawlSettings> {
  const saved = mode === 'resume' ? await readSettings(folder) : undefined;
  const settings = { format: 'jsonl' as const, ...saved, ...chosen };
  if (urls.length > 0) return { ...settings, urls };
  if (mode !== 'resume') throw new UsageError(`there is no crawl in ${folder} to resume: give a URL to start one`);
  const kept = saved?.urls.filter((url) => url !== '-') ?? [];
  if (saved?.urls.includes('-')) complain('The list on standard input is not kept: give - again if it was cut short.');
  return { ...settings, urls: kept };
}

async function tell(report: CrawlReport, mode: StartMode): Promise<void> {
  const { summaryLines } = await import('../crawl/report.js');
  const nothingLeft =
    mode === 'resume' && report.outcome === 'finished' && report.pagesThisRun + report.failedThisRun === 0;
  if (nothingLeft) say('Nothing was left to do: the crawl had finished. --fresh starts it over.');
  for (const line of summaryLines(report)) say(line);
}

export function exitCodeFor({ outcome, pages, failed, invalidLines, errorPages }: CrawlReport): number {
  if (outcome === 'interrupted') return EXIT.interrupted;
  const missing = Object.values(errorPages).reduce((sum, count) => sum + count, 0);
  // A crawl that met nothing but 404 and the like has no more than one that failed.
  if (pages > 0 && missing === pages) return EXIT.someFailed;
  return failed > 0 || invalidLines > 0 ? EXIT.someFailed : EXIT.done;
}
