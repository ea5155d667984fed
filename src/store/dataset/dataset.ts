// The items a crawl produces, in order. The public class over a SegmentStore.
// Promise: append-only JSON lines, durable when a push has resolved; reading loads only what is needed.
import { Readable } from 'node:stream';
import type { Configuration } from '../../configuration.js';
import { CrawlError } from '../../errors.js';
import { checkOptions } from '../../option-checks.js';
import type { Dictionary } from '../../request/request.js';
import { contentTypeOfFormat, formatsOf } from '../formats.js';
import { exportPieces } from './export.js';
import type { DatasetExportOptions, ExportFormat } from './export.js';
import { createDirectItems } from './direct-items.js';
import type { DirectItems } from './direct-items.js';
import { readItems } from './item-reader.js';
import { DATA_SHAPE, EXPORT_SHAPE } from './item-view.js';
import type { DatasetDataOptions } from './item-view.js';
import { serializeItems } from './items.js';
import { KeyValueStore } from '../records/key-value.js';
import { iterableOrPage } from '../records/iterable-or-page.js';
import type { IterableOrPage } from '../records/iterable-or-page.js';
import { createLineIndex } from './lines.js';
import type { LineIndex } from './lines.js';
import { openStorage } from '../opened.js';
import type { OpenStorage, StorageManagerOptions, StoragePlace } from '../opened.js';
import { newVisitName } from '../segments/segment-names.js';
import type { SegmentStore } from '../store.js';
import { createVisitWriter } from './visit-segments.js';
import type { VisitWriter } from './visit-segments.js';

/** A page of items. */
export interface DatasetContent<Data> {
  /** The items asked for. */
  items: Data[];
  /** Items in the whole dataset. */
  total: number;
  /** Items left out before the first. */
  offset: number;
  /** Items in this page. */
  count: number;
  /** The most that were asked for. */
  limit: number;
  /** Whether the newest come first. */
  desc: boolean;
}

/** A dataset in figures. */
export interface DatasetInfo {
  /** The name of its folder. */
  id: string;
  /** As given to `open`; left out for the default one. */
  name?: string;
  /** Items of visits that ended well. */
  itemCount: number;
  /** When its first item was written. */
  createdAt: Date;
  /** When its last item was written. */
  modifiedAt: Date;
  /** The time of this call: reading is not noted. */
  accessedAt: Date;
}

/** What is exported, and to which store. */
export interface DatasetExportToOptions extends DatasetExportOptions {
  /** Export this dataset instead of the default one (static methods only). */
  fromDataset?: string;
  /** The key-value store that takes the record; the default one unless given. */
  toKVS?: string;
}

/** Which items are visited. */
export type DatasetIteratorOptions = DatasetDataOptions;
/** Called for each item. */
export type DatasetConsumer<Data> = (item: Data, index: number) => unknown;
/** Makes something of each item. */
export type DatasetMapper<Data, R> = (item: Data, index: number) => R | PromiseLike<R>;
/** Adds an item to what the items before it came to. */
export type DatasetReducer<T, Data> = (memo: T, item: Data, index: number) => T | PromiseLike<T>;

// What Crawlee reports when no limit was given.
const NO_LIMIT = 999_999_999_999;

/**
 * Items in the order they came, in `storage/datasets/<name>/*.jsonl`: a line is an item.
 *
 * @example
 * const dataset = await Dataset.open('products');
 * await dataset.pushData({ name: 'kettle', price: 20 });
 * const { items } = await dataset.getData({ limit: 10 });
 */
export class Dataset<Data extends Dictionary = Dictionary> implements OpenStorage {
  /** The name of its folder. */
  readonly id: string;
  /** Undefined for the default dataset. */
  readonly name: string | undefined;
  /** The configuration that it was opened with. */
  readonly config: Configuration;
  readonly #segments: SegmentStore;
  readonly #direct: DirectItems;
  readonly #index: LineIndex;
  readonly #release: () => void;
  /** How often the dataset was emptied: writers from before belong to files that are gone. */
  #emptied = 0;

  private constructor({ config, backend, id, name, release }: StoragePlace) {
    this.id = id;
    this.name = name;
    this.config = config;
    this.#segments = backend.segments(id);
    this.#direct = createDirectItems(this.#segments);
    this.#index = createLineIndex(this.#segments);
    this.#release = release;
  }

  /** Opens the dataset of that name, or the default one. */
  static async open<Data extends Dictionary = Dictionary>(
    name?: string | null,
    options: StorageManagerOptions = {},
  ): Promise<Dataset<Data>> {
    return openStorage('dataset', name, options, async (place) => {
      const dataset = new Dataset<Data>(place);
      await dataset.#segments.prepare();
      return dataset;
    });
  }

