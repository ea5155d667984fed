// The configuration of a crawl on pods: file, then test_mode, then flags; checked, resolved and frozen before anything
// starts. Promise: one error lists every problem, and the result needs no further checks.
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { CrawlError } from '../../errors.js';
import { findOrderConflicts } from '../../crawl/order/options.js';
import { parseByteSize } from '../../option-checks.js';
import { findDiskProblems, findStoreProblems, roomyHandoffDir } from './checks.js';
import { type ConfigFile, readConfigFile, readConfigText } from './file.js';
import { type Layers, layersOf } from './layers.js';
import { camelCase, SETTING_DEFAULTS } from './keys.js';
import { resolveStores } from './stores.js';
import { SKIPPED_BESIDE_DOCUMENTS, SKIPPED_EXTENSIONS } from './skipped-extensions.js';
import type { PodsConfig, PodsFlags, PodsSettings, PodsWatch } from './types.js';
import { requestsPerHour } from '../../crawl/watch/budget.js';
import { parsePodRange, podsOfHostname } from '../topology.js';

export type { PodsConfig, PodsFlags, PodsSettings } from './types.js';

/** `OPTION_INVALID` with a list of problems. */
export class PodsConfigError extends CrawlError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super('OPTION_INVALID', problems.join('; '));
    this.problems = Object.freeze([...problems]);
  }
}

export interface ReadingOptions {
  /** Also connect to the stores of this machine's pods and the coordinator's: version, mode, eviction. Default false. */
  readonly checkStores?: boolean;
  /** False for commands that only look at a crawl: they need no e-mail, seeds or writable folders. Default true. */
  readonly isToRun?: boolean;
  /** Base of relative paths in flags. Default: the working directory. */
  readonly workingDir?: string;
  readonly warn?: (message: string) => void;
  /** In place of the file's content: the file need not exist here. */
  readonly text?: string;
}

const NO_FILE: ConfigFile = { values: {}, wrong: new Set() };
const DEFAULT_DATA_DIR = './crawler_data';

/**
 * Reads a configuration: from the file if given, flags and defaults.
 *
 * Relative paths in the file start at its folder, those in flags at the working directory.
 *
 * @example
 * const config = await readPodsConfig('crawl.yaml', { maxPages: 1000 });
 */
export async function readPodsConfig(
  file: string | undefined,
  flags: PodsFlags = {},
  options: ReadingOptions = {},
): Promise<PodsConfig> {
  const { workingDir = process.cwd(), isToRun = true, warn = () => undefined } = options;
  const problems: string[] = [];
  const configFile = file === undefined ? undefined : resolve(workingDir, file);
  const read =
    configFile === undefined
      ? NO_FILE
      : options.text === undefined
        ? await readConfigFile(configFile, problems)
        : await readConfigText(options.text, configFile, problems);
  if (read === undefined) throw new PodsConfigError(problems);
  const layers = layersOf(read, flags, { configFile, workingDir }, problems);
  const config = resolved(layers, flags, configFile, problems, isToRun);
  if (isToRun) await findDiskProblems(config, problems);
  if (options.checkStores === true && config.pods.length > 0) await findStoreProblems(config, problems, warn);
  if (problems.length > 0) throw new PodsConfigError(problems);
  return Object.freeze({ ...config, handoffDir: layers.path('handoff_dir') ?? (await roomyHandoffDir(config)) });
}

