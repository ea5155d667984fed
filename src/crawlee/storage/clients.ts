// PORT, types only. Crawlee's storage client: datasets, key-value stores and request queues behind one object.
import type { AllowedHttpMethods, Dictionary } from '../../request/request.js';

/** When a storage was made, changed and read. */
export interface StorageTimes {
  id: string;
  name?: string;
  createdAt: Date;
  modifiedAt: Date;
  accessedAt: Date;
}
/** A page of a list. */
export interface PaginatedList<Data> {
  total: number;
  count: number;
  offset: number;
  limit: number;
  desc?: boolean;
  items: Data[];
}
/** What is known of a dataset. */
export interface ClientDatasetInfo extends StorageTimes {
  itemCount: number;
}
/** What is known of a key-value store. */
export interface ClientStoreInfo extends StorageTimes {
  userId?: string;
}
/** What is known of a request queue. */
export interface ClientQueueInfo extends StorageTimes {
  userId?: string;
  totalRequestCount: number;
  handledRequestCount: number;
  pendingRequestCount: number;
  hadMultipleClients?: boolean;
  stats?: Dictionary;
}
/** All storages of a kind. */
export interface CollectionClient<Info> {
  list(): Promise<PaginatedList<Info>>;
  getOrCreate(name?: string): Promise<Info>;
}
/** Which items of a dataset. */
export interface DatasetClientListOptions {
  desc?: boolean;
  limit?: number;
  offset?: number;
}
/** One dataset. */
export interface DatasetClient<Data extends Dictionary = Dictionary> {
  get(): Promise<ClientDatasetInfo | undefined>;
  update(newFields: { name?: string }): Promise<Partial<ClientDatasetInfo>>;
  delete(): Promise<void>;
  downloadItems(...args: unknown[]): Promise<Buffer>;
  listItems(options?: DatasetClientListOptions): AsyncIterable<Data> & Promise<PaginatedList<Data>>;
  listEntries?(
    options?: DatasetClientListOptions,
  ): AsyncIterable<[number, Data]> & Promise<PaginatedList<[number, Data]>>;
  pushItems(items: Data | Data[] | string | string[]): Promise<void>;
}
/** A record of a key-value store. */
export interface KeyValueStoreRecord {
  key: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- records hold anything
  value: any;
  contentType?: string;
}
/** Which keys. */
export interface KeyValueStoreClientListOptions {
  limit?: number;
  exclusiveStartKey?: string;
  collection?: string;
  prefix?: string;
}
/** A key, and how long its record is. */
export interface KeyValueStoreItemData {
  key: string;
  size: number;
}
/** A page of keys. */
export interface KeyValueStoreClientListData {
  count: number;
  limit: number;
  exclusiveStartKey?: string;
  isTruncated: boolean;
  nextExclusiveStartKey?: string;
  items: KeyValueStoreItemData[];
}
/** One key-value store. */
export interface KeyValueStoreClient {
  get(): Promise<ClientStoreInfo | undefined>;
  update(newFields: { name?: string }): Promise<Partial<ClientStoreInfo>>;
  delete(): Promise<void>;
  listKeys(
    options?: KeyValueStoreClientListOptions,
  ): Partial<AsyncIterable<KeyValueStoreItemData>> & Promise<KeyValueStoreClientListData>;
  keys?(options?: KeyValueStoreClientListOptions): AsyncIterable<string> & Promise<KeyValueStoreClientListData>;
  values?(options?: KeyValueStoreClientListOptions): AsyncIterable<unknown> & Promise<unknown[]>;
  entries?(options?: KeyValueStoreClientListOptions): AsyncIterable<[string, unknown]> & Promise<[string, unknown][]>;
  recordExists(key: string): Promise<boolean>;
  getRecord(key: string, options?: { buffer?: boolean; stream?: boolean }): Promise<KeyValueStoreRecord | undefined>;
  setRecord(record: KeyValueStoreRecord, options?: { timeoutSecs?: number }): Promise<void>;
  deleteRecord(key: string): Promise<void>;
}
/** A request as clients store it. */
export interface RequestSchema {
  id?: string;
  url: string;
  uniqueKey: string;
  method?: AllowedHttpMethods;
  payload?: string;
  noRetry?: boolean;
  retryCount?: number;
  errorMessages?: string[];
  headers?: Dictionary<string>;
  userData?: Dictionary;
  handledAt?: string;
  loadedUrl?: string;
}
/** What became of one request. */
export interface ClientOperationInfo {
  requestId: string;
  wasAlreadyPresent: boolean;
  wasAlreadyHandled: boolean;
}
/** A request at the head of a queue. */
export interface RequestQueueHeadItem {
  id: string;
  retryCount: number;
  uniqueKey: string;
  url: string;
  method: AllowedHttpMethods;
}
/** The head of a queue. */
export interface QueueHead {
  limit: number;
  queueModifiedAt: Date;
  hadMultipleClients?: boolean;
  items: RequestQueueHeadItem[];
}
/** One request queue. */
export interface RequestQueueClient {
  get(): Promise<ClientQueueInfo | undefined>;
  update(newFields: { name?: string }): Promise<Partial<ClientQueueInfo> | undefined>;
  delete(): Promise<void>;
  listHead(options?: { limit?: number }): Promise<QueueHead>;
  addRequest(request: RequestSchema, options?: { forefront?: boolean }): Promise<ClientOperationInfo>;
  batchAddRequests(
    requests: RequestSchema[],
    options?: { forefront?: boolean },
  ): Promise<{
    processedRequests: (ClientOperationInfo & { uniqueKey: string })[];
    unprocessedRequests: { uniqueKey: string; url: string; method?: AllowedHttpMethods }[];
  }>;
  getRequest(id: string): Promise<RequestSchema | undefined>;
  updateRequest(request: RequestSchema & { id: string }, options?: { forefront?: boolean }): Promise<ClientOperationInfo>;
  deleteRequest(id: string): Promise<unknown>;
  listAndLockHead(options: { lockSecs: number; limit?: number }): Promise<QueueHead & { lockSecs: number }>;
  prolongRequestLock(id: string, options: { lockSecs: number; forefront?: boolean }): Promise<{ lockExpiresAt: Date }>;
  deleteRequestLock(id: string, options?: { forefront?: boolean }): Promise<void>;
}
/** Crawlee's storage client. */
export interface CrawleeStorageClient {
  datasets(): CollectionClient<ClientDatasetInfo>;
  dataset<Data extends Dictionary = Dictionary>(id: string): DatasetClient<Data>;
  keyValueStores(): CollectionClient<ClientStoreInfo>;
  keyValueStore(id: string): KeyValueStoreClient;
  requestQueues(): CollectionClient<ClientQueueInfo>;
  requestQueue(id: string, options?: { clientKey?: string; timeoutSecs?: number }): RequestQueueClient;
  purge?(): Promise<void>;
  teardown?(): Promise<void>;
  setStatusMessage?(message: string, options?: { isStatusMessageTerminal?: boolean; level?: string }): Promise<void>;
  stats?: { rateLimitErrors: number[] };
}
