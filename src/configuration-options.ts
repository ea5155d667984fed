// The settings of a Configuration: their types, checks, defaults and environment variables, as data.
// Every name Crawlee 3 knows is here, so that its scripts and its environment work unchanged.
import {
  aBoolean,
  aFilledString,
  aNumber,
  anObject,
  anyOf,
  aString,
  aWholeNumber,
  check,
  oneOf,
} from './option-checks.js';
import { objectWith } from './option-checks.js';
import type { ShapeOf } from './option-checks.js';
import type { EventManagerLike } from './event-names.js';
import type { StorageClient } from './storage-client.js';

/** The names of the log levels, in order: `LOG_LEVEL_NAMES[4]` is INFO. */
export const LOG_LEVEL_NAMES = ['OFF', 'ERROR', 'SOFT_FAIL', 'WARNING', 'INFO', 'DEBUG', 'PERF'] as const;
/** The name of a log level. */
export type LogLevelName = (typeof LOG_LEVEL_NAMES)[number];

/** Name, TCP and TLS of a request together take no longer. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** How long a silent process keeps what it holds. Shorter than a connection may take, leases would run out on the way. */
export const aLeaseInSecs = check(
  `a number of seconds above ${CONNECT_TIMEOUT_MS / 1_000}, which a request may wait for its connection`,
  (value) => typeof value === 'number' && Number.isFinite(value) && value * 1_000 > CONNECT_TIMEOUT_MS,
);

/** When the default storages are emptied; `'finished'` means: if the last run ended by itself. */
export type PurgeOnStart = 'finished' | boolean;

/** Where the storages of a Configuration are. */
export interface StorageClientOptions {
  /** The folder of `datasets/`, `key_value_stores/` and `request_queues/`. Default `./storage`. */
  localDataDirectory?: string;
  /** The same as the setting of that name. */
  persistStorage?: boolean;
}

/** Every setting; see docs/storage.md for the table with defaults and environment variables. */
export interface ConfigurationOptions {
  /** Keep storages on disk; `false` keeps them in memory and loses them with the process. Default true. */
  persistStorage?: boolean;
  /** Default `'finished'`. */
  purgeOnStart?: PurgeOnStart;
  /** The dataset that `pushData` writes to. Default `default`. */
  defaultDatasetId?: string;
  /** The store of `KeyValueStore.open()` without a name. Default `default`. */
  defaultKeyValueStoreId?: string;
  /** The queue of `RequestQueue.open()` without a name. Default `default`. */
  defaultRequestQueueId?: string;
  /** The record that holds a run's input. Default `INPUT`. */
  inputKey?: string;
  /** Memory the crawl may use, in megabytes; otherwise the container's, or a part of the machine's. */
  memoryMbytes?: number;
  /** The part of the machine's memory the crawl may use when `memoryMbytes` is not set. Default 0.25. */
  availableMemoryRatio?: number;
  /** Above this the CPU counts as overloaded. Default 0.95. */
  maxUsedCpuRatio?: number;
  /** A number from `LogLevel` or its name. Default INFO. */
  logLevel?: number | LogLevelName;
  /** One line of text an event, or one JSON object per line. Default TEXT. */
  logFormat?: 'TEXT' | 'JSON';
  /** Log whole stacks of errors that will be retried. */
  verboseLog?: boolean;
  /** How often state is saved. Default 60,000. */
  persistStateIntervalMillis?: number;
  /** How often load is measured. Default 1,000. */
  systemInfoIntervalMillis?: number;
  /** Limit for internal operations of a crawler, such as a call of the queue. */
  internalTimeoutMillis?: number;
  /** Where storages lie on disk. */
  storageClientOptions?: StorageClientOptions;
  /** Queues, datasets and key-value stores live in this backend; it wins over the folder, memory and `redisUrl`. */
  storageClient?: StorageClient;
  /** Request queues live in this Redis instead of on disk: `redis://`, `rediss://`, `unix://` and more (docs/pods-redis.md). */
  redisUrl?: string;
  /** Whether browsers run without a window. Default true. */
  headless?: boolean;
  /** Accepted for Crawlee scripts. */
  xvfb?: boolean;
  /** The browser of `useChrome`. */
  chromeExecutablePath?: string;
  /** The browser to start, unless the crawler's own options name one. Default: what is found. */
  defaultBrowserPath?: string;
  /** Starts browsers without their sandbox: only where the pages are your own. */
  disableBrowserSandbox?: boolean;
  /** Treat this process as running in a container, or not, whatever the detection says. */
  containerized?: boolean;
  /** Hears what crawlers announce, instead of the manager that `getEventManager()` would make. */
  eventManager?: EventManagerLike;
  /** From Crawlee, without effect: load is always measured as a container sees it. */
  systemInfoV2?: boolean;
}

