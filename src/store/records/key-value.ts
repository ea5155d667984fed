// Records by key: inputs, outputs, screenshots, state. The public class over a RecordStore.
// Promise: a record is written completely or not at all, and no key escapes the store's folder.
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { Configuration } from '../../configuration.js';
import { aFilledString, aBoolean, aNumber, aString, checkOptions } from '../../option-checks.js';
import type { Dictionary } from '../../request/request.js';
import { createAutoSaved } from './auto-saved.js';
import type { AutoSaved } from './auto-saved.js';
import { decodeValue, encodeValue, JSON_TYPE } from '../content-types.js';
import { checkRecordKey } from '../names.js';
import { openStorage } from '../opened.js';
import type { OpenStorage, StorageManagerOptions, StoragePlace } from '../opened.js';
import type { RecordStore } from '../store.js';

/** How a value is stored. */
export interface RecordOptions {
  /** Given with a string, bytes or a stream; without it the value is stored as JSON. */
  contentType?: string;
  /** Taken and without effect: a local write needs no limit. */
  timeoutSecs?: number;
  /** Accepted for Crawlee scripts. */
  doNotRetryTimeouts?: boolean;
}

/** Which keys are visited. */
export interface KeyValueStoreIteratorOptions {
  /** Begin after this key. */
  exclusiveStartKey?: string;
  /** Only keys that begin so. */
  prefix?: string;
}

/** Called for each key. */
export type KeyConsumer = (key: string, index: number, info: { size: number }) => unknown;

/**
 * Records by key, each in a file of its own (`storage/key_value_stores/<name>/<key>.<ext>`).
 *
 * @example
 * const store = await KeyValueStore.open('screenshots');
 * await store.setValue('home', png, { contentType: 'image/png' });
 */
export class KeyValueStore implements OpenStorage {
  /** The name of its folder. */
  readonly id: string;
  /** Undefined for the default store. */
  readonly name: string | undefined;
  /** The configuration that it was opened with. */
  readonly config: Configuration;
  readonly #records: RecordStore;
  readonly #autoSaved: AutoSaved;
  readonly #release: () => void;

