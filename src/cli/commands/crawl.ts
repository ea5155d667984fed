// `orcrawl crawl`: from URLs on the command line to a file of pages.
// Promise: everything is checked before the first request; the crawler is loaded only after that.
import path from 'node:path';
import { type Command, Option } from 'commander';
import { countText } from '../../observe/figures.js';
import { withoutLogin } from '../../request/login.js';
import { EnqueueStrategy } from '../../request/scope.js';
import { formatsOf, isPageFormat } from '../../store/formats.js';
import { byteSize, patterns, positiveNumber, seconds, seedUrl, wholeNumber } from '../arguments.js';
import { inputOf } from '../batch/urls.js';
import { chooseStart, defaultFolder, type StartMode } from '../crawl/folder.js';
import { type CrawlSettings, readSettings } from '../crawl/settings.js';
import { orderFlags } from '../order-flags.js';
import { addDashboardFlags, type DashboardFlags } from '../dashboard.js';
import { EXIT, exitCodeOf, UsageError } from '../exit-codes.js';
import { contentOf } from '../flags/content.js';
import { extractOf } from '../flags/extract.js';
import { actionsOf, engineOf, type PageFlags, readCookies } from '../flags/page.js';
import { profileFolder } from '../flags/profiles.js';
import { proxiesOf } from '../flags/proxies.js';
import { checkSelectors } from '../flags/selectors.js';
import { addPageFlags } from '../flags/table.js';
import type { CrawlReport } from '../crawl/report.js';
import { complain, errorLine, programName, quoted, say, saySummary } from '../terminal.js';

type OwnSettings = Omit<
  CrawlSettings,
  'urls' | 'lists' | 'engine' | 'actions' | 'content' | 'extract' | 'inFolder' | 'logins'
>;

