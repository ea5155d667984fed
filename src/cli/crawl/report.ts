// The result of a crawl: the figures of report.json and the final summary.
// Promise: every number comes from the queue or the datasets, so a resumed crawl reports the whole crawl.
import type { Dictionary } from '../../index.js';
import { adviceFor } from '../advice.js';
import { bytesText, countOf, countText, durationText, rateText } from '../../observe/figures.js';
import type { SiteCopy } from '../../fresh/duplicates/site-copies.js';
import type { UpdateFigures } from './update.js';
import type { ResultFile } from './result-file.js';
import { programName, quoted, shown } from '../terminal.js';

/** How often something happened, with one example. */
export interface ReasonCount {
  readonly reason: string;
  readonly count: number;
  readonly example: string;
  readonly message?: string;
}

export interface CrawlReport {
  readonly orcrawl: string;
  /** `limit`: --max-pages was reached and more is queued. */
  readonly outcome: 'finished' | 'limit' | 'interrupted';
  readonly urls: readonly string[];
  readonly startedAt: string;
  readonly endedAt: string;
  /** This run; the counts below are for the whole crawl. */
  readonly durationMs: number;
  readonly pagesThisRun: number;
  readonly failedThisRun: number;
  readonly pagesPerSec: number;
  readonly pages: number;
  readonly failed: number;
  readonly skipped: number;
  readonly pending: number;
  /** Stored pages with a status of 400 or above, by status: error pages. */
  readonly errorPages: Readonly<Record<string, number>>;
  /** Responses by status, retries included. */
  readonly answers: Readonly<Record<string, number>>;
  /** Only with --update. */
  readonly update?: UpdateFigures;
  /** Only with --duplicates: mirrors, print versions and the like. */
  readonly copies?: readonly SiteCopy[];
  readonly failures: readonly ReasonCount[];
  /** Links that were found and not queued. */
  readonly leftOut: readonly ReasonCount[];
  readonly invalidLines: number;
  /** Pages of this run that show little or nothing without scripts. */
  readonly shells?: { readonly count: number; readonly example: string } | undefined;
  readonly folder: string;
  readonly result: ResultFile;
  readonly failedFile?: ResultFile;
  readonly skippedFile?: ResultFile;
}

/** What is stored for a page that finally failed. */
export interface FailedItem extends Dictionary {
  readonly url: string;
  readonly code: string;
  readonly message: string;
  readonly retries: number;
  readonly failedAt: string;
}

/** Counts by reason, most frequent first, each with its first example. */
export function createReasons(start: readonly ReasonCount[] = []) {
  const reasons = new Map(start.map((one) => [one.reason, { ...one }]));
  return {
    add(reason: string, example: string, message?: string): void {
      const known = reasons.get(reason);
      if (known) reasons.set(reason, { ...known, count: known.count + 1 });
      else reasons.set(reason, { reason, count: 1, example, ...(message === undefined ? {} : { message }) });
    },
    list: (): ReasonCount[] => [...reasons.values()].sort((a, b) => b.count - a.count),
  };
}

const OUTCOMES: Readonly<Record<CrawlReport['outcome'], string>> = {
  finished: 'Finished',
  limit: 'Reached --max-pages',
  interrupted: 'Interrupted',
};

const LEFT_OUT: Readonly<Record<string, string>> = {
  filters: 'outside --strategy, --include or --exclude',
  depth: 'deeper than --depth',
  limit: 'beyond --max-pages',
  enqueueLimit: 'beyond a limit on links',
  redirect: 'redirected outside the scope',
  duplicate: 'redirected to a page already queued',
  robotsTxt: 'forbidden by robots.txt',
  invalid: 'invalid URL',
  nofollow: 'marked nofollow',
  crawlDelay: 'on hosts whose robots.txt requires very long delays',
};

const MAX_REASONS = 8;

