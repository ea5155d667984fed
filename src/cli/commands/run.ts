// `orcrawl run`: a crawl on pods, from one YAML file or from flags. Never starts a Redis.
// Promise: all mistakes are reported at once before anything starts; the exit code says how it ended.
import type { Command } from 'commander';
import { CrawlError } from '../../errors.js';
import { countOf, countText } from '../../observe/figures.js';
import type { PodsConfig } from '../../pods/config/types.js';
import type { PodsResult } from '../../pods/supervise/orchestrator.js';
import type { PodsProgress } from '../../pods/supervise/watching.js';
import { positiveNumber } from '../arguments.js';
import { EXIT, exitCodeOf } from '../exit-codes.js';
import { addPodsFlags, type ConfigFlags, reportConfigProblems } from '../pods-flags.js';
import { complain, say } from '../terminal.js';

const EXIT_CODES = `
Exit codes:
  0    reached max_pages, max_duration, the end of the crawl or global:stop_signal
  1    invalid configuration or arguments, no valid seed, a handler module that
       does not load, or an unusable store
  2    nothing was stored: every request failed
  3    paused: all data directories are full; free some space and --resume
  4    a store came back empty and the other pods finished; restore it
       and --resume, or start again with --fresh
  5    a pod stopped because its workers kept dying
  6    incomplete: stored pages or items are gone from a data directory
  130  interrupted; --resume continues
`;

export function addRunCommand(program: Command, onExit: (code: number) => void): void {
  addPodsFlags(
    program
      .command('run')
      .summary('crawl on pods: many processes, many stores, many machines')
      .description(
        'Runs the pods of this machine: fetchers (and parsers), restarted when they die, until max_pages, ' +
          'max_duration, the end of the crawl or a signal. Without a store, one embedded pod is used.',
      )
      .option('--config <FILE>', 'the YAML file (docs/pods.md)'),
  )
    .addHelpText('after', EXIT_CODES)
    .action(async (flags: ConfigFlags) => onExit(await run(flags)));
}

async function run(flags: ConfigFlags): Promise<number> {
  const { readPodsConfig } = await import('../../pods/config/config.js');
  const { runPods } = await import('../../pods/supervise/orchestrator.js');
  const { log, LogLevel } = await import('../../observe/log.js');
  const config = await readPodsConfig(flags.config, flags, { checkStores: true, warn: complain }).catch(
    (error: unknown) => {
      process.exitCode = reportConfigProblems(error);
      return undefined;
    },
  );
  if (!config) return EXIT.misuse;
  log.setLevel(LogLevel[config.logLevel]);
  const drain = new AbortController();
  const now = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (drain.signal.aborted) return now.abort();
    complain(`${signal}: finishing pages in progress; press again to exit at once. Continue with --resume.`);
    drain.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  try {
    const onProgress = createProgress(
      (text) => log.info(text),
      () => performance.now(),
    );
    log.info(startLine(config));
    const stuckMs = stuckMsOf(process.env.CRAWLER_STUCK_SECONDS);
    const result = await runPods({ config, stuckMs, log, drain: drain.signal, now: now.signal, onProgress });
    const { incompleteLine } = await import('../../pods/supervise/incomplete.js');
    const where = result.isWhole ? '' : ' on this machine';
    say(`${countOf(result.pages, 'page')}${where}: ${wordsOf(result)}${incompleteLine(result)}${lossWords(result)}`);
    for (const { pod, message } of result.incomplete) complain(`pod ${pod} stopped: ${message}`);
    for (const line of failureLines(result)) complain(line);
    return exitCodeFor(result);
  } catch (error) {
    if (error instanceof CrawlError && error.code === 'ABORTED') return EXIT.interrupted;
    throw error;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
  }
}

/** A worker silent for this long is killed: raise it on machines that pause now and then. */
function stuckMsOf(seconds: string | undefined): number | undefined {
  return seconds === undefined ? undefined : positiveNumber(seconds) * 1_000;
}

