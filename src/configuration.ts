// Foundation: the settings of a process or of one crawler, from environment, constructor, files and defaults.
// Promise: nothing is read at import; a bad value is an OPTION_INVALID that names where it came from.
import type { EventManagerLike } from './event-names.js';
import type { StorageClient } from './storage-client.js';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CrawlError } from './errors.js';
import { checkOptions, findProblems, optionError } from './option-checks.js';
import {
  CONFIGURATION_DEFAULTS,
  CONFIGURATION_SHAPE,
  ENVIRONMENT_NAMES,
  fromEnvironmentText,
  STORAGE_DIR_NAME,
} from './configuration-options.js';
import type {
  ConfigurationKey,
  ConfigurationOptions,
  DefaultedKey,
  StorageClientOptions,
} from './configuration-options.js';

export type { ConfigurationKey, ConfigurationOptions } from './configuration-options.js';
export type { StorageClientOptions } from './configuration-options.js';
export { LOG_LEVEL_NAMES } from './configuration-options.js';

/** What `get` gives: never undefined for keys with a default. */
export type ConfigurationValue<Key extends ConfigurationKey> = Key extends DefaultedKey
  ? NonNullable<ConfigurationOptions[Key]>
  : ConfigurationOptions[Key];

// The first that is set wins.
const ENVIRONMENT_PREFIXES = ['ORCRAWL_', 'CRAWLEE_'] as const;
/** Later files win over earlier ones, key by key. */
const FILES = ['crawlee.json', 'orcrawl.json'] as const;

let eventManagerOf: (config: Configuration) => EventManagerLike = () => {
  throw new Error('event managers come with the package: import { Configuration } from orcrawl');
};

/** Says how the event manager of a Configuration is made; src/crawlee/events.ts does. */
export function makeEventManagersWith(make: typeof eventManagerOf): void {
  eventManagerOf = make;
}

let storageClientOf: (config: Configuration) => StorageClient | undefined = (config) => config.get('storageClient');

/** Says which client a Configuration without one shows; src/crawlee/storage/storage-manager.ts does. */
export function makeStorageClientsWith(make: typeof storageClientOf): void {
  storageClientOf = make;
}

let globalConfiguration: Configuration | undefined;

/**
 * Settings of a crawler and of storages. The environment wins over what the constructor is given, that
 * over `orcrawl.json`, that over `crawlee.json` (both in the working directory), and those over defaults.
 *
 * @example
 * const config = new Configuration({ persistStorage: false });
 * const crawler = new CheerioCrawler({ requestHandler }, config);
 */
export class Configuration {
  readonly #given: Map<ConfigurationKey, unknown>;
  #fromFiles: ConfigurationOptions | undefined;

  constructor(options: ConfigurationOptions = {}) {
    checkOptions('Configuration', options, CONFIGURATION_SHAPE);
    this.#given = new Map(definedEntries(options));
  }

  /** The value in force now: environment, then this object's, then files', then `defaultValue`, then the default. */
  get<Key extends ConfigurationKey>(key: Key): ConfigurationValue<Key>;
  /** A setting, or `defaultValue` where it is not set. */
  get<Key extends ConfigurationKey, Fallback>(
    key: Key,
    defaultValue: Fallback,
  ): NonNullable<ConfigurationOptions[Key]> | Fallback;
  get(key: ConfigurationKey, defaultValue?: unknown): unknown {
    if (key === 'storageClientOptions') return this.#storageClientOptions(defaultValue);
    return (
      this.#lookUp(key) ?? this.#nested(key) ?? defaultValue ?? (CONFIGURATION_DEFAULTS as ConfigurationOptions)[key]
    );
  }

  /** Sets a value on this object only; undefined takes it back. The environment still wins over it. */
  set<Key extends ConfigurationKey>(key: Key, value?: ConfigurationOptions[Key]): void {
    checkOptions('Configuration', { [key]: value }, CONFIGURATION_SHAPE);
    if (value === undefined) this.#given.delete(key);
    else this.#given.set(key, value);
  }

  /** The absolute path of the storage folder. */
  localDataDirectory(): string {
    return resolve(this.get('storageClientOptions').localDataDirectory ?? 'storage');
  }

  /** @internal Whether what is stored outlives the process. */
  get isPersistent(): boolean {
    return this.get('storageClient') !== undefined || this.get('persistStorage');
  }

  /** Crawlee's events: hears that state is saved and that a crawl ends. */
  getEventManager(): EventManagerLike {
    return eventManagerOf(this);
  }

  /** The event manager of the global Configuration. */
  static getEventManager(): EventManagerLike {
    return Configuration.getGlobalConfig().getEventManager();
  }

  /** Storages live in this client from now on: `set('storageClient', client)`. */
  useStorageClient(client: StorageClient): void {
    this.set('storageClient', client);
  }