function resolved(
  layers: Layers,
  flags: PodsFlags,
  configFile: string | undefined,
  problems: string[],
  isToRun: boolean,
): PodsConfig {
  const dataDirs = layers.paths('data_dirs') ?? [layers.fromHere(DEFAULT_DATA_DIR)];
  const [firstDataDir] = dataDirs as [string];
  if (new Set(dataDirs).size < dataDirs.length) problems.push('data_dirs lists a folder twice');
  const pods = resolveStores(layers, flags, firstDataDir, problems);
  const email = (layers.value('email') as string | undefined)?.trim();
  if (isToRun && email === undefined && !layers.isWrong('email')) {
    problems.push('email is missing: sites must be able to contact you (email: in the file, or --email)');
  }
  const settings = resolvedSettings(
    layers,
    pods.some(({ kind }) => kind === 'embedded'),
  );
  const seedFile = layers.path('seed_file');
  if (isToRun && seedFile === undefined && !settings.resume && !layers.isWrong('seed_file')) {
    problems.push('seeds are missing: give a file of URLs or domains (seed_file: in the file, or --seed-file)');
  }
  if (flags.fresh === true && settings.resume) {
    problems.push('--fresh and resume contradict each other: one empties the stores, the other continues the crawl');
  }
  checkTogether(settings, pods, problems);
  checkWatch(settings, layers.path('handler'), problems);
  const stateDir = layers.path('state_dir') ?? join(firstDataDir, 'state');
  return {
    ...settings,
    configFile,
    pods: Object.freeze(pods),
    ownPods: Object.freeze(ownPods(flags, pods, problems)),
    dataDirs: Object.freeze(dataDirs),
    logDir: layers.path('log_dir') ?? join(firstDataDir, 'logs'),
    stateDir,
    handoffDir: join(stateDir, 'handoff'),
    seedFile,
    excludeFile: layers.path('exclude_file'),
    handler: layers.path('handler'),
    email: email ?? '',
    userAgent: settings.userAgentTemplate.replaceAll('{email}', email ?? ''),
    browserMemoryLimit: byteCount(layers.value('browser_memory_limit') ?? '2G'),
    fetcherMemoryLimit: byteCount(layers.value('fetcher_memory_limit') ?? '2G'),
    parserMemoryLimit: byteCount(layers.value('parser_memory_limit') ?? '4G'),
    orchestratorMemoryLimit: byteCount(layers.value('orchestrator_memory_limit') ?? '2G'),
    fresh: flags.fresh === true,
    givenKeys: Object.freeze(layers.keys()),
    isTest: layers.isTest,
  };
}

function resolvedSettings(layers: Layers, isEmbedded: boolean): PodsSettings {
  const settings: Record<string, unknown> = { ...SETTING_DEFAULTS };
  // An embedded store has one owner: its fetcher.
  // The worker of a watch decides for its pod alone.
  if (isEmbedded || layers.value('watch') !== undefined) settings.fetchersPerPod = 1;
  for (const key of layers.keys()) {
    const name = camelCase(key);
    if (name in SETTING_DEFAULTS) settings[name] = layers.value(key);
  }
  settings.watch = resolvedWatch(settings.watch as Record<string, unknown> | undefined);
  // Who names none wants documents visited, if they are read.
  if (settings.documents !== false && settings.skipExtensions === SKIPPED_EXTENSIONS) {
    settings.skipExtensions = SKIPPED_BESIDE_DOCUMENTS;
  }
  settings.skipExtensions = Object.freeze(
    (settings.skipExtensions as readonly string[]).map((ending) => ending.replace(/^\./, '').toLowerCase()),
  );
  return settings as unknown as PodsSettings;
}

function resolvedWatch(given: Record<string, unknown> | undefined): PodsWatch | undefined {
  if (given === undefined) return undefined;
  return Object.freeze({
    // None is a problem of its own: see below.
    requestsPerHour: requestsPerHour(String(given.budget)) ?? 0,
    importance: (given.importance ?? 'none') as PodsWatch['importance'],
    diff: given.diff === true,
    webhook: given.webhook as string | undefined,
    hints: (given.hints ?? true) as PodsWatch['hints'],
  });
}

/** What a watch needs: one process per pod that plans and remembers exactly. */
function checkWatch(settings: PodsSettings, handler: string | undefined, problems: string[]): void {
  if (!settings.watch) return;
  const { fetchersPerPod, parsersPerPod, engine, dedup, maxUrlsPerDomain, watch } = settings;
  if (watch.requestsPerHour === 0) problems.push('watch.budget is missing: how many requests to spend, such as 500/h');
  if (watch.importance === 'handler' && handler === undefined)
    problems.push('watch.importance: handler needs handler: the module whose export "importance" weighs pages');
  if (fetchersPerPod !== 1) problems.push(`fetchers_per_pod must be 1 with watch, got ${fetchersPerPod}: add pods`);
  if (parsersPerPod !== 0) problems.push(`parsers_per_pod must be 0 with watch, got ${parsersPerPod}`);
  if (engine !== 'http')
    problems.push(`engine must be http with watch, got ${engine}: pages in a browser are not compared`);
  if (dedup === 'bloom')
    problems.push('dedup must be exact with watch: a visit taken for an earlier one would be lost');
  if (maxUrlsPerDomain !== undefined)
    problems.push('max_urls_per_domain has no place in a watch: every visit would count');
}

