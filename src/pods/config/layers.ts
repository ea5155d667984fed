// Precedence: flags over test_mode over the file. One place to look up a key and the base of its paths.
// Promise: every value returned has passed its key's check, whatever its source.
import { dirname, resolve } from 'node:path';
import { shown } from '../../option-checks.js';
import type { ConfigFile, FilePod, FileShared, FileValues } from './file.js';
import { FILE_KEYS, type FileKey, TEST_MODE_DEFAULTS } from './keys.js';
import type { PodsFlags } from './types.js';

export interface Layers {
  /** The keys with a valid value. */
  keys(): FileKey[];
  /** The value from the first layer that has one. */
  value(key: FileKey): unknown;
  /** It has an invalid value, already reported. */
  isWrong(key: FileKey): boolean;
  path(key: FileKey): string | undefined;
  paths(key: FileKey): string[] | undefined;
  /** A path from the defaults. */
  fromHere(path: string): string;
  /** A path from the file. */
  fromFile(path: string): string;
  /** Those of the file. */
  readonly pods: readonly FilePod[] | undefined;
  readonly cluster: FileShared | undefined;
  readonly sentinel: FileShared | undefined;
  /** `test_mode` is on. */
  readonly isTest: boolean;
  /** How many pods to use, and which setting says so. */
  readonly podLimit: { readonly count: number; readonly said: string } | undefined;
}

/** Flags that stand for a key. */
const FLAG_KEYS: readonly (readonly [flag: keyof PodsFlags, key: FileKey, spelling: string])[] = [
  ['seedFile', 'seed_file', '--seed-file'],
  ['email', 'email', '--email'],
  ['dataDir', 'data_dirs', '--data-dir'],
  ['logDir', 'log_dir', '--log-dir'],
  ['excludeFile', 'exclude_file', '--exclude-file'],
  ['fetcherWorkers', 'fetcher_workers', '--fetcher-workers'],
  ['parserWorkers', 'parser_workers', '--parser-workers'],
  ['maxPages', 'max_pages', '--max-pages'],
  ['maxDuration', 'max_duration', '--max-duration'],
  ['logLevel', 'log_level', '--log-level'],
  ['resume', 'resume', '--resume'],
  ['seededUrlsOnly', 'seeded_urls_only', '--seeded-urls-only'],
  ['numFetcherProcesses', 'fetchers_per_pod', '--num-fetcher-processes'],
  ['numParserProcesses', 'parsers_per_pod', '--num-parser-processes'],
  ['overrideFetchersPerPod', 'fetchers_per_pod', '--override-fetchers-per-pod'],
  ['overrideParsersPerPod', 'parsers_per_pod', '--override-parsers-per-pod'],
  ['allowPrivate', 'allow_private_addresses', '--allow-private'],
  ['redisDb', 'redis_db', '--redis-db'],
  ['redisPassword', 'redis_password', '--redis-password'],
];

export function layersOf(
  { values: file, wrong: wrongInFile }: ConfigFile,
  flags: PodsFlags,
  places: { readonly configFile: string | undefined; readonly workingDir: string },
  problems: string[],
): Layers {
  const fromHere = (path: string): string => resolve(places.workingDir, path);
  const fileDir = places.configFile === undefined ? places.workingDir : dirname(places.configFile);
  const fromFile = (path: string): string => resolve(fileDir, path);
  const wrong = new Set(wrongInFile);
  const byFlag = checkedFlags(flags, wrong, problems);
  const byTest = testModeValues(file);
  const byFile = new Map(Object.entries(file) as [FileKey, unknown][]);
  const value = (key: FileKey): unknown => byFlag.get(key) ?? byTest.get(key) ?? byFile.get(key);
  const start = (key: FileKey): ((path: string) => string) => (byFlag.has(key) ? fromHere : fromFile);

  return {
    keys: () => [...new Set([...byFile.keys(), ...byTest.keys(), ...byFlag.keys()])],
    value,
    isWrong: (key) => wrong.has(key),
    path(key) {
      const path = value(key) as string | undefined;
      return path === undefined ? undefined : start(key)(path);
    },
    paths(key) {
      const paths = value(key) as readonly string[] | undefined;
      return paths === undefined ? undefined : paths.map(start(key));
    },
    fromHere,
    fromFile,
    pods: file.pods,
    cluster: file.cluster,
    sentinel: file.sentinel,
    isTest: file.test_mode?.enabled === true,
    podLimit: podLimit(file, flags, problems),
  };
}

function checkedFlags(flags: PodsFlags, wrong: Set<FileKey>, problems: string[]): Map<FileKey, unknown> {
  const values = new Map<FileKey, unknown>();
  for (const [flag, key, spelling] of FLAG_KEYS) {
    const value = flags[flag];
    if (value === undefined) continue;
    const { accepts, expected } = FILE_KEYS[key];
    const asWritten = key === 'log_level' && typeof value === 'string' ? value.toUpperCase() : value;
    if (accepts(asWritten)) values.set(key, asWritten);
    else {
      wrong.add(key);
      problems.push(`${spelling} must be ${expected}, got ${shown(value)}`);
    }
  }
  return values;
}

function testModeValues({ test_mode: testMode, pods, cluster, sentinel }: FileValues): Map<FileKey, unknown> {
  if (testMode?.enabled !== true) return new Map();
  const { fetchers_per_pod, parsers_per_pod, data_dirs } = { ...TEST_MODE_DEFAULTS, ...testMode };
  const values = new Map<FileKey, unknown>([['data_dirs', data_dirs]]);
  // Embedded pods have one fetcher and no parsers: the defaults must not break them.
  const isShared = cluster !== undefined || sentinel !== undefined;
  const isEmbedded = !isShared && (pods === undefined || pods.every(({ redis_url }) => redis_url === undefined));
  if (!isEmbedded || testMode.fetchers_per_pod !== undefined) values.set('fetchers_per_pod', fetchers_per_pod);
  if (!isEmbedded || testMode.parsers_per_pod !== undefined) values.set('parsers_per_pod', parsers_per_pod);
  return values;
}

function podLimit(
  { test_mode: testMode, pods, pod_count: podCount }: FileValues,
  flags: PodsFlags,
  problems: string[],
): Layers['podLimit'] {
  const { overrideNumPods: count } = flags;
  if (count !== undefined) {
    if (FILE_KEYS.fetchers_per_pod.accepts(count)) return { count, said: '--override-num-pods' };
    problems.push(`--override-num-pods must be ${FILE_KEYS.fetchers_per_pod.expected}, got ${shown(count)}`);
    return undefined;
  }
  if (testMode?.enabled !== true) return undefined;
  const wanted = testMode.num_pods;
  if (wanted !== undefined) return { count: wanted, said: 'test_mode.num_pods' };
  const { num_pods: usual } = TEST_MODE_DEFAULTS;
  return {
    count: Math.min(usual, pods?.length ?? (podCount as number | undefined) ?? usual),
    said: 'test_mode.num_pods',
  };
}