/** What runs where, and where to look. */
function startLine(config: PodsConfig): string {
  const { ownPods, pods, fetchersPerPod, parsersPerPod, politenessDelaySeconds, logDir } = config;
  const parsers = parsersPerPod > 0 ? ` and ${countOf(parsersPerPod, 'parser')}` : '';
  const metrics = config.enablePrometheus
    ? `, metrics at http://${config.prometheusHost}:${config.prometheusPort}/metrics`
    : '';
  return (
    `Starting ${ownPods.length} of ${countOf(pods.length, 'pod')}, ${countOf(fetchersPerPod, 'fetcher')}${parsers} each, ` +
    `${politenessDelaySeconds} s between requests to a domain; logs in ${logDir}${metrics}`
  );
}

const SHOWN_EVERY_MS = 10_000;

/** A regular progress line: pages, their rate since the last line, and what waits. */
function createProgress(tell: (text: string) => void, nowMs: () => number): (progress: PodsProgress) => void {
  let shownMs = nowMs();
  let before: number | undefined;
  return ({ pages, readings }) => {
    const passedMs = nowMs() - shownMs;
    before ??= pages;
    if (passedMs < SHOWN_EVERY_MS) return;
    const known = readings.filter((reading) => reading !== undefined);
    const sum = (name: 'queued' | 'retrying' | 'leased' | 'failed'): number =>
      known.reduce((total, reading) => total + reading[name], 0);
    const perSec = ((pages - before) * 1_000) / passedMs;
    const away = readings.length - known.length;
    tell(
      `${countOf(pages, 'page')} (${perSec.toFixed(1)}/s), ${sum('leased')} in progress, ${sum('queued') + sum('retrying')} waiting, ` +
        `${sum('failed')} failed${away > 0 ? `, ${countOf(away, 'pod does', 'pods do')} not answer` : ''}`,
    );
    shownMs = nowMs();
    before = pages;
  };
}

const WORDS: Readonly<Record<PodsResult['reason'], string>> = {
  max_pages: 'max_pages reached',
  max_duration: 'max_duration reached',
  exhausted: 'nothing is left to crawl',
  stop_signal: 'stopped by global:stop_signal',
  signal: 'interrupted; --resume continues',
  failed: 'stopped by a failure',
};

function wordsOf({ reason, incomplete }: PodsResult): string {
  return reason === 'exhausted' && incomplete.length > 0 ? 'the other pods have nothing left to crawl' : WORDS[reason];
}

/** Failures by code; the worker logs have each case. */
function failureLines({ failed, errors }: PodsResult): string[] {
  if (failed === 0) return [];
  const codes = Object.entries(errors).sort(([, a], [, b]) => b - a);
  const list = codes.map(([code, count]) => `${code} × ${countText(count)}`).join(', ');
  const remedy = errors.ADDRESS_REFUSED
    ? '. To crawl private addresses, use --allow-private or allow_private_addresses'
    : '';
  return [`${countText(failed)} failed${list === '' ? '' : `: ${list}`}${remedy}`];
}

/** Stored data that is gone; the log names the files. */
function lossWords({ losses: { files, records, items, bytes } }: PodsResult): string {
  if (files === 0) return '';
  const parts = [
    ...(records > 0 ? [countOf(records, 'stored record')] : []),
    ...(items > 0 ? [countOf(items, 'item')] : []),
  ];
  const what = parts.length > 0 ? `${parts.join(' and ')} (${countText(bytes)} bytes)` : `${countText(bytes)} bytes`;
  return `; INCOMPLETE: ${what} of ${countOf(files, 'file')} are missing from the data directories`;
}

function exitCodeFor({ reason, incomplete, pages, failed, losses }: PodsResult): number {
  if (reason === 'signal') return EXIT.interrupted;
  // A store that lost its data is the worst case.
  const first = incomplete.find(({ code }) => code === 'QUEUE_EMPTIED') ?? incomplete[0];
  if (!first && reason === 'exhausted' && pages === 0 && failed > 0) return EXIT.someFailed;
  if (!first && losses.files > 0) return EXIT.lost;
  if (!first) return reason === 'failed' ? EXIT.misuse : EXIT.done;
  return exitCodeOf(new CrawlError(first.code, first.message));
}