/** The final summary, line by line. */
export function summaryLines(report: CrawlReport): string[] {
  const { pages, failed, pending, skipped } = report;
  const lines = [
    `${OUTCOMES[report.outcome]}: ${countOf(report.pagesThisRun, 'page')} in ${durationText(report.durationMs)}, ` +
      `${rateText(report.pagesPerSec)} per second.`,
  ];
  const errorPages = Object.entries(report.errorPages).map(([status, count]) => `${countText(count)} × ${status}`);
  const stored = `${countText(pages)} stored${errorPages.length === 0 ? '' : ` (${errorPages.join(', ')})`}`;
  const ended = [stored, `${countText(failed)} failed`];
  // In a paced crawl a redirect ends one request and begins another.
  const redirects = Math.min(skipped, redirectsOf(report.answers));
  if (redirects > 0) ended.push(`${countText(redirects)} redirected`);
  if (skipped > redirects) ended.push(`${countText(skipped - redirects)} skipped`);
  if (pending > 0) ended.push(`${countText(pending)} still queued`);
  lines.push(row('Pages', ended.join(', ')));
  const answers = Object.entries(report.answers).map(([status, count]) => `${status} × ${countText(count)}`);
  if (answers.length > 0) lines.push(row('Answers', answers.join(', ')));
  if (report.update) lines.push(...updateRows(report.update));
  lines.push(...reasonRows('Failed', report.failures, (one) => one.reason));
  for (const { reason } of report.failures.slice(0, MAX_REASONS)) {
    const advice = adviceFor(reason);
    if (advice !== undefined) lines.push(row('', `${reason}: ${advice}`));
  }
  if (report.shells) {
    const { count, example } = report.shells;
    lines.push(
      row(
        'Scripts',
        `${countOf(count, 'page')} with little or nothing without scripts, such as ${shown(example, 160)}`,
      ),
    );
    lines.push(row('', 'To load such pages in a browser: --fresh --auto'));
  }
  lines.push(...reasonRows('Left out', report.leftOut, (one) => LEFT_OUT[one.reason] ?? one.reason));
  if (report.invalidLines > 0) lines.push(row('Input', `${countOf(report.invalidLines, 'line')} left out: not a URL`));
  lines.push(row('Data', `${report.result.path} (${bytesText(report.result.bytes)})`));
  if (report.failedFile) lines.push(row('', `${report.failedFile.path} (what failed, and why)`));
  if (report.skippedFile) lines.push(row('', `${report.skippedFile.path} (what was left out, and why)`));
  lines.push(row('Report', `${report.folder}/report.json`));
  lines.push(row('Next', nextCommand(report)));
  return lines;
}

function redirectsOf(answers: CrawlReport['answers']): number {
  const counts = Object.entries(answers).filter(([status]) => /^30[12378]$/.test(status));
  return counts.reduce((sum, [, count]) => sum + count, 0);
}

function row(name: string, text: string): string {
  return `  ${name.padEnd(9)} ${text}`;
}

function updateRows(update: UpdateFigures): string[] {
  const counts = [
    `${countText(update.new)} new`,
    `${countText(update.changed)} changed`,
    `${countText(update.same)} same`,
    `${countText(update.gone)} gone`,
    ...(update.missing > 0 ? [`${countText(update.missing)} missing as before`] : []),
    ...(update.notVisited > 0 ? [`${countText(update.notVisited)} not visited`] : []),
  ];
  return [row('Update', counts.join(', ')), row('', `${update.file} (what is new, changed or gone)`)];
}

function reasonRows(name: string, reasons: readonly ReasonCount[], title: (one: ReasonCount) => string): string[] {
  return reasons.slice(0, MAX_REASONS).map((one, index) => {
    const example = one.message ?? one.example;
    return row(index === 0 ? name : '', `${countText(one.count)} × ${title(one)}, such as ${shown(example, 160)}`);
  });
}

function nextCommand({ outcome, folder, pages, failed, result }: CrawlReport): string {
  const resume = `${programName()} crawl --resume --out ${quoted(folder)}`;
  switch (outcome) {
    case 'finished':
      if (result.bytes === 0 || pages === 0) return `${programName()} crawl --help`;
      // Not for eyes.
      if (result.path.endsWith('.parquet')) return `${programName()} export ${quoted(folder)} | head -n 1`;
      return `${result.path.endsWith('.jsonl') ? 'head -n 1' : 'less'} ${quoted(result.path)}`;
    case 'limit':
      return `${resume} --max-pages ${(pages + failed) * 2}`;
    case 'interrupted':
      return resume;
    default:
      return outcome satisfies never;
  }
}
