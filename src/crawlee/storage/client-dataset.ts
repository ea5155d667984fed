// A dataset over a Crawlee storage client: `new Dataset({ id, client })`. Every call is one or more calls of the client.
import { Configuration } from '../../configuration.js';
import { CrawlError } from '../../errors.js';
import { log } from '../../observe/log.js';
import type { Dictionary } from '../../request/request.js';
import type { DatasetConsumer, DatasetMapper, DatasetReducer } from '../../store/dataset/dataset.js';
import { cellsOf, csvRow } from '../../store/dataset/csv.js';
import { KeyValueStore } from '../../store/records/key-value.js';
import type { ClientDatasetInfo, CrawleeStorageClient, DatasetClient, PaginatedList } from './clients.js';
import { checkAndSerialize, chunkBySize, DATASET_ITERATORS_DEFAULT_LIMIT } from './values.js';

/** What makes a storage over a client. */
export interface ClientStorageOptions {
  id: string;
  name?: string;
  client: CrawleeStorageClient;
  storageObject?: Record<string, unknown>;
}

/** Which items of a dataset, and how. */
export interface ClientDatasetOptions {
  offset?: number;
  limit?: number;
  desc?: boolean;
  fields?: string[];
  unwind?: string;
  clean?: boolean;
  skipHidden?: boolean;
  skipEmpty?: boolean;
  format?: string;
}

// What Crawlee's remote storage takes at once, less a hundredth for what surrounds it.
const MAX_PAYLOAD_BYTES = Math.floor(9 * 1024 * 1024 * 0.99);
const EXPORT_PAGE = 1_000;

export class ClientDataset<Data extends Dictionary = Dictionary> {
  readonly id: string;
  readonly name: string | undefined;
  readonly client: DatasetClient<Data>;
  readonly storageObject: Record<string, unknown> | undefined;
  readonly log = log.child({ prefix: 'Dataset' });

  constructor(
    options: ClientStorageOptions,
    readonly config: Configuration = Configuration.getGlobalConfig(),
  ) {
    this.id = options.id;
    this.name = options.name;
    this.client = options.client.dataset<Data>(options.id);
    this.storageObject = options.storageObject;
  }

  async pushData(data: Data | readonly Data[]): Promise<void> {
    if (Object(data) !== data) throw wrongType('data', 'object', data);
    if (!Array.isArray(data)) return this.client.pushItems(checkAndSerialize(data, MAX_PAYLOAD_BYTES));
    const texts = data.map((item, index) => checkAndSerialize(item, MAX_PAYLOAD_BYTES, index));
    for (const piece of chunkBySize(texts, MAX_PAYLOAD_BYTES)) await this.client.pushItems(piece);
  }

  async getData(options: ClientDatasetOptions = {}): Promise<PaginatedList<Data>> {
    try {
      return await this.client.listItems(options);
    } catch (cause) {
      if (!(cause as Error).message.includes('Cannot create a string longer than')) throw cause;
      throw new CrawlError(
        'OPTION_INVALID',
        'dataset.getData(): The response is too large for parsing. You can fix this by lowering the "limit" option.',
        { cause },
      );
    }
  }

  async export(options: ClientDatasetOptions = {}): Promise<Data[]> {
    const items: Data[] = [];
    for (;;) {
      const page = await this.getData({ ...options, offset: items.length, limit: EXPORT_PAGE });
      items.push(...page.items);
      if (page.items.length === 0 || items.length >= page.total) return items;
    }
  }

  async exportTo(
    key: string,
    options: ClientDatasetOptions & { toKVS?: string; collectAllKeys?: boolean } = {},
    contentType = 'application/json',
  ): Promise<Data[]> {
    const { toKVS, collectAllKeys = false, ...view } = options;
    const store = await KeyValueStore.open(toKVS, { config: this.config });
    const items = await this.export(view);
    if (contentType === 'application/json') {
      await store.setValue(key, items);
    } else if (contentType === 'text/csv') {
      const columns = [...new Set((collectAllKeys ? items : items.slice(0, 1)).flatMap((item) => Object.keys(item)))];
      const rows = items.map((item) => csvRow(cellsOf(item, columns)));
      await store.setValue(key, csvRow(columns) + rows.join(''), { contentType });
    } else {
      throw new CrawlError('OPTION_INVALID', `Unsupported content type: ${contentType}`);
    }
    return items;
  }

  async exportToJSON(key: string, options: { toKVS?: string } = {}): Promise<void> {
    await this.exportTo(key, options, 'application/json');
  }

  async exportToCSV(key: string, options: { toKVS?: string; collectAllKeys?: boolean } = {}): Promise<void> {
    await this.exportTo(key, options, 'text/csv');
  }

  getInfo(): Promise<ClientDatasetInfo | undefined> {
    return this.client.get();
  }

  async forEach(iteratee: DatasetConsumer<Data>, options: ClientDatasetOptions = {}, index = 0): Promise<void> {
    const { format = 'json' } = options;
    if (format !== 'json') {
      throw new CrawlError('OPTION_INVALID', 'Dataset.forEach/map/reduce() support only a "json" format.');
    }
    const limit = options.limit || DATASET_ITERATORS_DEFAULT_LIMIT;
    let position = index;
    for (let offset = options.offset ?? 0; ; ) {
      const page = await this.getData({ ...options, limit, offset });
      for (const item of page.items) await iteratee(item, position++);
      offset = page.offset + page.limit;
      if (offset >= page.total || page.limit <= 0) return;
    }
  }

  async map<R>(iteratee: DatasetMapper<Data, R>, options: ClientDatasetOptions = {}): Promise<R[]> {
    const results: R[] = [];
    await this.forEach(async (item, index) => void results.push(await iteratee(item, index)), options);
    return results;
  }

  async reduce<T>(
    iteratee: DatasetReducer<T, Data>,
    memo?: T,
    options: ClientDatasetOptions = {},
  ): Promise<T | undefined> {
    let value = memo;
    await this.forEach(async (item, index) => {
      const isFirst = index === 0 && memo === undefined;
      value = isFirst ? (item as unknown as T) : await iteratee(value as T, item, index);
    }, options);
    return value;
  }

  values(options: ClientDatasetOptions = {}): AsyncIterable<Data> & Promise<PaginatedList<Data>> {
    return this.client.listItems(options);
  }

  entries(options: ClientDatasetOptions = {}): AsyncIterable<[number, Data]> & Promise<PaginatedList<[number, Data]>> {
    if (this.client.listEntries) return this.client.listEntries(options);
    throw new CrawlError('OPTION_INVALID', 'This storage client cannot list the entries of a dataset.');
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Data, void, undefined> {
    yield* this.values();
  }

  async drop(): Promise<void> {
    await this.client.delete();
  }
}

/** An argument of another type than it must have, in the words of Crawlee's checks. */
export function wrongType(name: string, expected: string, value: unknown): CrawlError {
  const received = value === null ? 'null' : typeof value === 'object' ? value.constructor.name : typeof value;
  return new CrawlError(
    'OPTION_INVALID',
    `Expected \`${name}\` to be of type \`${expected}\` but received type \`${received}\``,
  );
}
