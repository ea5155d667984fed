// A key-value store of a MemoryStorage: records in memory, each in a file of its own where the storage persists.
import { Readable } from 'node:stream';
import { CrawlError } from '../../errors.js';
import type { Dictionary } from '../../request/request.js';
import { contentTypeOf, extensionOf } from '../../store/content-types.js';
import type { ClientStoreInfo, KeyValueStoreClient, KeyValueStoreClientListOptions } from './clients.js';
import type { KeyValueStoreClientListData, KeyValueStoreItemData, KeyValueStoreRecord } from './clients.js';
import { type Home, Kept, METADATA, pagesOf, parsed, readOrNothing, within, wholeCalls } from './kept.js';

const BINARY = 'application/octet-stream';
const RECORD_METADATA = '.__metadata__.json';
const LIST_LIMIT = 1_000;

interface Stored {
  readonly key: string;
  readonly body: Buffer;
  readonly contentType: string;
  readonly file: string;
}

export class MemoryRecords extends Kept {
  readonly #records = new Map<string, Stored>();

  get info(): ClientStoreInfo {
    const { id, name, accessedAt, createdAt, modifiedAt } = this.times;
    return { id, ...(name === undefined ? {} : { name }), accessedAt, createdAt, modifiedAt, userId: '1' };
  }

  static find(home: Home, idOrName: string): MemoryRecords | undefined {
    const folder = within(home.directory, idOrName);
    const metadata = parsed<Dictionary<string>>(readOrNothing(`${folder}/${METADATA}`));
    const name = metadata && !metadata['name'] ? undefined : idOrName;
    const found = new MemoryRecords(home, { id: metadata?.['id'] ?? idOrName, name });
    const files = found.files();
    if (!metadata && files.length === 0) return undefined;
    for (const file of files) if (!file.endsWith(METADATA)) found.#load(file);
    found.restore(metadata);
    return found;
  }

