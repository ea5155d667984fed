// What each key of a pods configuration means, in words: the reference page, `config init` and `config check` read it.
// Promise: every key has an entry (the compiler checks it); types come from keys.ts, defaults from SETTING_DEFAULTS.
import { camelCase, FILE_KEYS, type FileKey, SETTING_DEFAULTS, TEST_MODE_DEFAULTS } from './keys.js';
import { STORE_KEY_TEXTS, withoutRedis } from './store-keys.js';
import type { PodsConfig } from './types.js';

export interface KeyText {
  readonly group: KeyGroup;
  readonly says: string;
  /** The default in words, where it is not a plain value of SETTING_DEFAULTS. */
  readonly usually?: string;
  /** A value for a file made by `config init`, where the default cannot be written down. */
  readonly example?: string;
  /** Why the key has no effect in this configuration; undefined if it has one. */
  readonly idle?: (config: PodsConfig) => string | undefined;
}

export const KEY_GROUPS = {
  crawl: 'What is crawled',
  stores: 'Stores',
  folders: 'Folders and logs',
  processes: 'Processes',
  politeness: 'Politeness',
  pages: 'Pages',
  queue: 'Queue',
  parsers: 'Parsers',
  metrics: 'Metrics',
  end: 'End of the crawl',
  test: 'Test mode',
} as const;

export type KeyGroup = keyof typeof KEY_GROUPS;

const withoutBrowsers = ({ engine }: PodsConfig) => (engine === 'http' ? 'engine is http' : undefined);
const withoutParsers = ({ parsersPerPod }: PodsConfig) => (parsersPerPod === 0 ? 'parsers_per_pod is 0' : undefined);
const withoutBloom = (config: PodsConfig) =>
  withoutRedis(config) ?? (config.dedup === 'exact' ? 'dedup is exact' : undefined);
const withoutAffinity = ({ enableCpuAffinity }: PodsConfig) =>
  enableCpuAffinity ? undefined : 'enable_cpu_affinity is false';
const withoutPrometheus = ({ enablePrometheus }: PodsConfig) =>
  enablePrometheus ? undefined : 'enable_prometheus is false';