interface CrawlFlags extends Partial<Omit<OwnSettings, keyof PageFlags>>, PageFlags, DashboardFlags {
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
  $ orcrawl crawl example.com --query 'refund policy' --enough   what is about it first, and no more
  $ orcrawl crawl --resume --out data/example        continue after Ctrl-C or a crash
  $ orcrawl crawl example.com --update               again and again: what is new, changed, gone
  $ orcrawl crawl urls.txt --depth 0                 only these pages, no links
  $ orcrawl crawl example.com --sitemap --format markdown --out example/
  $ orcrawl crawl app.example.com --auto             in a browser what needs one

Crawls are polite: they obey robots.txt and nofollow and wait between requests to a host.
To check: orcrawl audit DIR
Patterns are globs over the whole URL, or regular expressions between slashes.
Exit codes: 0 done, 1 invalid usage or settings, 2 some pages failed (or all were error pages such as 404), 3 paused because the disk is full, 130 interrupted.
`;

export function addCrawlCommand(program: Command, onExit: (code: number) => void): void {
  const command = program
    .command('crawl')
    .summary('crawl sites and store their pages')
    .description('Crawls from the given URLs, follows links, and stores one item per page: title, text, metadata.')
    .argument(
      '[URL|FILE|-...]',
      'where to start: URLs (a bare domain gets https://), files of URLs, - for standard input',
    );
  addDashboardFlags(command);
  addPageFlags(command, 'crawl', {
    pages: [
      new Option('-n, --max-pages <N>', 'stop after this many pages').argParser(wholeNumber(1)),
      new Option('-d, --depth <N>', 'follow links this many steps from the start; 0 follows none').argParser(
        wholeNumber(0),
      ),
      new Option('-i, --include <PATTERN>', 'follow only links that match (may be repeated)').argParser(patterns),
      new Option('-x, --exclude <PATTERN>', 'never follow links that match (may be repeated)').argParser(patterns),
      new Option('-s, --strategy <S>', 'which links to follow (default: same-hostname; all with --include)').choices(
        Object.values(EnqueueStrategy),
      ),
      new Option('--sitemap', 'also start from what the sitemaps of the given sites list'),
      new Option('--max-per-host <N>', 'queue at most this many links per host').argParser(wholeNumber(1)),
      new Option('--exclude-domains <FILE>', 'skip these domains and their subdomains, one per line'),
      new Option('--allow-domains <FILE>', 'visit only these domains and their subdomains, one per line'),
      new Option(
        '--duplicates <WHAT>',
        'pages that nearly repeat another: mark (each names that one), skip (not stored, their links not followed); default: keep',
      ).choices(['keep', 'mark', 'skip']),
      new Option('--no-traps', 'also follow links that look endless: calendars, repeated folders, session ids'),
    ],
    order: orderFlags(),
    output: [
      new Option(
        '-o, --out <DIR>',
        "the crawl's folder (default: ./orcrawl-out/<host>); as DIR/ with --format markdown, fit or text: one file per page in DIR/pages, named by its path, with an index",
      ),
      new Option(
        '-f, --format <F>',
        'format of the result; markdown, fit: the main content of each page (default: jsonl)',
      ).choices(formatsOf('crawl')),
      new Option(
        '--documents [WHAT]',
        'read PDF, Office, EPUB and other documents as pages; "follow": and their links',
      ).choices(['follow']),
      new Option('--accept-markdown', 'ask for markdown where a site offers it (Accept: text/markdown)'),
      new Option('--links', 'also store the links of each page'),
      new Option('--raw-csv', 'with --format csv: do not escape cells that a spreadsheet would run as a formula'),
      new Option('--explain-skips', 'list every skipped URL, and why, in skipped.jsonl'),
      new Option('--resume', 'continue the crawl in --out'),
      new Option('--fresh', 'delete the crawl in --out and start over'),
      new Option('--update', 'visit the crawl in --out again, ask what changed, and store only that'),
      new Option('-q, --quiet', 'show only errors'),
      new Option('-v, --verbose', "show the crawler's log"),
    ],
    fetching: [
      new Option('--max-body <SIZE>', 'largest page, decoded, such as 500k or 20M (default: 10M)').argParser(byteSize),
    ],
    pace: [
      new Option('-c, --concurrency <N>', 'pages at once (default: up to 200, less if the machine is busy)').argParser(
        wholeNumber(1),
      ),
      new Option('-r, --rate <N>', 'at most this many pages per second').argParser(positiveNumber),
      new Option('--delay <SECS>', 'delay between requests to a host (default: 0.5)').argParser(seconds),
      new Option('--ignore-robots', 'do not read robots.txt'),
    ],
  })
    .addHelpText('after', EXAMPLES)
    .action(async (args: string[], flags: CrawlFlags) => onExit(await crawl(args, flags)));
}

async function crawl(args: readonly string[], flags: CrawlFlags): Promise<number> {
  const { out, resume, fresh, quiet, verbose, dashboard, open } = flags;
  const chosen = await settingsOf(flags);
  const inputs = args.map(inputOf);
  const typed = inputs.flatMap(({ kind, text }) =>
    kind === 'file' ? [] : kind === 'stdin' ? [text] : [seedUrl(text)],
  );
  const lists = inputs.flatMap(({ kind, text }) => (kind === 'file' ? [path.resolve(text)] : []));
  const urls = typed.map((text) => withoutLogin(text).url);
  const logins = typed.filter((text, index) => text !== urls[index]);
  if (inputs.length === 0 && !((resume || flags.update) && out !== undefined)) {
    throw new UsageError('give a URL to start from, such as example.com, or --resume with --out to continue a crawl');
  }
  const folder = (out === undefined ? undefined : path.join(out, '.')) ?? defaultFolder(urls, lists);
  const mode = await chooseStart(folder, { resume, fresh, update: flags.update });
  const settings = await settingsFor(mode, folder, urls, {
    ...chosen,
    ...(logins.length > 0 ? { logins } : {}),
    ...(lists.length > 0 ? { lists } : {}),
  });
  const { runCrawl } = await import('../crawl/run.js');
  let report: CrawlReport;
  try {
    report = await runCrawl(settings, { folder, mode }, { quiet, verbose, dashboard, open });
  } catch (error) {
    if (exitCodeOf(error) !== EXIT.paused) throw error;
    complain(errorLine(error));
    complain(`Paused: what was crawled is safe. Then: ${programName()} crawl --resume --out ${quoted(folder)}`);
    return EXIT.paused;
  }
  if (!quiet) await tell(report, mode);
  else if (report.failed > 0) complain(failedLine(report, folder));
  return exitCodeFor(report);
}

/** What the flags say, checked; names that were not given are left out. */
async function settingsOf(flags: CrawlFlags): Promise<Partial<CrawlSettings>> {
  const { out, resume: _r, fresh: _f, quiet: _q, verbose: _v, ...rest } = flags;
  const { browser: _b, auto: _a, waitFor: _w, js: _j, waitUntil: _u, schema: _s, prompt: _p, ...kept } = rest;
  const { llmUrl: _l, llmModel: _m, llmKeyEnv: _k, ...others } = kept;
  const { favor: _o, hidden: _h, math: _t, keep: _e, leaveOut: _n, ...settings } = others;
  const engine = engineOf(flags);
  const actions = actionsOf(flags);
  const { extract } = extractOf(flags);
  await checkSelectors(flags);
  proxiesOf(flags);
  if (flags.cookies !== undefined) readCookies(flags.cookies);
  if (flags.userDataDir !== undefined) profileFolder(flags.userDataDir);
  if (flags.cookies !== undefined && flags.userDataDir !== undefined) {
    throw new UsageError('--cookies and --user-data-dir cannot be combined: the profile has its own cookies');
  }
  if (engine !== 'http' && (flags.duplicates ?? 'keep') !== 'keep') {
    throw new UsageError('--duplicates compares pages that HTTP fetches: leave out --browser and --auto');
  }
  const inFolder = out !== undefined && /[/\\]$/.test(out) && flags.format !== undefined && isPageFormat(flags.format);
  return {
    ...settings,
    ...(settings.cookies !== undefined && { cookies: path.resolve(settings.cookies) }),
    ...(engine !== 'http' && { engine }),
    ...(Object.keys(actions).length > 0 && { actions }),
    ...contentOf(flags),
    ...(extract !== undefined && { extract }),
    ...(inFolder && { inFolder }),
  };
}

/** A resumed crawl keeps its settings, except those given now. */
async function settingsFor(
  mode: StartMode,
  folder: string,
  urls: readonly string[],
  chosen: Partial<CrawlSettings>,
): Promise<CrawlSettings> {
  const saved = mode === 'resume' || mode === 'update' ? await readSettings(folder) : undefined;
  const settings = { format: 'jsonl' as const, ...saved, ...chosen };
  if (urls.length > 0 || (chosen.lists ?? []).length > 0) return { ...settings, urls };
  if (mode !== 'resume' && mode !== 'update') {
    throw new UsageError(`no crawl to resume in ${folder}: give a URL to start one`);
  }
  const kept = saved?.urls.filter((url) => url !== '-') ?? [];
  if (saved?.urls.includes('-'))
    complain('The list on standard input is not saved: give - again if it was interrupted.');
  return { ...settings, urls: kept };
}

async function tell(report: CrawlReport, mode: StartMode): Promise<void> {
  const { summaryLines } = await import('../crawl/report.js');
  const nothingLeft =
    mode === 'resume' && report.outcome === 'finished' && report.pagesThisRun + report.failedThisRun === 0;
  if (nothingLeft) say('Nothing to do: the crawl is finished. Use --fresh to start over.');
  for (const line of summaryLines(report)) saySummary(line);
}

/** All that --quiet shows of failures: how many, why, and where to look. */
function failedLine({ failed, failures }: CrawlReport, folder: string): string {
  const reasons = failures.map(({ reason, count }) => `${countText(count)} × ${reason}`).join(', ');
  return `error: ${countText(failed)} failed: ${reasons}. See ${path.join(folder, 'failed.jsonl')}`;
}

export function exitCodeFor({ outcome, pages, failed, invalidLines, errorPages, shells }: CrawlReport): number {
  if (outcome === 'interrupted') return EXIT.interrupted;
  const missing = Object.values(errorPages).reduce((sum, count) => sum + count, shells?.count ?? 0);
  // A crawl with only error pages, or empty ones, is as bad as one that failed.
  if (pages > 0 && missing >= pages) return EXIT.someFailed;
  return failed > 0 || invalidLines > 0 ? EXIT.someFailed : EXIT.done;
}