  /**
   * Stores an item or several at once, whatever becomes of the visit that pushes them: after a crash the
   * visit is repeated and pushes them again. `context.pushData` stores them with the visit, once.
   */
  async pushData(data: Data | readonly Data[]): Promise<void> {
    const lines = serializeItems(data);
    if (lines !== '') await this.#direct.push(lines);
  }

  /** A page of items. */
  async getData(options: DatasetDataOptions = {}): Promise<DatasetContent<Data>> {
    checkOptions('getData', options, DATA_SHAPE);
    const { offset = 0, limit = NO_LIMIT, desc = false } = options;
    const total = await this.#index.count();
    const items: Data[] = [];
    // No more than counted, so that a page agrees with its total while others push.
    const wanted = { ...options, limit: Math.min(limit, Math.max(0, total - offset)) };
    for await (const batch of this.#batches(wanted)) for (const item of batch) items.push(item);
    return { items, total, offset, count: items.length, limit, desc };
  }

  /** Calls `iteratee` with every item, one after the other. */
  async forEach(iteratee: DatasetConsumer<Data>, options: DatasetIteratorOptions = {}, index = 0): Promise<void> {
    let position = index;
    for await (const batch of this.#checked('forEach', options)) {
      for (const item of batch) await iteratee(item, position++);
    }
  }

  /** What `iteratee` makes of every item. */
  async map<R>(iteratee: DatasetMapper<Data, R>, options: DatasetIteratorOptions = {}): Promise<R[]> {
    const results: R[] = [];
    await this.forEach(async (item, index) => void results.push(await iteratee(item, index)), options);
    return results;
  }

  /** Folds all items into one value; without a `memo` the first item is the first value. */
  async reduce(iteratee: DatasetReducer<Data, Data>): Promise<Data | undefined>;
  /** The same, with options. */
  async reduce(
    iteratee: DatasetReducer<Data, Data>,
    memo: undefined,
    options: DatasetIteratorOptions,
  ): Promise<Data | undefined>;
  /** The same, beginning with `memo`. */
  async reduce<T>(iteratee: DatasetReducer<T, Data>, memo: T, options?: DatasetIteratorOptions): Promise<T>;
  async reduce<T>(
    iteratee: DatasetReducer<T, Data>,
    memo?: T,
    options: DatasetIteratorOptions = {},
  ): Promise<T | undefined> {
    let value = memo;
    await this.forEach(async (item, index) => {
      const first = index === 0 && memo === undefined;
      value = first ? (item as unknown as T) : await iteratee(value as T, item, index);
    }, options);
    return value;
  }

  /** Items one by one; awaited instead of iterated, a page of them. */
  values(options: DatasetIteratorOptions = {}): IterableOrPage<Data, DatasetContent<Data>> {
    return iterableOrPage(
      () => this.#each(options, (item) => item),
      () => this.getData(options),
    );
  }

  /** Items with their position; awaited instead of iterated, a page of them. */
  entries(options: DatasetIteratorOptions = {}): IterableOrPage<[number, Data], DatasetContent<[number, Data]>> {
    const from = options.offset ?? 0;
    return iterableOrPage(
      () => this.#each(options, (item, index): [number, Data] => [from + index, item]),
      async () => {
        const page = await this.getData(options);
        return { ...page, items: page.items.map((item, index): [number, Data] => [from + index, item]) };
      },
    );
  }

  [Symbol.asyncIterator](): AsyncGenerator<Data, void, undefined> {
    return this.#each({}, (item) => item);
  }

  /** All items in one array: mind the memory. */
  async export(options: DatasetExportOptions = {}): Promise<Data[]> {
    checkOptions('export', options, EXPORT_SHAPE);
    const items: Data[] = [];
    for await (const batch of this.#batches(options)) for (const item of batch) items.push(item);
    return items;
  }

  /** The whole dataset as one document, piece by piece: for a file, a response, another process. */
  exportStream(format: ExportFormat, options: DatasetExportOptions = {}): Readable {
    checkOptions('export', options, EXPORT_SHAPE);
    return Readable.from(
      exportPieces(format, () => this.#batches(options), options),
      { objectMode: false },
    );
  }

  /** Writes the dataset as a record `key`; `contentType` is `application/json` or `text/csv`. Gives all items back. */
  async exportTo(key: string, options: DatasetExportToOptions = {}, contentType = 'application/json'): Promise<Data[]> {
    const format = formatsOf('export').find((candidate) => contentTypeOfFormat(candidate).startsWith(contentType));
    if (format === undefined) {
      throw new CrawlError('OPTION_INVALID', `a dataset cannot be exported as ${JSON.stringify(contentType)}`);
    }
    await this.#exportRecord(format, key, options);
    const { fromDataset: _from, toKVS: _to, ...view } = options;
    return this.export(view);
  }

  /** Writes all items as a JSON array to the record `key`. */
  async exportToJSON(key: string, options: Omit<DatasetExportToOptions, 'fromDataset'> = {}): Promise<void> {
    await this.#exportRecord('json', key, options);
  }

  /** Writes all items as CSV to the record `key`; its columns are the fields of the first item unless told otherwise. */
  async exportToCSV(key: string, options: Omit<DatasetExportToOptions, 'fromDataset'> = {}): Promise<void> {
    await this.#exportRecord('csv', key, options);
  }

  /** Writes all items as JSON lines to the record `key`. */
  async exportToJSONL(key: string, options: Omit<DatasetExportToOptions, 'fromDataset'> = {}): Promise<void> {
    await this.#exportRecord('jsonl', key, options);
  }

  /** Count and times of the dataset. */
  async getInfo(): Promise<DatasetInfo> {
    const itemCount = await this.#index.count();
    const segments = await this.#segments.list();
    const now = Date.now();
    const created = segments.reduce((first, { createdAtMs }) => Math.min(first, createdAtMs), now);
    const modified = segments.reduce((last, { modifiedAtMs }) => Math.max(last, modifiedAtMs), created);
    const times = { createdAt: new Date(created), modifiedAt: new Date(modified), accessedAt: new Date(now) };
    return { id: this.id, name: this.name ?? this.id, itemCount, ...times };
  }

  /**
   * A writer for items that are acknowledged together with visits; see `VisitWriter` for the order of steps.
   * The crawl layer owns and closes it.
   */
  async openVisitWriter(writerId: string): Promise<VisitWriter> {
    const names = (await this.#segments.list()).map(({ name }) => name);
    const segment = await this.#segments.openVisit(newVisitName(names, writerId));
    const emptied = this.#emptied;
    const onCut = (name: string): void => this.#index.forget(name);
    return createVisitWriter(this.id, segment, onCut, () => this.#emptied !== emptied);
  }

  /** Removes all items. */
  async clear(): Promise<void> {
    this.#emptied++;
    await this.#direct.close();
    await this.#segments.clear();
    this.#index.forget();
  }

  /** Removes the dataset. */
  async drop(): Promise<void> {
    this.#release();
    await this.clear();
    await this.#segments.remove();
  }

  /** Writes what is pending and frees the file. The dataset can still be used. */
  async close(): Promise<void> {
    await this.#direct.close();
  }

  /** `pushData` of the default dataset: at once, not with the visit. */
  static async pushData<Data extends Dictionary = Dictionary>(data: Data | readonly Data[]): Promise<void> {
    await (await Dataset.open<Data>()).pushData(data);
  }

  /** `getData` of the default dataset. */
  static async getData<Data extends Dictionary = Dictionary>(
    options: DatasetDataOptions = {},
  ): Promise<DatasetContent<Data>> {
    return (await Dataset.open<Data>()).getData(options);
  }

  /** `exportToJSON` of the default dataset, or of `fromDataset`. */
  static async exportToJSON(key: string, options: DatasetExportToOptions = {}): Promise<void> {
    await (await Dataset.open(options.fromDataset)).exportToJSON(key, options);
  }

  /** `exportToCSV` of the default dataset, or of `fromDataset`. */
  static async exportToCSV(key: string, options: DatasetExportToOptions = {}): Promise<void> {
    await (await Dataset.open(options.fromDataset)).exportToCSV(key, options);
  }

  /** `exportToJSONL` of the default dataset, or of `fromDataset`. */
  static async exportToJSONL(key: string, options: DatasetExportToOptions = {}): Promise<void> {
    await (await Dataset.open(options.fromDataset)).exportToJSONL(key, options);
  }

  async #exportRecord(format: ExportFormat, key: string, options: DatasetExportToOptions): Promise<void> {
    const { fromDataset: _from, toKVS, ...view } = options;
    const store = await KeyValueStore.open(toKVS, { config: this.config });
    await store.setValue(key, this.exportStream(format, view), { contentType: contentTypeOfFormat(format) });
  }

  #checked(method: string, options: DatasetIteratorOptions): AsyncIterable<Data[]> {
    checkOptions(method, options, DATA_SHAPE);
    return this.#batches(options);
  }

  #batches(options: DatasetDataOptions): AsyncIterable<Data[]> {
    return readItems(this.#segments, this.#index, options) as AsyncIterable<Data[]>;
  }

  async *#each<T>(
    options: DatasetIteratorOptions,
    show: (item: Data, index: number) => T,
  ): AsyncGenerator<T, void, undefined> {
    let index = 0;
    for await (const batch of this.#checked('iteration', options)) for (const item of batch) yield show(item, index++);
  }
}