export const KEY_TEXTS: Readonly<Record<FileKey, KeyText>> = {
  seed_file: {
    group: 'crawl',
    usually: 'none: required, except with `resume`',
    example: 'seeds.txt',
    says: 'URLs or bare domains, one per line; `#` starts a comment. Bare domains get `https://`.',
  },
  email: {
    group: 'crawl',
    usually: 'none: required',
    example: 'you@example.com',
    says: 'Contact address, sent to every site in the User-Agent.',
  },
  exclude_file: {
    group: 'crawl',
    usually: 'none',
    example: 'exclude.txt',
    says: 'Domains that are never visited, one per line. Read again whenever it changes.',
  },
  documents: {
    group: 'crawl',
    usually: 'false',
    example: 'true',
    says: 'Read PDF, Office, EPUB and other documents as pages; follow: and queue their links.',
  },
  accept_markdown: {
    group: 'crawl',
    usually: 'false',
    example: 'true',
    says: 'Ask for markdown where a site offers it, and read it as the page it stands for.',
  },
  order: {
    group: 'crawl',
    usually: 'bfs',
    example: 'best-first',
    says: 'Which requests of a domain come first: bfs, dfs or best-first.',
  },
  query: {
    group: 'crawl',
    usually: 'none',
    example: 'refund policy',
    says: 'What pages should be about: links that look like it come first.',
  },
  scorers: {
    group: 'crawl',
    usually: 'keywords and path depth',
    example: '{ keywords: 1, depth: 0.5 }',
    says: 'What makes a link promising, and how much each counts. With order best-first.',
  },
  handler: {
    group: 'crawl',
    usually: 'none: all links are followed',
    example: './handlers.ts',
    says: 'JavaScript or TypeScript module that exports `router` or a default function.',
  },
  seeded_urls_only: { group: 'crawl', says: 'Visit only the seeds: no link is queued.' },
  skip_extensions: {
    group: 'crawl',
    usually: `${SETTING_DEFAULTS.skipExtensions.length} extensions of images, video, documents, archives and data`,
    example: '[pdf, jpg, png, zip]',
    says: 'URLs whose path ends in one of these are never queued; XML is crawled. An empty list queues all.',
  },
  max_urls_per_domain: {
    group: 'crawl',
    usually: 'no limit',
    example: '10000',
    says: 'URLs accepted per registrable domain; further ones are dropped and counted.',
  },
  ...STORE_KEY_TEXTS,
  data_dirs: {
    group: 'folders',
    usually: '`./crawler_data`',
    example: '[./crawler_data]',
    says: 'Folders for pages and items, ideally one per disk. Pages are spread by the hash of their URL.',
  },
  log_dir: {
    group: 'folders',
    usually: '`logs` in the first data directory',
    example: './crawler_data/logs',
    says: 'Logs of all processes, `crawl.log` and `report.json`.',
  },
  log_level: {
    group: 'folders',
    says: '`DEBUG` adds a line per visit with its status and time, skipped links, retries, and pages per second.',
  },
  state_dir: {
    group: 'folders',
    usually: '`state` in the first data directory',
    example: './crawler_data/state',
    says: 'Local state of the pods: requests on disk, robots rules, host records. Keep it between runs.',
  },
  fetchers_per_pod: {
    group: 'processes',
    usually: `${SETTING_DEFAULTS.fetchersPerPod}; 1 with embedded pods`,
    example: '1',
    says: 'Fetcher processes per pod.',
  },
  engine: {
    group: 'processes',
    says:
      '`http`, `browser` (every page is loaded in Chromium), or `auto`: only pages that are empty without scripts. ' +
      'Needs the package playwright-core, a Chromium, and `parsers_per_pod: 0`.',
  },
  browsers_per_pod: {
    group: 'processes',
    usually: 'one per fetcher',
    example: '2',
    says: 'Browsers per pod at once, spread over its fetchers; each loads ten pages at a time.',
    idle: withoutBrowsers,
  },
  browser_memory_limit: {
    group: 'processes',
    usually: '2G',
    example: '2G',
    says: 'Memory of a browser with its processes; above it the browser is replaced once its pages are done.',
    idle: withoutBrowsers,
  },
  fetcher_workers: { group: 'processes', says: 'Concurrent fetches per fetcher.' },
  fetcher_memory_limit: {
    group: 'processes',
    usually: '2G',
    example: '2G',
    says: 'Heap limit of a fetcher; above it the process exits and is restarted.',
  },
  orchestrator_memory_limit: {
    group: 'processes',
    usually: '2G',
    example: '2G',
    says: 'Memory of the orchestrator above which it warns, once.',
  },
  enable_cpu_affinity: {
    group: 'processes',
    usually: 'true if the machine has enough cores',
    example: 'true',
    says: 'Pin each process to its cores (Linux with `taskset`). `true` warns if there are too few cores.',
  },
  cores_per_pod: {
    group: 'processes',
    says: 'Cores per pod; with parsers two thirds are for fetchers.',
    idle: withoutAffinity,
  },
  politeness_delay_seconds: { group: 'politeness', says: 'Rest between two requests to one domain.' },
  max_delay_seconds: {
    group: 'politeness',
    says: 'The longest delay that robots.txt, `Retry-After` or errors can cause.',
  },
  robots_cache_ttl_seconds: { group: 'politeness', says: 'How long a robots.txt counts.' },
  user_agent_template: {
    group: 'politeness',
    says: 'The User-Agent; must contain `{email}`. Name your crawler and a page about it.',
  },
  max_connections_per_address: {
    group: 'politeness',
    says: 'Connections per IP address of one process, and requests at once per domain if the delay is 0.',
  },
  slow_host_share: {
    group: 'politeness',
    says: 'Share of a fetcher’s slots that slow hosts may hold while others wait.',
  },
  slow_host_patience_seconds: {
    group: 'politeness',
    says: 'Seconds of almost nothing after which a host counts as slow.',
  },
  allow_private_addresses: {
    group: 'politeness',
    says: 'Allow loopback and private network addresses. Only for your own networks.',
  },
  http_timeout_seconds: { group: 'pages', says: 'Time for one request, from sending it to the end of its response.' },
  http_max_retries: { group: 'pages', says: 'Further attempts after failures that may pass.' },
  max_content_length: { group: 'pages', says: 'Largest body in bytes, decompressed; larger pages fail.' },
  additional_mime_types: {
    group: 'pages',
    usually: 'none',
    example: '[application/pdf]',
    says:
      'Content types to accept besides HTML, XML and plain text, such as `application/pdf` or `image/*`. They are ' +
      'recorded, and stored with `store_raw_html`; text types also as text. Remove their endings from `skip_extensions`.',
  },
  extract_text: { group: 'pages', says: 'Store the text: `true` all of it, `main` the main content, `false` none.' },
  store_raw_html: { group: 'pages', says: 'Also store each response as received (WARC).' },
  content_layout: { group: 'pages', says: '`segments`: WET and WARC files; `files`: one file per page.' },
  content: {
    group: 'pages',
    usually: 'they stay in `data_dirs`',
    example: 's3://bucket/prefix',
    says: 'Where finished segments of pages go: an S3 bucket. Credentials, region and endpoint are those of AWS tools.',
  },
  datasets: {
    group: 'pages',
    usually: 'they stay in `data_dirs`',
    example: 's3://bucket/prefix',
    says: 'Where finished segments of items go, as `content`; both may be the same address.',
  },
  durability: {
    group: 'pages',
    says:
      'What survives: the end of a `process`; of the `machine` (slower: each batch is synced); `replicated`: also a ' +
      'failover of Redis, since a visit is acknowledged only when a replica of its store has it.',
  },
  record_fates: {
    group: 'pages',
    says: 'An index line for each URL that failed or was skipped, for `get --meta`, `why` and `retry-failed`.',
  },
  remember: {
    group: 'pages',
    says:
      'Remember pages from one crawl to the next: the next crawl visits them again, asks servers only what changed, and ' +
      'stores what is unchanged as a WARC `revisit` (with `store_raw_html`). See fresh.md.',
  },
  duplicates: {
    group: 'pages',
    says:
      'Pages whose main content nearly repeats that of another page of the pod: `mark` names that one to handlers ' +
      '(`change.duplicateOf`), `skip` neither handles nor stores them, nor follows their links. Turns `remember` on.',
  },
  watch: {
    group: 'crawl',
    usually: 'none: the crawl ends when every page was visited',
    example: '{ budget: 500/h }',
    says:
      'Visit pages again and again, for ever: `budget` requests over all pods, spent where they buy most freshness; ' +
      '`importance: depth`, `inlinks` or `handler` (its export `importance`), `diff: true`, `webhook: URL`, `hints: false` or a list of feeds. Changes are in the dataset `changes`. See fresh.md.',
  },
  dedup: {
    group: 'queue',
    says: 'How seen URLs are remembered: `exact` (about 10 bytes each), or `bloom` (about 2, but some new URLs are missed).',
    idle: withoutRedis,
  },
  bloom_filter_capacity: {
    group: 'queue',
    says: 'URLs of the whole crawl for which the filters are sized. Redis takes the memory as they fill; see `config check`.',
    idle: withoutBloom,
  },
  bloom_filter_error_rate: {
    group: 'queue',
    says: 'Share of new URLs that are mistaken for known ones at that capacity.',
    idle: withoutBloom,
  },
  frontier_batch_size: { group: 'queue', says: 'Seeds added per call.' },
  domain_head: {
    group: 'queue',
    says: 'Requests of a domain kept in Redis; the rest wait on disk.',
    idle: withoutRedis,
  },
  overflow_limit: {
    group: 'queue',
    says: 'Requests in Redis that may wait to be moved to disk; above it adding waits.',
    idle: withoutRedis,
  },
  lease_seconds: { group: 'queue', says: 'How long a silent worker keeps its requests.', idle: withoutRedis },
  parsers_per_pod: {
    group: 'parsers',
    says: 'Parser processes per pod; 0: fetchers parse what they fetch. Parsers need Redis.',
  },
  parser_workers: { group: 'parsers', says: 'Concurrent pages per parser.', idle: withoutParsers },
  parser_memory_limit: {
    group: 'parsers',
    usually: '4G',
    example: '4G',
    says: 'Heap limit of a parser; above it the process exits and is restarted.',
    idle: withoutParsers,
  },
  parse_queue_soft_limit: {
    group: 'parsers',
    says: 'Captured pages that may wait before fetchers slow down.',
    idle: withoutParsers,
  },
  parse_queue_hard_limit: {
    group: 'parsers',
    says: 'Captured pages that may wait before fetchers stop.',
    idle: withoutParsers,
  },
  parse_queue_max_bytes: {
    group: 'parsers',
    says: 'Bytes of captured pages that may wait, per pod.',
    idle: withoutParsers,
  },
  handoff_dir: {
    group: 'parsers',
    usually: 'in `/dev/shm` if there is room, else in `state_dir`',
    example: '/dev/shm/crawl',
    says: 'Where captured pages wait for parsers.',
    idle: withoutParsers,
  },
  enable_prometheus: { group: 'metrics', says: 'Serve `/metrics` of all processes on this machine.' },
  prometheus_host: { group: 'metrics', says: 'Address of `/metrics`.', idle: withoutPrometheus },
  prometheus_port: {
    group: 'metrics',
    says: 'Port of `/metrics`; 0 takes a free one, which the log names.',
    idle: withoutPrometheus,
  },
  global_metrics_update_interval: {
    group: 'metrics',
    says: 'Seconds between two readings of the servers’ figures, and of `global:pages_crawled`.',
    idle: withoutRedis,
  },
  max_pages: {
    group: 'end',
    usually: 'no limit',
    example: '1000000',
    says: 'Stop after this many stored pages, over all runs of the crawl. Never exceeded.',
  },
  max_duration: { group: 'end', usually: 'no limit', example: '86400', says: 'Stop after this many seconds.' },
  resume: { group: 'end', says: 'Continue the crawl in the stores; the same as `--resume`.' },
  test_mode: {
    group: 'test',
    usually: 'off',
    example: '{ enabled: true, num_pods: 1 }',
    says:
      `A smaller crawl with the same file: \`enabled\`, \`num_pods\` (${TEST_MODE_DEFAULTS.num_pods}), \`fetchers_per_pod\` ` +
      `(${TEST_MODE_DEFAULTS.fetchers_per_pod}), \`parsers_per_pod\` (${TEST_MODE_DEFAULTS.parsers_per_pod}), \`data_dirs\` ` +
      `(\`${TEST_MODE_DEFAULTS.data_dirs.join('`, `')}\`).`,
  },
};

