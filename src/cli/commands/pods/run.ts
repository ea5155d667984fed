// `orcrawl run`: a crawl on pods, from one YAML file or from flags. Never starts a Redis.
// Promise: all mistakes are reported at once before anything starts; the exit code says how it ended.
import type { Command } from 'commander';
import { CrawlError } from '../../../errors.js';
import { countOf, countText, durationText, rateText } from '../../../observe/figures.js';
import { idleKeys } from '../../../pods/config/key-reference.js';
import type { PodsConfig } from '../../../pods/config/types.js';
import type { PodsResult } from '../../../pods/supervise/orchestrator.js';
import type { PodsProgress } from '../../../pods/supervise/watching.js';
import { wantsAssignmentChecks } from '../../../pods/topology.js';
import { positiveNumber, wholeNumber } from '../../arguments.js';
import { dedupText } from './config.js';
import { addDashboardFlags, type DashboardFlags, type OpenedDashboard, startDashboard } from '../../dashboard.js';
import { EXIT, exitCodeOf } from '../../exit-codes.js';
import { createPodViews } from '../../pod-views.js';
import { addPodsFlags, type ConfigFlags, reportConfigProblems } from '../../pods-flags.js';
import { complain, say } from '../../terminal.js';

const EXIT_CODES = `
Examples:
  $ orcrawl run --config crawl.yaml                   orcrawl config init writes such a file
  $ orcrawl run --config crawl.yaml --resume          continue after Ctrl-C or a crash
  $ orcrawl run --config crawl.yaml --pods 0-3        the first four pods, on this machine
  $ orcrawl run --seed-file seeds.txt --email you@example.com --max-pages 100

Exit codes:
  0    reached max_pages, max_duration, the end of the crawl or orcrawl stop
  1    invalid configuration or arguments, no valid seed, a handler module that
       does not load, an unusable store, or all pods of this machine were
       taken over by another one
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
    addDashboardFlags(
      program
        .command('run')
        .summary('crawl on pods: many processes, many stores, many machines')
        .description(
          'Runs the pods of this machine: fetchers (and parsers), restarted when they die, until max_pages, ' +
            'max_duration, the end of the crawl or a signal. Without a store, one embedded pod is used.',
        )
        .option('--config <FILE>', 'the YAML file (docs/pods.md)')
        .option(
          '--pods-from-hostname <N>',
          'run N pods here, chosen by the number at the end of HOSTNAME',
          wholeNumber(1),
        )
        .option('--stay', 'when the crawl is over, answer /health and /metrics until a signal'),
    ),
  )
    .addHelpText('after', EXIT_CODES)
    .action(async (flags: RunFlags) => onExit(await run(flags)));
}

interface RunFlags extends ConfigFlags, DashboardFlags {
  readonly stay?: boolean;
}

async function run({ dashboard: wantsDashboard, open, stay, ...flags }: RunFlags): Promise<number> {
  const { readPodsConfig } = await import('../../../pods/config/config.js');
  const { runPods } = await import('../../../pods/supervise/orchestrator.js');
  const { log: shownLog, LogLevel } = await import('../../../observe/log.js');
  const { openCrawlLog } = await import('../../../pods/crawl-log.js');
  const config = await readPodsConfig(flags.config, flags, { checkStores: true, warn: complain }).catch(
    (error: unknown) => {
      process.exitCode = reportConfigProblems(error);
      return undefined;
    },
  );
  if (!config) return EXIT.misuse;
  shownLog.setLevel(LogLevel[config.logLevel]);
  const { log, file, close } = openCrawlLog(config, shownLog);
  const drain = new AbortController();
  const now = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (drain.signal.aborted) return now.abort();
    file.info(`${signal} received: draining`);
    complain(`${signal}: finishing pages in progress; press again to exit at once. Continue with --resume.`);
    drain.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);
  const pods = createPodViews(config);
  let dashboard: OpenedDashboard | undefined;
  try {
    dashboard = await startDashboard(
      { dashboard: wantsDashboard, open },
      {
        mode: 'pods',
        folder: config.logDir,
        isFresh: flags.resume !== true,
        url: flags.config ?? 'pods',
        request: {},
        figures: () => pods.figures,
        stop: () => drain.abort(),
        pods: () => pods.views,
      },
    );
    const tellProgress = createProgress(
      config,
      (text) => log.info(text),
      () => performance.now(),
    );
    const onProgress = (progress: Parameters<typeof pods.hear>[0]): void => {
      tellProgress(progress);
      pods.hear(progress);
    };
    for (const line of startLines(config)) log.info(line);
    for (const line of idleKeys(config)) log.warning(line);
    const stuckMs = stuckMsOf(process.env.CRAWLER_STUCK_SECONDS);
    const result = await runPods({ config, stuckMs, stay, log, drain: drain.signal, now: now.signal, onProgress });
    await dashboard?.end(endOf(result), result.reason === 'failed' ? wordsOf(result) : undefined);
    const { incompleteLine } = await import('../../../pods/supervise/incomplete.js');
    const where = result.isWhole ? '' : ' on this machine';
    const words = `${countOf(result.pages, 'page')}${where}: ${wordsOf(result)}${incompleteLine(result)}${lossWords(result)}`;
    log.info(finalLine(result));
    file.info(words);
    say(words);
    for (const { pod, message } of result.incomplete) complain(`pod ${pod} stopped: ${message}`);
    for (const line of failureLines(result)) {
      complain(line);
      file.info(line);
    }
    return exitCodeFor(result);
  } catch (error) {
    file.exception(error, 'the run ended with an error');
    if (error instanceof CrawlError && error.code === 'ABORTED') return EXIT.interrupted;
    throw error;
  } finally {
    close();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, onSignal);
    await dashboard?.end('failed').catch(() => undefined);
    await dashboard?.close();
  }
}

const endOf = ({ reason }: PodsResult): 'completed' | 'failed' | 'cancelled' =>
  reason === 'failed' || reason === 'moved'
    ? 'failed'
    : reason === 'signal' || reason === 'stop_signal'
      ? 'cancelled'
      : 'completed';

/** A worker silent for this long is killed: raise it on machines that pause now and then. */
function stuckMsOf(seconds: string | undefined): number | undefined {
  return seconds === undefined ? undefined : positiveNumber(seconds) * 1_000;
}

/** What runs where, and where to look. */
function startLines(config: PodsConfig): string[] {
  const { ownPods, pods, fetchersPerPod, parsersPerPod, politenessDelaySeconds, logDir } = config;
  const parsers = parsersPerPod > 0 ? ` and ${countOf(parsersPerPod, 'parser')}` : '';
  return [
    `Starting ${ownPods.length} of ${countOf(pods.length, 'pod')}, ${countOf(fetchersPerPod, 'fetcher')}${parsers} each, ` +
      `${politenessDelaySeconds} s between requests to a domain; logs in ${logDir}`,
    ...(config.isTest ? ['Test mode is on (test_mode in the file): fewer pods and processes, other data_dirs'] : []),
    ...(config.dedup === 'bloom' && pods[0]!.kind === 'redis' ? [`Dedup: ${dedupText(config)}`] : []),
    ...(wantsAssignmentChecks() ? ['Pod assignment debug mode enabled: every URL is checked against its pod'] : []),
  ];
}

/** Runtime, rate and statuses of the run. */
function finalLine({ durationSecs, pagesOfRun, pagesPerSec, skipped, statuses }: PodsResult): string {
  const list = Object.entries(statuses)
    .sort(([, a], [, b]) => b - a)
    .map(([status, count]) => `${status} × ${countText(count)}`);
  return (
    `Ran for ${durationText(durationSecs * 1_000)}: ${countOf(pagesOfRun, 'page')} (${rateText(pagesPerSec)}/s), ` +
    `${countText(skipped)} skipped in all${list.length > 0 ? `; statuses ${list.join(', ')}` : ''}`
  );
}

const SHOWN_EVERY_MS = 10_000;

/** A regular progress line: pages, their rate since the last line, and what waits. */
export function createProgress(
  config: Pick<PodsConfig, 'ownPods' | 'pods' | 'politenessDelaySeconds'>,
  tell: (text: string) => void,
  nowMs: () => number,
): (progress: PodsProgress) => void {
  const placeOf = (position: number, isWhole: boolean): string => {
    const pod = isWhole ? position : config.ownPods[position]!;
    const store = config.pods[pod]!;
    return `pod ${pod} (${store.kind === 'redis' ? store.where : store.path})`;
  };
  let shownMs = nowMs();
  let before: number | undefined;
  let wasWhole: boolean | undefined;
  return ({ pages, readings, isWhole }) => {
    const passedMs = nowMs() - shownMs;
    // Pages of all machines and of this one cannot be compared.
    if (wasWhole !== isWhole) before = pages;
    wasWhole = isWhole;
    before ??= pages;
    if (passedMs < SHOWN_EVERY_MS) return;
    const known = readings.filter((reading) => reading !== undefined);
    const sum = (name: 'queued' | 'retrying' | 'leased' | 'failed' | 'dueDomains'): number =>
      known.reduce((total, reading) => total + reading[name], 0);
    const perSec = ((pages - before) * 1_000) / passedMs;
    const waiting = sum('queued') + sum('retrying');
    // Embedded stores do not count due domains: there, all rest when nothing happened since the last line.
    const isQuiet = config.pods.every(({ kind }) => kind === 'embedded') && pages === before;
    const isResting = waiting > 0 && sum('leased') === 0 && (isQuiet || sum('dueDomains') === 0);
    const away = readings.flatMap((reading, i) => (reading ? [] : [placeOf(i, isWhole)]));
    tell(
      `${countOf(pages, 'page')} (${perSec.toFixed(1)}/s), ${sum('leased')} in progress, ${waiting} waiting, ` +
        `${sum('failed')} failed${isResting ? `; no domain is due: each rests ${config.politenessDelaySeconds} s between requests` : ''}${away.length > 0 ? `; no answer from ${away.join(', ')}` : ''}`,
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
  moved: 'its pods run on another machine now',
  failed: 'stopped by a failure',
};

function wordsOf({ reason, incomplete }: PodsResult): string {
  return reason === 'exhausted' && incomplete.length > 0 ? 'the other pods have nothing left to crawl' : WORDS[reason];
}

/** Failures by code; the worker logs have each case. */
function failureLines({ failed, errors, lostWorkers }: PodsResult): string[] {
  if (failed === 0) return [];
  const codes = Object.entries(errors).sort(([, a], [, b]) => b - a);
  const list = codes.map(([code, count]) => `${code} × ${countText(count)}`).join(', ');
  const remedy = errors.ADDRESS_REFUSED
    ? '. To crawl private addresses, use --allow-private or allow_private_addresses'
    : '';
  const lost = lostWorkers > 0 ? `, of which ${countOf(lostWorkers, 'page')} ended their worker` : '';
  return [`${countText(failed)} failed${lost}${list === '' ? '' : `: ${list}`}${remedy}`];
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
  if (!first) return reason === 'failed' || reason === 'moved' ? EXIT.misuse : EXIT.done;
  return exitCodeOf(new CrawlError(first.code, first.message));
}
