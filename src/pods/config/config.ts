// The configuration of a crawl on pods: file, then test_mode, then flags; checked, resolved and frozen before anything
// starts. Promise: one error lists every problem, and the result needs no further checks.
import { join, resolve } from 'node:path';
import { CrawlError } from '../../errors.js';
import { parseByteSize } from '../../option-checks.js';
import { findDiskProblems, findStoreProblems, roomyHandoffDir } from './checks.js';
import { type ConfigFile, readConfigFile } from './file.js';
import { type Layers, layersOf } from './layers.js';
import { camelCase, SETTING_DEFAULTS } from './keys.js';
import { resolveStores } from './stores.js';
import type { PodsConfig, PodsFlags, PodsSettings } from './types.js';
import { parsePodRange } from '../topology.js';

export type { PodsConfig, PodsFlags, PodsLogLevel, PodsSettings, PodStore } from './types.js';

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
  /** Base of relative paths in flags. Default: the working directory. */
  readonly workingDir?: string;
  readonly warn?: (message: string) => void;
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
  const { workingDir = process.cwd(), warn = () => undefined } = options;
  const problems: string[] = [];
  const configFile = file === undefined ? undefined : resolve(workingDir, file);
  const read = configFile === undefined ? NO_FILE : await readConfigFile(configFile, problems);
  if (read === undefined) throw new PodsConfigError(problems);
  const layers = layersOf(read, flags, { configFile, workingDir }, problems);
  const config = resolved(layers, flags, configFile, problems);
  await findDiskProblems(config, problems);
  if (options.checkStores === true && config.pods.length > 0) await findStoreProblems(config, problems, warn);
  if (problems.length > 0) throw new PodsConfigError(problems);
  return Object.freeze({ ...config, handoffDir: layers.path('handoff_dir') ?? (await roomyHandoffDir(config)) });
}

function resolved(layers: Layers, flags: PodsFlags, configFile: string | undefined, problems: string[]): PodsConfig {
  const dataDirs = layers.paths('data_dirs') ?? [layers.fromHere(DEFAULT_DATA_DIR)];
  const [firstDataDir] = dataDirs as [string];
  if (new Set(dataDirs).size < dataDirs.length) problems.push('data_dirs lists a folder twice');
  const pods = resolveStores(layers, flags, firstDataDir, problems);
  const email = (layers.value('email') as string | undefined)?.trim();
  if (email === undefined && !layers.isWrong('email')) {
    problems.push('email is missing: sites must be able to contact you (email: in the file, or --email)');
  }
  const settings = resolvedSettings(
    layers,
    pods.some(({ kind }) => kind === 'embedded'),
  );
  const seedFile = layers.path('seed_file');
  if (seedFile === undefined && !settings.resume && !layers.isWrong('seed_file')) {
    problems.push('seeds are missing: give a file of URLs or domains (seed_file: in the file, or --seed-file)');
  }
  if (flags.fresh === true && settings.resume) {
    problems.push('--fresh and resume contradict each other: one empties the stores, the other continues the crawl');
  }
  checkTogether(settings, pods, problems);
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
    fetcherMemoryLimit: byteCount(layers.value('fetcher_memory_limit') ?? '2G'),
    parserMemoryLimit: byteCount(layers.value('parser_memory_limit') ?? '4G'),
    orchestratorMemoryLimit: byteCount(layers.value('orchestrator_memory_limit') ?? '2G'),
    fresh: flags.fresh === true,
  };
}

function resolvedSettings(layers: Layers, isEmbedded: boolean): PodsSettings {
  const settings: Record<string, unknown> = { ...SETTING_DEFAULTS };
  // An embedded store has one owner: its fetcher.
  if (isEmbedded) settings.fetchersPerPod = 1;
  for (const key of layers.keys()) {
    const name = camelCase(key);
    if (name in SETTING_DEFAULTS) settings[name] = layers.value(key);
  }
  settings.skipExtensions = Object.freeze(
    (settings.skipExtensions as readonly string[]).map((ending) => ending.replace(/^\./, '').toLowerCase()),
  );
  return settings as unknown as PodsSettings;
}

/** Checks that involve several keys. */
function checkTogether(settings: PodsSettings, pods: PodsConfig['pods'], problems: string[]): void {
  const { userAgentTemplate, globalCoordinationRedisPod, parsersPerPod, fetchersPerPod } = settings;
  if (!userAgentTemplate.includes('{email}')) {
    problems.push('user_agent_template must contain {email}: sites must be able to contact you');
  }
  if (!/^[\x20-\x7e]+$/.test(userAgentTemplate)) {
    problems.push('user_agent_template must be printable ASCII: it becomes a header');
  }
  if (settings.parseQueueSoftLimit >= settings.parseQueueHardLimit) {
    problems.push('parse_queue_soft_limit must be below parse_queue_hard_limit');
  }
  if (pods.length > 0 && globalCoordinationRedisPod >= pods.length) {
    problems.push(
      `global_coordination_redis_pod is ${globalCoordinationRedisPod}, but the last pod is ${pods.length - 1}`,
    );
  }
  if (!pods.some(({ kind }) => kind === 'embedded')) {
    const { redisMaxConnections } = settings;
    // Every worker has one connection per store; an orchestrator has two, one of them for seeds.
    const needed = pods.length * (fetchersPerPod + parsersPerPod) + 2 * pods.length;
    if (needed > redisMaxConnections) {
      problems.push(
        `redis_max_connections is ${redisMaxConnections}, but ${pods.length} pods of ${fetchersPerPod} fetchers and ` +
          `${parsersPerPod} parsers need up to ${needed} connections to one Redis`,
      );
    }
    return;
  }
  if (fetchersPerPod !== 1) {
    problems.push(`fetchers_per_pod must be 1 with embedded pods, got ${fetchersPerPod}: more need a Redis a pod`);
  }
  if (parsersPerPod !== 0) {
    problems.push(`parsers_per_pod must be 0 with embedded pods, got ${parsersPerPod}: parsers need a Redis a pod`);
  }
}

function ownPods(flags: PodsFlags, pods: PodsConfig['pods'], problems: string[]): number[] {
  const all = pods.map((_, index) => index);
  if (flags.pods === undefined || pods.length === 0) return all;
  try {
    const chosen = parsePodRange(flags.pods, pods.length);
    if (pods[0]!.kind === 'embedded' && chosen.length < pods.length) {
      problems.push('--pods must list all pods if they are embedded: their stores are on one machine');
    }
    return chosen;
  } catch (error) {
    problems.push(`--pods: ${(error as Error).message}`);
    return all;
  }
}

function byteCount(value: unknown): number {
  return typeof value === 'number' ? value : parseByteSize(value)!;
}
