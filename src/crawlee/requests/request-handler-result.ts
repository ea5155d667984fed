// Crawlee's record of what a handler did: its calls are kept, not carried out.
import type { Configuration } from '../../configuration.js';
import type { Dictionary } from '../../request/request.js';
import { KeyValueStore } from '../../store/records/key-value.js';

type Data = Dictionary | readonly Dictionary[];
/** What handlers give to `addRequests`. */
type Asked = string | { url?: string; label?: string; requestsFromUrl?: string };
interface Change {
  changedValue: unknown;
  options?: { contentType?: string } | undefined;
}

/** A key-value store whose writes are kept aside. */
export interface RecordedStore {
  readonly id: string;
  readonly name: string | undefined;
  getValue<T = unknown>(key: string): Promise<T | null>;
  setValue(key: string, value: unknown, options?: { contentType?: string }): Promise<void>;
  getAutoSavedValue<T extends Dictionary>(key: string, defaultValue?: T): Promise<T>;
  getPublicUrl(key: string): string;
}

/**
 * What a handler pushed, queued and stored, for comparing one run of it with another.
 *
 * @example
 * const result = new RequestHandlerResult(Configuration.getGlobalConfig(), 'STATE');
 * await result.pushData({ title: 'a' });
 * result.datasetItems; // [{ item: { title: 'a' } }]
 */
export class RequestHandlerResult {
  readonly #config: Configuration;
  readonly #stateKey: string;
  readonly #pushed: [Data, string?][] = [];
  readonly #added: [readonly Asked[], object?][] = [];
  readonly #changes: Record<string, Record<string, Change>> = {};

  constructor(config: Configuration, crawleeStateKey: string) {
    this.#config = config;
    this.#stateKey = crawleeStateKey;
  }

  /** The calls as they were made. */
  get calls(): { pushData: readonly [Data, string?][]; addRequests: readonly [readonly Asked[], object?][] } {
    return { pushData: this.#pushed, addRequests: this.#added };
  }

  /** What was written to key-value stores, by store and key. */
  get keyValueStoreChanges(): Readonly<Record<string, Record<string, Change>>> {
    return this.#changes;
  }

  get datasetItems(): { item: Dictionary; datasetIdOrName?: string | undefined }[] {
    return this.#pushed.flatMap(([data, datasetIdOrName]) =>
      [data].flat().map((item) => ({ item: item as Dictionary, datasetIdOrName })),
    );
  }

  get enqueuedUrls(): { url: string; label?: string | undefined }[] {
    return this.#requests.flatMap((asked) => {
      if (typeof asked === 'string') return [{ url: asked }];
      return asked.url === undefined ? [] : [{ url: asked.url, label: asked.label }];
    });
  }

  get enqueuedUrlLists(): { listUrl: string; label?: string | undefined }[] {
    return this.#requests.flatMap((asked) =>
      typeof asked === 'string' || asked.requestsFromUrl === undefined
        ? []
        : [{ listUrl: asked.requestsFromUrl, label: asked.label }],
    );
  }

  // Functions as properties: handlers take them out of their context.
  pushData = async (data: Data, datasetIdOrName?: string): Promise<void> => {
    this.#pushed.push([data, datasetIdOrName]);
  };

  addRequests = async (requests: readonly Asked[], options: object = {}): Promise<void> => {
    this.#added.push([requests, options]);
  };

  useState = async <State extends Dictionary>(defaultValue?: State): Promise<State> => {
    const store = await this.getKeyValueStore();
    return store.getAutoSavedValue(this.#stateKey, defaultValue);
  };

  getKeyValueStore = async (idOrName?: string): Promise<RecordedStore> => {
    const store = await KeyValueStore.open(idOrName, { config: this.#config });
    const id = idOrName ?? this.#config.get('defaultKeyValueStoreId') ?? 'default';
    const changes = (this.#changes[id] ??= {});
    return {
      id,
      name: idOrName,
      getValue: async <T>(key: string) =>
        (changes[key]?.changedValue ?? (await store.getValue(key)) ?? null) as T | null,
      setValue: async (key, changedValue, options) => {
        changes[key] = { changedValue, options };
      },
      getAutoSavedValue: <T extends Dictionary>(key: string, defaultValue?: T) =>
        store.getAutoSavedValue<T>(key, defaultValue),
      getPublicUrl: (key) => store.getPublicUrl(key),
    };
  };

  get #requests(): Asked[] {
    return this.#added.flatMap(([requests]) => [...requests]);
  }
}