  /** A record by its file; what the metadata beside it says wins over what the extension says. */
  #load(file: string): void {
    const body = this.read(file);
    if (!body) return;
    const [bare, extension] = split(file);
    for (const candidate of [file, bare]) {
      const text = parsed<string | Dictionary<string>>(this.read(`${candidate}${RECORD_METADATA}`));
      const told = typeof text === 'string' ? parsed<Dictionary<string>>(Buffer.from(text)) : text;
      if (!told?.['key']) continue;
      const { key, contentType = BINARY } = told as { key: string; contentType?: string };
      return void this.#records.set(key, { key, body, contentType, file });
    }
    const contentType = contentTypeOf(extension) ?? (extension === '' ? 'text/plain' : 'text/plain; charset=utf-8');
    // A file that claims to be JSON and is not would fail every reader.
    if (extension === 'json' && parsed(body) === undefined) return;
    this.#records.set(bare, { key: bare, body, contentType, file });
  }

  get(key: string): Stored | undefined {
    return this.#records.get(key);
  }

  set(key: string, body: Buffer, contentType: string): void {
    const extension = extensionOf(contentType);
    const file = key.endsWith(`.${extension}`) ? key : `${key}.${extension}`;
    within(this.folder, file);
    const before = this.#records.get(key);
    if (before && before.file !== file) this.#removeFiles(before);
    this.#records.set(key, { key, body, contentType, file });
    this.write(file, body);
    if (this.home.persists) this.writeMetadata(JSON.stringify({ extension, key, contentType }), `${key}${RECORD_METADATA}`);
    this.touch(true);
    this.writeMetadata(this.info);
  }

  delete(key: string): void {
    const found = this.#records.get(key);
    if (!found) return;
    this.#records.delete(key);
    this.#removeFiles(found);
    this.touch(true);
  }

  #removeFiles({ key, file }: Stored): void {
    this.remove(file);
    this.remove(`${key}${RECORD_METADATA}`);
  }

  keys(): KeyValueStoreItemData[] {
    const items = [...this.#records.values()].map(({ key, body }) => ({ key, size: body.length }));
    return items.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  clear(): void {
    this.#records.clear();
    this.removeAll();
  }
}

function split(file: string): [string, string] {
  const dot = file.lastIndexOf('.');
  const extension = dot > 0 ? file.slice(dot + 1) : '';
  return contentTypeOf(extension) === undefined ? [file, extension] : [file.slice(0, dot), extension];
}

export function createKeyValueClient(
  id: string,
  find: () => MemoryRecords | undefined,
  forget: (store: MemoryRecords) => void,
): KeyValueStoreClient & { id: string } {
  const existing = (): MemoryRecords => {
    const found = find();
    if (!found) throw new CrawlError('OPTION_INVALID', `Key-value store with id: ${id} does not exist.`);
    return found;
  };
  function page(options: KeyValueStoreClientListOptions): KeyValueStoreClientListData {
    const { limit = LIST_LIMIT, exclusiveStartKey, prefix = '' } = options;
    const store = existing();
    const all = store
      .keys()
      .filter(({ key }) => key.startsWith(prefix) && (exclusiveStartKey === undefined || key > exclusiveStartKey));
    const items = all.slice(0, limit);
    const isTruncated = all.length > items.length;
    store.touch(false);
    return {
      count: items.length,
      limit,
      exclusiveStartKey,
      isTruncated,
      nextExclusiveStartKey: isTruncated ? items.at(-1)?.key : undefined,
      items,
    };
  }
  async function* items(options: KeyValueStoreClientListOptions): AsyncGenerator<KeyValueStoreItemData> {
    let left = options.limit ?? Infinity;
    let exclusiveStartKey = options.exclusiveStartKey;
    while (left > 0) {
      const part = page({ ...options, exclusiveStartKey, limit: Math.min(left, LIST_LIMIT) });
      yield* part.items;
      left -= part.count;
      exclusiveStartKey = part.nextExclusiveStartKey;
      if (!part.isTruncated) return;
    }
  }
  async function* entries(options: KeyValueStoreClientListOptions): AsyncGenerator<[string, unknown]> {
    for await (const { key } of items(options)) {
      const record = await getRecord(key);
      if (record) yield [key, record.value];
    }
  }
  async function getRecord(
    key: string,
    { buffer = false, stream = false }: { buffer?: boolean; stream?: boolean } = {},
  ): Promise<KeyValueStoreRecord | undefined> {
    checkKey(key);
    const store = existing();
    const found = store.get(key);
    store.touch(false);
    if (!found) return undefined;
    const { body, contentType } = found;
    if (stream) return { key, value: Readable.from([body]), contentType };
    return { key, value: buffer ? body : valueOf(body, contentType), contentType };
  }
  const all = async <T>(source: AsyncIterable<T>): Promise<T[]> => {
    const found: T[] = [];
    for await (const one of source) found.push(one);
    return found;
  };
  return {
    id,
    ...wholeCalls(find, existing, forget),
    listKeys: (options = {}) => pagesOf((async () => page(options))(), () => items(options)),
    keys: (options = {}) =>
      pagesOf((async () => page(options))(), async function* () {
        for await (const { key } of items(options)) yield key;
      }),
    values: (options = {}) =>
      pagesOf(all(entries(options)).then((found) => found.map(([, value]) => value)), async function* () {
        for await (const [, value] of entries(options)) yield value;
      }),
    entries: (options = {}) => pagesOf(all(entries(options)), () => entries(options)),
    recordExists: async (key) => existing().get(key) !== undefined,
    getRecord,
    async setRecord({ key, value, contentType }) {
      checkKey(key);
      if (value === undefined) throw new CrawlError('OPTION_INVALID', `the record "${key}" has no value`);
      const body = await bytesOf(value, contentType);
      existing().set(key, body, contentType ?? typeOf(value));
    },
    async deleteRecord(key) {
      checkKey(key);
      existing().delete(key);
    },
  };
}

function checkKey(key: unknown): void {
  if (typeof key !== 'string' || key === '') throw new CrawlError('OPTION_INVALID', 'a key must be a filled string');
}

function isBytes(value: unknown): value is Uint8Array | ArrayBuffer {
  return value instanceof Uint8Array || value instanceof ArrayBuffer;
}

function typeOf(value: unknown): string {
  if (isBytes(value) || value instanceof Readable) return BINARY;
  return typeof value === 'string' ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8';
}

async function bytesOf(value: unknown, contentType?: string): Promise<Buffer> {
  if (value instanceof Readable) {
    const parts: Buffer[] = [];
    for await (const part of value) parts.push(Buffer.from(part as Uint8Array));
    return Buffer.concat(parts);
  }
  if (isBytes(value)) return Buffer.from(value as Uint8Array);
  if (typeof value === 'string' && !contentType?.startsWith('application/json')) return Buffer.from(value);
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value, null, 2));
}

function valueOf(body: Buffer, contentType: string): unknown {
  if (/^application\/(?:[\w.+-]*\+)?json/.test(contentType)) return JSON.parse(body.toString()) as unknown;
  return /^(?:text\/|application\/(?:[\w.+-]*\+)?xml)/.test(contentType) ? body.toString() : body;
}
