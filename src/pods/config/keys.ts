// The keys of a pods configuration: accepted values and defaults; key-reference.ts explains each.
// Numbers are from the specification.
import {
  aBoolean,
  aFilledString,
  anObject,
  anyOf,
  aNumber,
  arrayOf,
  aString,
  aWholeNumber,
  check,
  oneOf,
  parseByteSize,
  type Check,
} from '../../option-checks.js';
import { aMimeType } from '../../crawl/options/options-shapes.js';
import { aLeaseInSecs } from '../../configuration-options.js';
import { ORDER_SHAPE } from '../../crawl/order/options.js';
import { DEFAULT_SLOW_HOST_PATIENCE_SECS, DEFAULT_SLOW_HOST_SHARE } from '../../crawl/run/slow-hosts.js';
import { requestsPerHour } from '../../crawl/watch/budget.js';
import { parseUrl } from '../../request/url.js';
import type { PodsSettings } from './types.js';
import { SKIPPED_EXTENSIONS } from './skipped-extensions.js';
import { parseObjectUrl } from '../../store/content/remote/objects.js';

const aByteSize = check(
  'a size such as "2G", "512M" or a number of bytes',
  (value) => (Number.isSafeInteger(value) && (value as number) >= 1) || parseByteSize(value) !== undefined,
);
const anObjectStore = check(
  'an address such as "s3://bucket/prefix"',
  (value) => typeof value === 'string' && parseObjectUrl(value) !== undefined,
);
const someFolders = check(
  'a list of at least one folder',
  (value) => arrayOf(aFilledString).accepts(value) && (value as []).length > 0,
);
const somePods = check(
  'a list with an address or a folder for each pod: redis://localhost:6379, ./pod0, { redis_url } or { path }',
  (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((pod) => anObject.accepts(pod) || aFilledString.accepts(pod)),
);
const anExtension = check(
  'an extension such as "pdf"',
  (value) => typeof value === 'string' && /^\.?[\w-]+$/.test(value),
);
const aPort = aWholeNumber({ from: 0, to: 65_535 });
const aCount = aWholeNumber({ from: 1 });
const aCountOrNone = aWholeNumber({ from: 0 });
const secs = aNumber({ from: 0 });
const someSecs = aNumber({ above: 0 });
const MAX_PROCESSES_PER_POD = 1_024;
const MAX_PODS = 1_024;
const someNodes = check(
  'a list of addresses such as redis://10.0.0.1:6379 or rediss://10.0.0.1:6379',
  (value) => arrayOf(aFilledString).accepts(value) && (value as []).length > 0 && (value as []).length <= MAX_NODES,
);
const aPrefix = check(
  'letters, digits, "-", "_" and "." only',
  (value) => typeof value === 'string' && /^[\w.-]{1,100}$/.test(value),
);
const MAX_NODES = 100;

/** What each key accepts. `null` means the default. */
export const FILE_KEYS = {
  pods: somePods,
  pod_count: aWholeNumber({ from: 1, to: MAX_PODS }),
  cluster: anObject,
  sentinel: anObject,
  data_dirs: someFolders,
  log_dir: aFilledString,
  log_level: oneOf(['DEBUG', 'INFO', 'WARNING', 'ERROR']),
  fetchers_per_pod: aWholeNumber({ from: 1, to: MAX_PROCESSES_PER_POD }),
  parsers_per_pod: aWholeNumber({ from: 0, to: MAX_PROCESSES_PER_POD }),
  engine: oneOf(['http', 'auto', 'browser']),
  browsers_per_pod: aWholeNumber({ from: 1, to: MAX_PROCESSES_PER_POD }),
  browser_memory_limit: aByteSize,
  fetcher_workers: aCount,
  parser_workers: aCount,
  enable_cpu_affinity: aBoolean,
  cores_per_pod: aCount,
  redis_db: aCountOrNone,
  redis_username: aFilledString,
  redis_password: aString,
  redis_password_file: aFilledString,
  redis_tls_ca_file: aFilledString,
  redis_tls_cert_file: aFilledString,
  redis_tls_key_file: aFilledString,
  redis_socket_timeout: someSecs,
  redis_socket_connect_timeout: someSecs,
  redis_socket_keepalive: aBoolean,
  redis_max_connections: aCount,
  politeness_delay_seconds: secs,
  robots_cache_ttl_seconds: someSecs,
  http_timeout_seconds: someSecs,
  http_max_retries: aCountOrNone,
  user_agent_template: aFilledString,
  max_content_length: aCount,
  additional_mime_types: arrayOf(aMimeType),
  extract_text: anyOf(aBoolean, oneOf(['main'])),
  documents: anyOf(aBoolean, oneOf(['follow'])),
  accept_markdown: aBoolean,
  store_raw_html: aBoolean,
  record_fates: aBoolean,
  remember: aBoolean,
  duplicates: oneOf(['keep', 'mark', 'skip']),
  watch: anObject,
  dedup: oneOf(['exact', 'bloom']),
  bloom_filter_capacity: aCount,
  bloom_filter_error_rate: check(
    'a number above 0 and below 1',
    (value) => typeof value === 'number' && value > 0 && value < 1,
  ),
  frontier_batch_size: aWholeNumber({ from: 1, to: 1_000 }),
  max_urls_per_domain: aCount,
  domain_head: aWholeNumber({ from: 1 }),
  overflow_limit: aCount,
  lease_seconds: aLeaseInSecs,
  state_dir: aFilledString,
  handoff_dir: aFilledString,
  parse_queue_max_bytes: aCount,
  content_layout: oneOf(['segments', 'files']),
  content: anObjectStore,
  datasets: anObjectStore,
  durability: oneOf(['process', 'machine', 'replicated']),
  allow_private_addresses: aBoolean,
  max_connections_per_address: aCount,
  slow_host_share: aNumber({ from: 0, to: 1 }),
  slow_host_patience_seconds: someSecs,
  max_delay_seconds: someSecs,
  parse_queue_soft_limit: aCount,
  parse_queue_hard_limit: aCount,
  global_coordination_redis_pod: aCountOrNone,
  global_metrics_update_interval: someSecs,
  prometheus_host: aFilledString,
  prometheus_port: aPort,
  enable_prometheus: aBoolean,
  fetcher_memory_limit: aByteSize,
  parser_memory_limit: aByteSize,
  orchestrator_memory_limit: aByteSize,
  seed_file: aFilledString,
  exclude_file: aFilledString,
  email: check('an e-mail address', (value) => typeof value === 'string' && EMAIL.test(value.trim())),
  max_pages: aCount,
  max_duration: someSecs,
  resume: aBoolean,
  seeded_urls_only: aBoolean,
  order: ORDER_SHAPE.order,
  query: ORDER_SHAPE.query,
  scorers: ORDER_SHAPE.scorers,
  handler: aFilledString,
  skip_extensions: arrayOf(anExtension),
  test_mode: check('an object such as { enabled: true }', anObject.accepts),
} as const satisfies Record<string, Check>;

// Must fit in a comment of a User-Agent header: no spaces, brackets or control characters.
const EMAIL = /^[!-'*+./0-9A-Z^-~=?_-]+@[0-9A-Za-z](?:[0-9A-Za-z.-]*[0-9A-Za-z])?$/;

export type FileKey = keyof typeof FILE_KEYS;

export const POD_KEYS = { redis_url: aFilledString, path: aFilledString } as const satisfies Record<string, Check>;

export const CLUSTER_KEYS = { nodes: someNodes, prefix: aPrefix } as const satisfies Record<string, Check>;
export const SENTINEL_KEYS = { name: aFilledString, nodes: someNodes, prefix: aPrefix } as const satisfies Record<
  string,
  Check
>;

const anHttpUrl = check(
  'an http or https URL',
  (value) => typeof value === 'string' && /^https?:$/.test(parseUrl(value)?.protocol ?? ''),
);

export const WATCH_KEYS = {
  budget: check(
    'requests per time, such as "500/h", "2/min" or "10000/day"',
    (value) => typeof value === 'string' && requestsPerHour(value) !== undefined,
  ),
  importance: oneOf(['none', 'depth', 'inlinks', 'handler']),
  diff: aBoolean,
  webhook: anHttpUrl,
  hints: anyOf(aBoolean, arrayOf(anHttpUrl)),
} as const satisfies Record<string, Check>;

export const TEST_MODE_KEYS = {
  enabled: aBoolean,
  num_pods: aCount,
  fetchers_per_pod: FILE_KEYS.fetchers_per_pod,
  parsers_per_pod: FILE_KEYS.parsers_per_pod,
  data_dirs: someFolders,
} as const satisfies Record<string, Check>;

export const TEST_MODE_DEFAULTS = Object.freeze({
  num_pods: 4,
  fetchers_per_pod: 2,
  parsers_per_pod: 1,
  data_dirs: ['./test_data/ssd1', './test_data/ssd2'],
});

export const SETTING_DEFAULTS: PodsSettings = Object.freeze({
  logLevel: 'INFO',
  fetchersPerPod: 6,
  parsersPerPod: 0,
  engine: 'http',
  browsersPerPod: undefined,
  fetcherWorkers: 200,
  parserWorkers: 50,
  enableCpuAffinity: true,
  coresPerPod: 12,
  redisSocketTimeout: 30,
  redisSocketConnectTimeout: 10,
  redisSocketKeepalive: true,
  redisMaxConnections: 1_000,
  politenessDelaySeconds: 70,
  robotsCacheTtlSeconds: 86_400,
  httpTimeoutSeconds: 30,
  httpMaxRetries: 2,
  userAgentTemplate: 'orcrawl ({email})',
  maxContentLength: 10_485_760,
  additionalMimeTypes: [],
  extractText: true,
  documents: false,
  acceptMarkdown: false,
  storeRawHtml: false,
  recordFates: true,
  remember: false,
  duplicates: 'keep',
  watch: undefined,
  dedup: 'exact',
  bloomFilterCapacity: 10_000_000_000,
  bloomFilterErrorRate: 0.001,
  frontierBatchSize: 1_000,
  maxUrlsPerDomain: undefined,
  domainHead: 1_000,
  overflowLimit: 100_000,
  leaseSeconds: 60,
  parseQueueMaxBytes: 2_147_483_648,
  contentLayout: 'segments',
  content: undefined,
  datasets: undefined,
  durability: 'process',
  allowPrivateAddresses: false,
  maxConnectionsPerAddress: 20,
  slowHostShare: DEFAULT_SLOW_HOST_SHARE,
  slowHostPatienceSeconds: DEFAULT_SLOW_HOST_PATIENCE_SECS,
  maxDelaySeconds: 3_600,
  parseQueueSoftLimit: 20_000,
  parseQueueHardLimit: 80_000,
  globalCoordinationRedisPod: 0,
  globalMetricsUpdateInterval: 10,
  prometheusHost: '127.0.0.1',
  prometheusPort: 8_001,
  enablePrometheus: true,
  maxPages: undefined,
  maxDuration: undefined,
  resume: false,
  seededUrlsOnly: false,
  order: undefined,
  query: undefined,
  scorers: undefined,
  skipExtensions: SKIPPED_EXTENSIONS,
});

/** `max_pages` → `maxPages` */
export function camelCase(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** `maxPages` → `max_pages` */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