/** One row of the reference. */
export interface KeyRow extends KeyText {
  readonly key: FileKey;
  readonly type: string;
  readonly defaultText: string;
}

/** Every key, by group. */
export function keyRows(): KeyRow[] {
  const order = Object.keys(KEY_GROUPS);
  return (Object.keys(KEY_TEXTS) as FileKey[])
    .map((key) => ({ ...KEY_TEXTS[key], key, type: FILE_KEYS[key].expected, defaultText: defaultOf(key) }))
    .sort((a, b) => order.indexOf(a.group) - order.indexOf(b.group));
}

/** The plain default of a key; undefined if it is none or depends. */
export function plainDefault(key: FileKey): string | number | boolean | undefined {
  if (KEY_TEXTS[key].usually !== undefined) return undefined;
  const value = SETTING_DEFAULTS[camelCase(key) as keyof typeof SETTING_DEFAULTS];
  return typeof value === 'object' ? undefined : value;
}

/** What a commented line of a file shows: the default, or an example. */
export function shownValue(key: FileKey): string {
  return KEY_TEXTS[key].example ?? String(plainDefault(key));
}

function defaultOf(key: FileKey): string {
  return KEY_TEXTS[key].usually ?? `\`${String(plainDefault(key))}\``;
}

/** Given keys that have no effect, each with the reason: `parser_workers: parsers_per_pod is 0`. */
export function idleKeys(config: PodsConfig): string[] {
  return config.givenKeys.flatMap((key) => {
    const reason = KEY_TEXTS[key].idle?.(config);
    return reason === undefined ? [] : [`${key} has no effect: ${reason}`];
  });
}