/** The name of a setting. */
export type ConfigurationKey = keyof ConfigurationOptions;

export const CONFIGURATION_DEFAULTS = Object.freeze({
  persistStorage: true,
  purgeOnStart: 'finished' as PurgeOnStart,
  defaultDatasetId: 'default',
  defaultKeyValueStoreId: 'default',
  defaultRequestQueueId: 'default',
  inputKey: 'INPUT',
  availableMemoryRatio: 0.25,
  maxUsedCpuRatio: 0.95,
  logLevel: 'INFO' as number | LogLevelName,
  logFormat: 'TEXT' as 'TEXT' | 'JSON',
  verboseLog: false,
  persistStateIntervalMillis: 60_000,
  systemInfoIntervalMillis: 1_000,
  storageClientOptions: Object.freeze({}) as StorageClientOptions,
  headless: true,
}) satisfies ConfigurationOptions;

/** Keys that always have a value. */
export type DefaultedKey = keyof typeof CONFIGURATION_DEFAULTS;

const aRatio = check('a number above 0, at most 1', (v) => typeof v === 'number' && v > 0 && v <= 1);
// setInterval takes a 32-bit delay; more would fire at once.
const anInterval = aWholeNumber({ from: 1, to: 2_147_483_647 });
const storageFolders = check('an object with localDataDirectory and persistStorage, nothing else', (value) => {
  if (!anObject.accepts(value)) return false;
  const { localDataDirectory, persistStorage, ...rest } = value as Record<string, unknown>;
  // Crawlee's other key there, `writeMetadata`, changes nothing here: there is no metadata to write.
  const unknown = Object.keys(rest).filter((name) => name !== 'writeMetadata');
  return (
    unknown.length === 0 &&
    (localDataDirectory === undefined || aFilledString.accepts(localDataDirectory)) &&
    (persistStorage === undefined || aBoolean.accepts(persistStorage))
  );
});

const REDIS_ADDRESS = /^(?:rediss?(?:\+sentinel|\+cluster)?:\/\/|unix:)/i;

export const CONFIGURATION_SHAPE: ShapeOf<ConfigurationOptions> = {
  persistStorage: aBoolean,
  purgeOnStart: oneOf(['finished', true, false]),
  defaultDatasetId: aFilledString,
  defaultKeyValueStoreId: aFilledString,
  defaultRequestQueueId: aFilledString,
  inputKey: aFilledString,
  memoryMbytes: aNumber({ above: 0 }),
  availableMemoryRatio: aRatio,
  maxUsedCpuRatio: aRatio,
  logLevel: anyOf(aWholeNumber({ from: 0, to: LOG_LEVEL_NAMES.length - 1 }), oneOf(LOG_LEVEL_NAMES)),
  logFormat: oneOf(['TEXT', 'JSON']),
  verboseLog: aBoolean,
  persistStateIntervalMillis: anInterval,
  systemInfoIntervalMillis: aNumber({ above: 0, to: 2 ** 31 - 1 }),
  internalTimeoutMillis: anInterval,
  storageClientOptions: storageFolders,
  storageClient: objectWith("a StorageClient, for Crawlee's see docs/from-crawlee.md", [
    'openFrontier',
    'segments',
    'records',
  ]),
  redisUrl: check(
    'an address such as redis://localhost:6379',
    (v) => aString.accepts(v) && REDIS_ADDRESS.test(v as string),
  ),
  headless: aBoolean,
  xvfb: aBoolean,
  chromeExecutablePath: aFilledString,
  defaultBrowserPath: aFilledString,
  disableBrowserSandbox: aBoolean,
  containerized: aBoolean,
  eventManager: objectWith('an event manager', ['on', 'off', 'emit']),
  systemInfoV2: aBoolean,
};

