// A key-value store over a Crawlee storage client: `new KeyValueStore({ id, client })`.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Configuration } from '../../configuration.js';
import { CrawlError } from '../../errors.js';
import type { Dictionary } from '../../request/request.js';
import { type AutoSaved, createAutoSaved } from '../../store/records/auto-saved.js';
import type { KeyConsumer, RecordOptions } from '../../store/records/key-value.js';
import { type ClientStorageOptions, wrongType } from './client-dataset.js';
import type { KeyValueStoreClient, KeyValueStoreClientListOptions, KeyValueStoreItemData } from './clients.js';
import { maybeStringify } from './values.js';

const KEY = /^[\w!\-.'()]{1,256}$/;

export class ClientKeyValueStore {
  readonly id: string;
  readonly name: string | undefined;
  readonly client: KeyValueStoreClient;
  readonly storageObject: Record<string, unknown> | undefined;
  readonly #autoSaved: AutoSaved;

  constructor(
    options: ClientStorageOptions,
    readonly config: Configuration = Configuration.getGlobalConfig(),
  ) {
    this.id = options.id;
    this.name = options.name;
    this.client = options.client.keyValueStore(options.id);
    this.storageObject = options.storageObject;
    this.#autoSaved = createAutoSaved(
      (key) => this.getValue(key),
      (key, json) => this.setValue(key, JSON.parse(json)),
      () => config.get('persistStateIntervalMillis'),
    );
  }

  async getValue<T = unknown>(key: string, defaultValue?: T): Promise<T | null> {
    const record = await this.client.getRecord(filled(key));
    return (record?.value as T | undefined) ?? defaultValue ?? null;
  }

  async recordExists(key: string): Promise<boolean> {
    return this.client.recordExists(filled(key));
  }

  async setValue(key: string, value: unknown, options: RecordOptions = {}): Promise<void> {
    if (!KEY.test(filled(key))) {
      throw refused(
        `The "key" argument "${key}" must be at most 256 characters long and only contain the following characters: a-zA-Z0-9!-_.'()`,
      );
    }
    if (Object(options) !== options) throw wrongType('options', 'object', options);
    const { timeoutSecs, doNotRetryTimeouts, ...typed } = options;
    if (typed.contentType === '') {
      throw refused('Expected property string `contentType` to not be empty in object `options`');
    }
    if (typed.contentType === null) {
      throw refused(
        'Expected property `contentType` to be of type `string` but received type `null` in object `options`',
      );
    }
    if (typed.contentType !== undefined && !isTextOrBytes(value)) {
      throw refused(
        'The "value" parameter must be a String, Buffer or Stream when "options.contentType" is specified.',
      );
    }
    if (value === null) {
      await this.client.deleteRecord(key);
    } else {
      const text = maybeStringify(value, typed);
      await this.client.setRecord(
        { key, value: text, ...typed },
        // Named even when they are not given: a client may look for them.
        { timeoutSecs, doNotRetryTimeouts } as { timeoutSecs?: number },
      );
    }
    this.#autoSaved.follow(key, value);
  }

  async getAutoSavedValue<T extends Dictionary = Dictionary>(key: string, defaultValue?: T): Promise<T> {
    return (await this.#autoSaved.get(filled(key), defaultValue ?? {})) as T;
  }

  clearCache(): void {
    this.#autoSaved.stop();
    this.#autoSaved.clear();
  }

  async forEachKey(iteratee: KeyConsumer, options: KeyValueStoreClientListOptions = {}): Promise<void> {
    let index = 0;
    for await (const { key, size } of this.#list(options)) await iteratee(key, index++, { size });
  }

  async *keys(options: KeyValueStoreClientListOptions = {}): AsyncGenerator<string, void, undefined> {
    for await (const { key } of this.#list(options)) yield key;
  }

  async *values<T = unknown>(options: KeyValueStoreClientListOptions = {}): AsyncGenerator<T, void, undefined> {
    for await (const [, value] of this.entries<T>(options)) yield value;
  }

  async *entries<T = unknown>(
    options: KeyValueStoreClientListOptions = {},
  ): AsyncGenerator<[string, T], void, undefined> {
    for await (const { key } of this.#list(options)) {
      const record = await this.client.getRecord(key);
      if (record) yield [key, record.value as T];
    }
  }

  [Symbol.asyncIterator]<T = unknown>(): AsyncGenerator<[string, T], void, undefined> {
    return this.entries<T>();
  }

  /** Where the file of a record is. */
  getPublicUrl(key: string): string {
    const folder = join(this.config.localDataDirectory(), 'key_value_stores', this.name ?? 'default');
    return pathToFileURL(join(folder, key)).href;
  }

  async drop(): Promise<void> {
    this.clearCache();
    await this.client.delete();
  }

  async *#list(options: KeyValueStoreClientListOptions): AsyncGenerator<KeyValueStoreItemData> {
    const { prefix, collection, limit } = options;
    for (let { exclusiveStartKey } = options; ; ) {
      const wanted = { exclusiveStartKey, prefix, collection, ...(limit === undefined ? {} : { limit }) };
      const page = await this.client.listKeys(wanted as KeyValueStoreClientListOptions);
      yield* page.items;
      if (!page.isTruncated || page.nextExclusiveStartKey === undefined) return;
      exclusiveStartKey = page.nextExclusiveStartKey;
    }
  }
}

function filled(key: string): string {
  if (typeof key !== 'string') throw wrongType('key', 'string', key);
  if (key === '') throw refused('Expected string `key` to not be empty');
  return key;
}

function isTextOrBytes(value: unknown): boolean {
  if (typeof value === 'string' || value instanceof Uint8Array || value instanceof ArrayBuffer) return true;
  return typeof (value as { pipe?: unknown } | null)?.pipe === 'function';
}

const refused = (message: string): CrawlError => new CrawlError('OPTION_INVALID', message);
