// `orcrawl status --config FILE`: show the state of a crawl on pods: pods, stores, queues, rates, what is dead, time left.
// Promise: reads only, and ends within seconds, whatever is down.
import type { Command } from 'commander';
import { existsSync } from 'node:fs';
import { isAlive } from '../../../base/alive.js';
import type { PodReading } from '../../../frontier/redis/pod-operations.js';
import { countOf, countText, durationText, rateText } from '../../../observe/figures.js';
import { type PodsConfig, readPodsConfig } from '../../../pods/config/config.js';
import type { PodStatus, ProcessCount, RunStatus } from '../../../pods/supervise/status-file.js';
import { EXIT } from '../../exit-codes.js';
import { addStoreFlags, type ConfigFlags, reportConfigProblems } from '../../pods-flags.js';
import { say, shown } from '../../terminal.js';

interface StatusFlags extends ConfigFlags {
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  $ orcrawl status --config crawl.yaml
  $ watch -n 5 orcrawl status --config crawl.yaml        again and again
  $ orcrawl status --config crawl.yaml --json | jq '.pods[].reading'
`;
const EXIT_CODES =
  '\nExit codes: 0 everything runs, 1 nothing is known or running, 2 a pod has stopped or a store is away.\n';

export function addStatusCommand(program: Command, onExit: (code: number) => void): void {
  addStoreFlags(
    program
      .command('status')
      .summary('show the state of a crawl on pods')
      .description(
        'Shows the pods of a crawl: stores, queues, rates, processes, what is dead, and the time to its limits. ' +
          'Run it on a machine of the crawl; pods of other machines are read from their stores.',
      )
      .requiredOption('--config <FILE>', 'the YAML file')
      .option('--log-dir <DIR>', 'the --log-dir of the run, if it had one')
      .option('--json', 'everything as one JSON object'),
  )
    .addHelpText('after', EXAMPLES + EXIT_CODES)
    .action(async (flags: StatusFlags) => onExit(await status(flags)));
}

/** A pod as far as it is known. */
type KnownPod = Partial<PodStatus> & Pick<PodStatus, 'pod' | 'where' | 'reading'>;

async function status(flags: StatusFlags): Promise<number> {
  const config = await readPodsConfig(flags.config, flags, { isToRun: false }).catch((error: unknown) => {
    reportConfigProblems(error);
    return undefined;
  });
  if (!config) return EXIT.misuse;
  const { readStatus } = await import('../../../pods/supervise/status-file.js');
  const { readReport } = await import('../../../pods/supervise/incomplete.js');
  const written = await readStatus(config.logDir);
  const run = written && isAlive(written.pid) ? written : undefined;
  const pods = await knownPods(config, run);
  const report = run ? undefined : await readReport(config);
  if (flags.json) say(JSON.stringify({ running: run !== undefined, ...run, pods, report }));
  else
    for (const line of [...headLines(config, run, written, report), ...podLines(config, pods), ...totalLines(pods)])
      say(line);
  const isKnown = run !== undefined || pods.some(({ reading }) => reading !== undefined);
  if (!isKnown) return EXIT.misuse;
  return pods.some(({ reading, failure }) => reading === undefined || failure !== undefined)
    ? EXIT.someFailed
    : EXIT.done;
}

/** Those of the run here, and the others from their stores; embedded stores only their run can read. */
async function knownPods(config: PodsConfig, run: RunStatus | undefined): Promise<KnownPod[]> {
  const { readPods } = await import('../../../pods/operate/pod-readings.js');
  const here = new Map((run?.pods ?? []).map((pod) => [pod.pod, pod]));
  const missing = config.pods.flatMap((_, pod) => (here.has(pod) ? [] : [pod]));
  const read = await readPods(config, missing);
  return config.pods.map((store, pod): KnownPod => {
    const where = store.kind === 'redis' ? store.where : store.path;
    return here.get(pod) ?? { pod, where, reading: read.get(pod) };
  });
}

function headLines(
  config: PodsConfig,
  run: RunStatus | undefined,
  written: RunStatus | undefined,
  report: Readonly<Record<string, unknown>> | undefined,
): string[] {
  if (!run) {
    if (report) {
      const { pages, reason, ended } = report;
      return [
        `Not running here. The last run ended ${shown(String(ended))}: ${shown(String(reason))}, ${countOf(Number(pages), 'page')} in all.`,
      ];
    }
    return [
      written
        ? `Process ${written.pid} is gone: the run was killed. --resume continues it.`
        : 'Not running on this machine. To start it: orcrawl run --config FILE',
    ];
  }
  const passedMs = Date.parse(run.updatedAt) - Date.parse(run.startedAt);
  const lines = [
    `Running for ${durationText(passedMs)} (process ${run.pid}), crawl ${run.crawl}`,
    `${countOf(run.pages, 'page')}, ${rateText(run.pagesPerSec)}/s`,
  ];
  const left = timeLeft(run, passedMs);
  if (left !== undefined) lines.push(left);
  if (run.metrics !== undefined) lines.push(`Metrics at ${run.metrics}, logs in ${shown(config.logDir)}`);
  return lines;
}

/** When the crawl reaches its limits, at this rate. */
function timeLeft({ maxPages, maxDurationSecs, pages, pagesPerSec }: RunStatus, passedMs: number): string | undefined {
  const parts: string[] = [];
  if (maxPages !== undefined) {
    const missing = Math.max(0, maxPages - pages);
    const when = pagesPerSec > 0 ? `in about ${durationText((missing * 1_000) / pagesPerSec)}` : 'not at this rate';
    parts.push(`${countOf(missing, 'page')} to max_pages, ${when}`);
  }
  if (maxDurationSecs !== undefined) {
    parts.push(`max_duration in ${durationText(Math.max(0, maxDurationSecs * 1_000 - passedMs))}`);
  }
  return parts.length === 0 ? undefined : `Stops: ${parts.join('; ')}`;
}

export function podLines(config: Pick<PodsConfig, 'pods'>, pods: readonly KnownPod[]): string[] {
  return pods.flatMap(({ pod, where, reading, pagesPerSec, fetchers, parsers, failure }) => {
    const isEmbedded = config.pods[pod]?.kind === 'embedded';
    const head = `  pod ${pod}  ${shown(where)}`;
    const processes = [processText(fetchers, 'fetcher'), processText(parsers, 'parser')].filter(Boolean).join(', ');
    const lines = [
      reading
        ? `${head}  ${countOf(reading.done, 'page')}${pagesPerSec === undefined ? '' : ` (${rateText(pagesPerSec)}/s)`}, ${waiting(reading, isEmbedded)}`
        : `${head}  ${isEmbedded && !existsSync(where) ? 'has not started yet' : 'STORE DOES NOT ANSWER'}`,
    ];
    if (processes !== '') lines.push(`         ${processes}`);
    if (failure) lines.push(`         STOPPED: ${failure.code}, ${shown(failure.message, 300)}`);
    return lines;
  });
}

function waiting(reading: PodReading, isEmbedded: boolean): string {
  const { queued, retrying, leased, parsing, outbox, spilled, failed, skipped, dueDomains, lostWorkers } = reading;
  return [
    `${countText(queued + retrying)} waiting`,
    `${countText(leased - parsing)} in progress`,
    ...(parsing > 0 ? [`${countText(parsing)} to parse`] : []),
    ...(spilled > 0 ? [`${countText(spilled)} on disk`] : []),
    ...(outbox > 0 ? [`${countOf(outbox, 'link')} for pods that are away`] : []),
    // Embedded stores do not count them.
    ...(isEmbedded ? [] : [`${countOf(dueDomains, 'domain')} due`]),
    `${countText(failed)} failed${lostWorkers > 0 ? ` (${countText(lostWorkers)} ended their worker)` : ''}`,
    `${countText(skipped)} skipped`,
  ].join(', ');
}

function processText(count: ProcessCount | undefined, role: string): string {
  if (!count || count.wanted === 0) return '';
  const restarts = count.restarts > 0 ? ` (${countOf(count.restarts, 'restart')})` : '';
  return `${count.running} of ${countOf(count.wanted, role)} running${restarts}`;
}

function totalLines(pods: readonly KnownPod[]): string[] {
  const known = pods.flatMap(({ reading }) => (reading ? [reading] : []));
  if (pods.length < 2 || known.length === 0) return [];
  const sum = (of: (reading: PodReading) => number): string => countText(known.reduce((all, one) => all + of(one), 0));
  return [
    `  all    ${sum(({ done }) => done)} pages, ${sum((one) => one.queued + one.retrying)} waiting, ` +
      `${sum(({ failed }) => failed)} failed, ${sum(({ skipped }) => skipped)} skipped`,
  ];
}