  private constructor({ config, backend, id, name, release }: StoragePlace) {
    this.id = id;
    this.name = name;
    this.config = config;
    this.#records = backend.records(id);
    this.#release = release;
    this.#autoSaved = createAutoSaved(
      (key) => this.getValue(key),
      (key, json) => this.#records.write(key, Buffer.from(json), JSON_TYPE),
      () => config.get('persistStateIntervalMillis'),
    );
  }

  /** Opens the store of that name, or the default one. */
  static async open(name?: string | null, options: StorageManagerOptions = {}): Promise<KeyValueStore> {
    return openStorage('key-value-store', name, options, KeyValueStore.#make);
  }

  static async #make(place: StoragePlace): Promise<KeyValueStore> {
    const store = new KeyValueStore(place);
    await store.#records.prepare();
    return store;
  }

  /** The record's value: JSON parsed, text as a string, else a Buffer; `defaultValue` or null when there is none. */
  async getValue<T = unknown>(key: string): Promise<T | null>;
  /** The value, or `defaultValue` if there is none. */
  async getValue<T = unknown>(key: string, defaultValue: T): Promise<T>;
  async getValue<T = unknown>(key: string, defaultValue?: T): Promise<T | null> {
    const record = await this.#records.read(checkRecordKey(key));
    if (record === undefined) return defaultValue ?? null;
    return (decodeValue(key, record.body, record.contentType) as T) ?? defaultValue ?? null;
  }

  /** A `file:` URL for a record of that key, without the ending that its type adds; nothing is asked. */
  getPublicUrl(key: string): string {
    const folder = join(this.config.localDataDirectory(), 'key_value_stores', this.id);
    return pathToFileURL(join(folder, checkRecordKey(key))).href;
  }

  /**
   * Stores a value under a key, in place of what was there; `null` deletes it.
   *
   * @example
   * await store.setValue('OUTPUT', { pages: 12 });
   * await store.setValue('page', html, { contentType: 'text/html' });
   */
  async setValue<T>(key: string, value: T | Readable | null, options: RecordOptions = {}): Promise<void> {
    checkRecordKey(key);
    checkOptions('setValue', options, RECORD_SHAPE);
    if (value === null) {
      await this.#records.delete(key);
    } else {
      const { body, contentType } = encodeValue(key, value, options.contentType);
      await this.#records.write(key, body, contentType);
    }
    this.#autoSaved.follow(key, value);
  }

  /** Whether the key has a value, without reading it. */
  async recordExists(key: string): Promise<boolean> {
    return this.#records.has(checkRecordKey(key));
  }

  /**
   * An object that handlers change in place; it is saved every `persistStateIntervalMillis` and when the
   * crawl ends. Everybody who asks for the key gets the same object.
   */
  async getAutoSavedValue<T extends Dictionary = Dictionary>(key: string, defaultValue?: T): Promise<T> {
    return (await this.#autoSaved.get(checkRecordKey(key), defaultValue ?? {})) as T;
  }

  /** Saves the auto-saved values that changed, now. */
  async persistAutoSaved(): Promise<void> {
    await this.#autoSaved.save();
  }

  /** Calls `iteratee` with every key, in their order, one after the other. */
  async forEachKey(iteratee: KeyConsumer, options: KeyValueStoreIteratorOptions = {}): Promise<void> {
    let index = 0;
    for (const { key, sizeBytes } of await this.#list(options)) await iteratee(key, index++, { size: sizeBytes });
  }

  /** All keys in order, read in steps. */
  async *keys(options: KeyValueStoreIteratorOptions = {}): AsyncGenerator<string, void, undefined> {
    for (const { key } of await this.#list(options)) yield key;
  }

  /** All values in the order of their keys, one at a time. */
  async *values<T = unknown>(options: KeyValueStoreIteratorOptions = {}): AsyncGenerator<T, void, undefined> {
    for await (const [, value] of this.entries<T>(options)) yield value;
  }

  /** All keys with their values, one at a time. */
  async *entries<T = unknown>(
    options: KeyValueStoreIteratorOptions = {},
  ): AsyncGenerator<[string, T], void, undefined> {
    for (const { key } of await this.#list(options)) {
      // A record deleted since the keys were listed is passed over.
      const record = await this.#records.read(key);
      if (record !== undefined) yield [key, decodeValue(key, record.body, record.contentType) as T];
    }
  }

  [Symbol.asyncIterator]<T = unknown>(): AsyncGenerator<[string, T], void, undefined> {
    return this.entries<T>();
  }

  /** Deletes every record whose key `keep` does not ask for. */
  async clear(keep: (key: string) => boolean = () => false): Promise<void> {
    this.#autoSaved.clear();
    for (const { key } of await this.#records.list()) if (!keep(key)) await this.#records.delete(key);
  }

  /** Forgets the auto-saved values without saving them: who asks next reads what is stored. */
  clearCache(): void {
    this.#autoSaved.stop();
    this.#autoSaved.clear();
  }

  /** Removes the store and everything in it. */
  async drop(): Promise<void> {
    this.clearCache();
    this.#release();
    await this.#records.remove();
  }

  /** Saves the auto-saved values and ends their timer. The store can still be used. */
  async close(): Promise<void> {
    this.#autoSaved.stop();
    await this.#autoSaved.save();
  }

  async #list({ exclusiveStartKey, prefix }: KeyValueStoreIteratorOptions) {
    checkOptions('key iteration', { exclusiveStartKey, prefix }, ITERATOR_SHAPE);
    const all = await this.#records.list();
    return all.filter(
      ({ key }) => (exclusiveStartKey === undefined || key > exclusiveStartKey) && key.startsWith(prefix ?? ''),
    );
  }

  /** `getValue` of the default store. */
  static async getValue<T = unknown>(key: string): Promise<T | null>;
  /** The value in the default store, or `defaultValue` if there is none. */
  static async getValue<T = unknown>(key: string, defaultValue: T): Promise<T>;
  static async getValue<T = unknown>(key: string, defaultValue?: T): Promise<T | null> {
    const store = await KeyValueStore.open();
    return store.getValue<T>(key, defaultValue as T);
  }

  /** `setValue` of the default store. */
  static async setValue<T>(key: string, value: T | Readable | null, options: RecordOptions = {}): Promise<void> {
    await (await KeyValueStore.open()).setValue(key, value, options);
  }

  /** `recordExists` of the default store. */
  static async recordExists(key: string): Promise<boolean> {
    return (await KeyValueStore.open()).recordExists(key);
  }

  /** `getAutoSavedValue` of the default store. */
  static async getAutoSavedValue<T extends Dictionary = Dictionary>(key: string, defaultValue?: T): Promise<T> {
    return (await KeyValueStore.open()).getAutoSavedValue(key, defaultValue);
  }

  /** The run's input: `INPUT`, `INPUT.json` or `INPUT.txt` in the working directory, else the record of that key. */
  static async getInput<T = Dictionary | string | Buffer>(): Promise<T | null> {
    const { readFile } = await import('node:fs/promises');
    const store = await KeyValueStore.open();
    const key = checkRecordKey(store.config.get('inputKey'));
    for (const extension of ['', '.json', '.txt']) {
      const body = await readFile(join(process.cwd(), `${key}${extension}`)).catch(() => undefined);
      if (body !== undefined) return inputOf(key, extension, body) as T;
    }
    return store.getValue<T>(key);
  }
}

function inputOf(key: string, extension: string, body: Buffer): unknown {
  if (extension === '.json') return decodeValue(key, body, JSON_TYPE);
  try {
    return decodeValue(key, body, JSON_TYPE);
  } catch {
    return extension === '.txt' ? body.toString('utf8') : body;
  }
}

const RECORD_SHAPE = { contentType: aFilledString, timeoutSecs: aNumber({ from: 0 }), doNotRetryTimeouts: aBoolean };
const ITERATOR_SHAPE = { exclusiveStartKey: aString, prefix: aString };
