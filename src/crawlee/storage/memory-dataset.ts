// A dataset of a MemoryStorage: items in memory, each in a file of its own where the storage persists.
import { CrawlError } from '../../errors.js';
import type { Dictionary } from '../../request/request.js';
import type { ClientDatasetInfo, DatasetClient, DatasetClientListOptions, PaginatedList } from './clients.js';
import { type Home, Kept, METADATA, pagesOf, parsed, readOrNothing, within, wholeCalls } from './kept.js';

const ALL = 999_999_999_999;
const DIGITS = 9;
const PAGE = 1_000;

export class MemoryDataset extends Kept {

  readonly #items: string[] = [];

  get info(): ClientDatasetInfo {
    const { id, name, accessedAt, createdAt, modifiedAt } = this.times;
    return {
      id,
      accessedAt,
      createdAt,
      itemCount: this.#items.length,
      modifiedAt,
      ...(name === undefined ? {} : { name }),
    };
  }

  static find(home: Home, idOrName: string): MemoryDataset | undefined {
    const folder = within(home.directory, idOrName);
    const metadata = parsed<Dictionary<string>>(readOrNothing(`${folder}/${METADATA}`));
    const name = metadata && !metadata['name'] ? undefined : idOrName;
    const found = new MemoryDataset(home, { id: metadata?.['id'] ?? idOrName, name });
    const files = found.files().filter((file) => /^\d+\.json$/.test(file));
    if (!metadata && files.length === 0) return undefined;
    for (const file of files) found.#items.push(JSON.stringify(parsed(found.read(file)) ?? {}));
    found.restore(metadata);
    return found;
  }

  add(items: readonly string[]): void {
    for (const item of items) {
      this.#items.push(item);
      if (this.home.persists) this.write(fileOf(this.#items.length), JSON.stringify(JSON.parse(item), null, '\t'));
    }
    this.touch(true);
    this.writeMetadata(this.info);
  }

  /** Takes back the newest items. */
  cut(count: number): void {
    for (let left = Math.min(count, this.#items.length); left > 0; left--) {
      this.remove(fileOf(this.#items.length));
      this.#items.pop();
    }
  }

  list<Data>({ desc = false, limit = ALL, offset = 0 }: DatasetClientListOptions): PaginatedList<[number, Data]> {
    const total = this.#items.length;
    const end = Math.min(total, offset + limit);
    const items: [number, Data][] = [];
    for (let at = offset; at < end; at++) {
      const index = desc ? total - 1 - at : at;
      items.push([index, JSON.parse(this.#items[index]!) as Data]);
    }
    this.touch(false);
    return { count: items.length, desc, items, limit, offset, total };
  }

  clear(): void {
    this.#items.length = 0;
    this.removeAll();
  }
}

function fileOf(number: number): string {
  return `${String(number).padStart(DIGITS, '0')}.json`;
}

/** What a client gets: looks its dataset up at every call, so that a deleted one is missed. */
export function createDatasetClient<Data extends Dictionary>(
  id: string,
  find: () => MemoryDataset | undefined,
  forget: (dataset: MemoryDataset) => void,
  pushed: (dataset: MemoryDataset, lines: readonly string[]) => Promise<void>,
): DatasetClient<Data> & { id: string } {
  const existing = (): MemoryDataset => {
    const found = find();
    if (!found) throw new CrawlError('OPTION_INVALID', `Dataset with id: ${id} does not exist.`);
    return found;
  };
  function pages<Item>(options: DatasetClientListOptions, pick: (entry: [number, Data]) => Item) {
    const page = (part: DatasetClientListOptions): PaginatedList<Item> => {
      const { items, ...rest } = existing().list<Data>(part);
      return { ...rest, items: items.map(pick) };
    };
    const first = (async () => page(options))();
    return pagesOf(first, async function* () {
      const end = (options.offset ?? 0) + (options.limit ?? ALL);
      for (let offset = options.offset ?? 0; offset < end; offset += PAGE) {
        const { items } = page({ ...options, offset, limit: Math.min(PAGE, end - offset) });
        if (items.length === 0) return;
        yield* items;
      }
    });
  }
  return {
    id,
    ...wholeCalls(find, existing, forget),
    downloadItems: async () => {
      throw new CrawlError('OPTION_INVALID', 'downloadItems is not provided by MemoryStorage: use listItems');
    },
    listItems: (options = {}) => pages(options, ([, item]) => item),
    listEntries: (options = {}) => pages(options, (entry) => entry),
    async pushItems(items) {
      const dataset = existing();
      await pushed(dataset, textsOf(items));
    },
  };
}

/** Items as lines of JSON: objects, texts of objects, or arrays of them. */
function textsOf(given: unknown): string[] {
  const value = typeof given === 'string' ? (JSON.parse(given) as unknown) : given;
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (typeof value !== 'object' || value === null) {
    throw new CrawlError('OPTION_INVALID', `a dataset takes objects, not ${JSON.stringify(value)}`);
  }
  return [JSON.stringify(value)];
}