  /**
   * The client that storages live in; undefined while they live in the folder or in memory. With `orcrawl/crawlee`
   * there is always one: who asks first gets a `MemoryStorage`, and storages live there from then on.
   */
  getStorageClient(): StorageClient | undefined {
    return storageClientOf(this);
  }

  /** Crawlers announce to this manager from now on: `set('eventManager', events)`. */
  useEventManager(events: EventManagerLike): void {
    this.set('eventManager', events);
  }

  /** `useStorageClient` of the global Configuration. */
  static useStorageClient(client: StorageClient): void {
    Configuration.getGlobalConfig().useStorageClient(client);
  }

  /** `getStorageClient` of the global Configuration. */
  static getStorageClient(): StorageClient | undefined {
    return Configuration.getGlobalConfig().getStorageClient();
  }

  /** What `getGlobalConfig()` gave; undefined before its first use. Setting it changes what it gives. */
  static get globalConfig(): Configuration | undefined {
    return globalConfiguration;
  }

  static set globalConfig(config: Configuration | undefined) {
    globalConfiguration = config;
  }

  /** The Configuration used where none is given. */
  static getGlobalConfig(): Configuration {
    globalConfiguration ??= new Configuration();
    return globalConfiguration;
  }

  /** Sets a value on the global Configuration. */
  static set<Key extends ConfigurationKey>(key: Key, value?: ConfigurationOptions[Key]): void {
    Configuration.getGlobalConfig().set(key, value);
  }

  /** Forgets the global Configuration: the next use makes a new one. For tests. */
  static resetGlobalState(): void {
    globalConfiguration = undefined;
  }

  #lookUp(key: ConfigurationKey): unknown {
    const name = ENVIRONMENT_NAMES[key];
    const fromEnvironment = name === undefined ? undefined : readEnvironment(key, name);
    return fromEnvironment ?? this.#given.get(key) ?? this.#files()[key];
  }

  /** Crawlee takes this setting also among the options of its storage client. */
  #nested(key: ConfigurationKey): unknown {
    return key === 'persistStorage' ? this.#storageClientOptions(undefined).persistStorage : undefined;
  }

  #storageClientOptions(defaultValue: unknown): StorageClientOptions {
    const options = (this.#lookUp('storageClientOptions') ?? defaultValue ?? {}) as StorageClientOptions;
    const directory = environmentText(STORAGE_DIR_NAME)?.text;
    return directory ? { ...options, localDataDirectory: directory } : options;
  }

  #files(): ConfigurationOptions {
    this.#fromFiles ??= Object.assign(
      {},
      ...FILES.map((file) => readSettingsFile(join(process.cwd(), file))),
    ) as object;
    return this.#fromFiles;
  }
}

function environmentText(name: string): { variable: string; text: string } | undefined {
  for (const prefix of ENVIRONMENT_PREFIXES) {
    const text = process.env[prefix + name];
    if (text !== undefined) return { variable: prefix + name, text };
  }
  return undefined;
}

function readEnvironment(key: ConfigurationKey, name: string): unknown {
  const found = environmentText(name);
  if (found === undefined) return undefined;
  const value = fromEnvironmentText(key, found.text);
  const entry = CONFIGURATION_SHAPE[key];
  if (value === undefined || entry.accepts(value)) return value;
  // A Redis URL may hold a password: the value is not repeated.
  const shownText = key === 'redisUrl' ? '' : `, got ${JSON.stringify(found.text.slice(0, 80))}`;
  throw optionError([`environment variable ${found.variable} must be ${entry.expected}${shownText}`]);
}

/** The settings in one file; none when there is no such file. */
function readSettingsFile(path: string): ConfigurationOptions {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new CrawlError('OPTION_INVALID', `cannot read ${path}: ${(cause as Error).message}`, { cause });
  }
  const settings = parseSettings(path, text);
  // crawlee.json may hold settings of other programs; only what is known here is taken from it.
  const known = path.endsWith('crawlee.json') ? knownEntries(settings) : settings;
  const problems = findProblems(path, known, CONFIGURATION_SHAPE);
  if (problems.length > 0) throw optionError(problems);
  return Object.fromEntries(definedEntries(known as ConfigurationOptions));
}

function parseSettings(path: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    const reason = (cause as Error).message;
    throw new CrawlError('OPTION_INVALID', `${path} is not valid JSON (${reason}): repair or remove it`, { cause });
  }
}

function knownEntries(settings: unknown): unknown {
  if (typeof settings !== 'object' || settings === null) return settings;
  return Object.fromEntries(Object.entries(settings).filter(([name]) => Object.hasOwn(CONFIGURATION_SHAPE, name)));
}

function definedEntries(options: ConfigurationOptions): [ConfigurationKey, unknown][] {
  const entries = Object.entries(options) as [ConfigurationKey, unknown][];
  return entries.filter(([key, value]) => value !== undefined && 'accepts' in (CONFIGURATION_SHAPE[key] ?? {}));
}