/** Checks that involve several keys. */
function checkTogether(settings: PodsSettings, pods: PodsConfig['pods'], problems: string[]): void {
  const { userAgentTemplate, globalCoordinationRedisPod, parsersPerPod, fetchersPerPod } = settings;
  problems.push(...findOrderConflicts('configuration', settings));
  if (!userAgentTemplate.includes('{email}')) {
    problems.push('user_agent_template must contain {email}: sites must be able to contact you');
  }
  if (!/^[\x20-\x7e]+$/.test(userAgentTemplate)) {
    problems.push('user_agent_template must be printable ASCII: it becomes a header');
  }
  if (settings.content !== undefined && settings.contentLayout === 'files') {
    problems.push('content needs content_layout: segments: an object per page would be slow and expensive');
  }
  if (settings.parseQueueSoftLimit >= settings.parseQueueHardLimit) {
    problems.push('parse_queue_soft_limit must be below parse_queue_hard_limit');
  }
  if (pods.length > 0 && globalCoordinationRedisPod >= pods.length) {
    problems.push(
      `global_coordination_redis_pod is ${globalCoordinationRedisPod}, but the last pod is ${pods.length - 1}`,
    );
  }
  const { engine, browsersPerPod } = settings;
  if (engine !== 'http' && parsersPerPod > 0) {
    problems.push(`parsers_per_pod must be 0 with engine: ${engine}: pages are read where their browser is`);
  }
  if (engine !== 'http' && browsersPerPod !== undefined && browsersPerPod < fetchersPerPod) {
    problems.push(`browsers_per_pod is ${browsersPerPod}, but each of the ${fetchersPerPod} fetchers needs its own`);
  }
  if (!pods.some(({ kind }) => kind === 'embedded')) {
    const { redisMaxConnections } = settings;
    // Every worker has one connection per store; an orchestrator has two, one of them for seeds.
    const perStore = pods.length * (fetchersPerPod + parsersPerPod) + 2 * pods.length;
    const needed = perStore * storesPerServer(pods);
    if (needed > redisMaxConnections) {
      problems.push(
        `redis_max_connections is ${redisMaxConnections}, but ${pods.length} pods of ${fetchersPerPod} fetchers and ` +
          `${parsersPerPod} parsers need up to ${needed} connections to one Redis`,
      );
    }
    return;
  }
  if (settings.durability === 'replicated') {
    problems.push('durability: replicated needs pods in Redis: an embedded pod has no replica, use machine');
  }
  if (fetchersPerPod !== 1) {
    problems.push(`fetchers_per_pod must be 1 with embedded pods, got ${fetchersPerPod}: more need a Redis per pod`);
  }
  if (parsersPerPod !== 0) {
    problems.push(`parsers_per_pod must be 0 with embedded pods, got ${parsersPerPod}: parsers need a Redis per pod`);
  }
}

/** At most, where pods share servers. A cluster has at least three masters. */
function storesPerServer(pods: PodsConfig['pods']): number {
  const [first] = pods;
  if (first?.kind !== 'redis' || first.prefix === '') return 1;
  return first.redisUrl.includes('+cluster:') ? Math.ceil(pods.length / LEAST_MASTERS) : pods.length;
}

const LEAST_MASTERS = 3;

function ownPods(flags: PodsFlags, pods: PodsConfig['pods'], problems: string[]): number[] {
  const all = pods.map((_, index) => index);
  const { pods: list, podsFromHostname: perMachine } = flags;
  if ((list === undefined && perMachine === undefined) || pods.length === 0) return all;
  if (list !== undefined && perMachine !== undefined)
    problems.push('--pods and --pods-from-hostname contradict each other');
  try {
    const chosen =
      list === undefined
        ? podsOfHostname(process.env.HOSTNAME || hostname(), perMachine!, pods.length)
        : parsePodRange(list, pods.length);
    if (pods[0]!.kind === 'embedded' && chosen.length < pods.length) {
      problems.push('--pods must list all pods if they are embedded: their stores are on one machine');
    }
    return chosen;
  } catch (error) {
    problems.push(`${list === undefined ? '--pods-from-hostname' : '--pods'}: ${(error as Error).message}`);
    return all;
  }
}

function byteCount(value: unknown): number {
  return typeof value === 'number' ? value : parseByteSize(value)!;
}