/** Each key with the part of its variable's name after `ORCRAWL_` or `CRAWLEE_`. */
export const ENVIRONMENT_NAMES: Readonly<Partial<Record<ConfigurationKey, string>>> = {
  persistStorage: 'PERSIST_STORAGE',
  purgeOnStart: 'PURGE_ON_START',
  defaultDatasetId: 'DEFAULT_DATASET_ID',
  defaultKeyValueStoreId: 'DEFAULT_KEY_VALUE_STORE_ID',
  defaultRequestQueueId: 'DEFAULT_REQUEST_QUEUE_ID',
  inputKey: 'INPUT_KEY',
  memoryMbytes: 'MEMORY_MBYTES',
  availableMemoryRatio: 'AVAILABLE_MEMORY_RATIO',
  maxUsedCpuRatio: 'MAX_USED_CPU_RATIO',
  logLevel: 'LOG_LEVEL',
  logFormat: 'LOG_FORMAT',
  verboseLog: 'VERBOSE_LOG',
  persistStateIntervalMillis: 'PERSIST_STATE_INTERVAL_MILLIS',
  systemInfoIntervalMillis: 'SYSTEM_INFO_INTERVAL_MILLIS',
  internalTimeoutMillis: 'INTERNAL_TIMEOUT',
  redisUrl: 'REDIS_URL',
  headless: 'HEADLESS',
  xvfb: 'XVFB',
  chromeExecutablePath: 'CHROME_EXECUTABLE_PATH',
  defaultBrowserPath: 'DEFAULT_BROWSER_PATH',
  systemInfoV2: 'SYSTEM_INFO_V2',
  disableBrowserSandbox: 'DISABLE_BROWSER_SANDBOX',
  containerized: 'CONTAINERIZED',
};

/** The variable of `storageClientOptions.localDataDirectory`. */
export const STORAGE_DIR_NAME = 'STORAGE_DIR';

const BOOLEANS: ReadonlySet<ConfigurationKey> = new Set([
  'persistStorage',
  'verboseLog',
  'headless',
  'xvfb',
  'disableBrowserSandbox',
  'containerized',
]);
const NUMBERS: ReadonlySet<ConfigurationKey> = new Set([
  'memoryMbytes',
  'availableMemoryRatio',
  'maxUsedCpuRatio',
  'persistStateIntervalMillis',
  'systemInfoIntervalMillis',
  'internalTimeoutMillis',
]);

/** A variable's text as the value of `key`, or undefined when it stands for "not set". */
export function fromEnvironmentText(key: ConfigurationKey, text: string): unknown {
  if (BOOLEANS.has(key)) return asBoolean(text);
  if (key === 'purgeOnStart') return text.toLowerCase() === 'finished' ? 'finished' : asBoolean(text);
  if (text === '') return undefined;
  if (NUMBERS.has(key)) return Number(text);
  if (key === 'logLevel') return /^\d+$/.test(text) ? Number(text) : logLevelName(text);
  if (key === 'logFormat') return text.toUpperCase();
  return text;
}

/** As Crawlee reads them: nothing, 0 and false in any case are false, everything else is true. */
function asBoolean(text: string): boolean {
  return !['', '0', 'false'].includes(text.toLowerCase());
}

function logLevelName(text: string): string {
  const name = text.toUpperCase();
  return name === 'WARN' ? 'WARNING' : name;
}
