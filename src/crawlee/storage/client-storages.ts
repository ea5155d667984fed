// The storages of `orcrawl/crawlee`: opened by name they are orcrawl's; made with `new` and a client they call that client.
// The class is orcrawl's own in every other respect, so what one script replaces on it the crawlers see too.
import type { Configuration } from '../../configuration.js';
import { RequestQueue as OwnQueue } from '../../frontier/queue/request-queue.js';
import type { Dictionary } from '../../request/request.js';
import { Dataset as OwnDataset } from '../../store/dataset/dataset.js';
import { KeyValueStore as OwnStore } from '../../store/records/key-value.js';
import { ClientDataset, type ClientStorageOptions } from './client-dataset.js';
import { ClientRequestQueue, ClientRequestQueueV1 } from './client-queue.js';
import { ClientKeyValueStore } from './client-records.js';
import { withNewRequestLimit } from './new-requests.js';

type Constructor<T> = new (options: ClientStorageOptions, config?: Configuration) => T;

function withClients<Own extends { readonly prototype: object }, Made extends object>(
  own: Own,
  client: Constructor<Made>,
): Pick<Own, keyof Own> & Constructor<Made> {
  const isInstance = (value: unknown): boolean =>
    value instanceof client || Function.prototype[Symbol.hasInstance].call(own, value);
  return new Proxy(own, {
    construct: (_own, given, caller) => {
      const made = Reflect.construct(client, given) as object;
      // A class that extends this one keeps its own methods.
      const { prototype } = caller as { prototype: object };
      return prototype === own.prototype ? made : derived(made, prototype);
    },
    get: (target, name, receiver) =>
      name === Symbol.hasInstance ? isInstance : (Reflect.get(target, name, receiver) as unknown),
  }) as unknown as Pick<Own, keyof Own> & Constructor<Made>;
}

/** A class of queues that know `maxNewRequests` when they are opened. */
function opensLimited<Queues extends Pick<typeof OwnQueue, 'open'> & object>(queues: Queues): Queues {
  const open: typeof OwnQueue.open = async (...given) => withNewRequestLimit(await OwnQueue.open(...given));
  return new Proxy(queues, {
    construct: (target, given, caller) =>
      withNewRequestLimit(Reflect.construct(target as unknown as Constructor<OwnQueue>, given, caller) as OwnQueue),
    get: (target, name, receiver) => (name === 'open' ? open : (Reflect.get(target, name, receiver) as unknown)),
  });
}

/** The methods of a derived class in front of those of the storage. */
function derived(made: object, prototype: object): object {
  for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (name !== 'constructor') Object.defineProperty(made, name, property);
  }
  return made;
}

/**
 * Crawlee's dataset: `Dataset.open()`, or over a client of your own.
 *
 * @example
 * const dataset = new Dataset({ id: 'products', client: new MemoryStorage() });
 */
export const Dataset = withClients<typeof OwnDataset, ClientDataset>(OwnDataset, ClientDataset);
export type Dataset<Data extends Dictionary = Dictionary> = OwnDataset<Data>;
/**
 * Crawlee's key-value store: `KeyValueStore.open()`, or over a client of your own.
 *
 * @example
 * const store = new KeyValueStore({ id: 'state', client: new MemoryStorage() });
 */
export const KeyValueStore = withClients<typeof OwnStore, ClientKeyValueStore>(OwnStore, ClientKeyValueStore);
export type KeyValueStore = OwnStore;
/**
 * Crawlee's request queue: `RequestQueue.open()`, or over a client of your own.
 *
 * @example
 * const queue = new RequestQueue({ id: 'shop', client: new MemoryStorage() });
 */
export const RequestQueue = opensLimited(
  withClients<typeof OwnQueue, ClientRequestQueue>(OwnQueue, ClientRequestQueue),
);
export type RequestQueue = OwnQueue;
/**
 * Crawlee's request queue that locks what it takes: the same as `RequestQueue`.
 *
 * @example
 * const queue = await RequestQueueV2.open();
 */
export const RequestQueueV2 = RequestQueue;
export type RequestQueueV2 = OwnQueue;
/**
 * Crawlee's older request queue, which takes without locks.
 *
 * @example
 * const queue = new RequestQueueV1({ id: 'shop', client: new MemoryStorage() });
 */
export const RequestQueueV1 = opensLimited(
  withClients<typeof OwnQueue, ClientRequestQueueV1>(OwnQueue, ClientRequestQueueV1),
);
export type RequestQueueV1 = OwnQueue;
/**
 * Crawlee's base of queues.
 *
 * @example
 * const isQueue = value instanceof RequestProvider;
 */
export const RequestProvider = RequestQueue;
export type RequestProvider = OwnQueue;
