// The files that run what a crawl on pods needs beside itself: a Redis a pod, Prometheus and Grafana.
// Promise: pure; what comes out is accepted by `docker compose config` and `promtool check config`, and nothing in it
// listens beyond this machine unless it was asked to.
import { stringify } from 'yaml';
import { SETTING_DEFAULTS } from '../config/keys.js';
import { dashboard } from './compose-dashboard.js';

export interface ComposeOptions {
  readonly pods: number;
  readonly basePort: number;
  readonly totalMemoryGb: number;
  readonly image: string;
  /** The address that the stores listen at. */
  readonly bind: string;
  readonly fetchersPerPod: number;
  readonly parsersPerPod: number;
  readonly prometheusPort: number;
}

/** Path (from the folder of the compose file) → text. */
export type ComposeFiles = ReadonlyMap<string, string>;

export const COMPOSE_DEFAULTS: ComposeOptions = Object.freeze({
  pods: 16,
  basePort: 6_379,
  totalMemoryGb: 1_440,
  image: 'redis:7-alpine',
  bind: '127.0.0.1',
  fetchersPerPod: SETTING_DEFAULTS.fetchersPerPod,
  parsersPerPod: SETTING_DEFAULTS.parsersPerPod,
  prometheusPort: SETTING_DEFAULTS.prometheusPort,
});

const PROMETHEUS_UI_PORT = 9_090;
const GRAFANA_PORT = 3_000;

export function megabytesPerPod({ totalMemoryGb, pods }: Pick<ComposeOptions, 'totalMemoryGb' | 'pods'>): number {
  return Math.floor((totalMemoryGb * 1024) / pods);
}

export function portsOf({ basePort, pods }: Pick<ComposeOptions, 'basePort' | 'pods'>): number[] {
  return Array.from({ length: pods }, (_, pod) => basePort + pod);
}

/** Everything beside the compose file itself has a fixed place. */
export function composeFiles(options: ComposeOptions, output: string): ComposeFiles {
  return new Map([
    [output, composeYaml(options)],
    ['monitoring/prometheus.yml', prometheusYaml(options)],
    ['monitoring/rules.yml', rulesYaml()],
    ['monitoring/grafana/provisioning/datasources/prometheus.yml', datasourceYaml()],
    ['monitoring/grafana/provisioning/dashboards/orcrawl.yml', providerYaml()],
    ['monitoring/grafana/dashboards/orcrawl.json', `${JSON.stringify(dashboard(), null, 2)}\n`],
  ]);
}

function composeYaml(options: ComposeOptions): string {
  const services: Record<string, object> = {};
  const volumes: Record<string, object> = { prometheus_data: {}, grafana_data: {} };
  portsOf(options).forEach((port, pod) => {
    services[`redis-${pod}`] = redisService(options, pod, port);
    volumes[`redis_data_${pod}`] = {};
  });
  services.prometheus = prometheusService();
  services.grafana = grafanaService();
  const head = `# Made by orcrawl compose: ${options.pods} stores, Prometheus and Grafana. Start with: docker compose up -d\n`;
  // Older clients read YAML 1.1, where a bare `yes` is no text, and know no `name`.
  return head + stringify({ services, volumes }, { lineWidth: 0, version: '1.1' });
}

function redisService(options: ComposeOptions, pod: number, port: number): object {
  const { image, bind } = options;
  const flavour = image.includes('valkey') ? 'valkey' : 'redis';
  return {
    image,
    command: [
      `${flavour}-server`,
      ...['--maxmemory', `${megabytesPerPod(options)}mb`, '--maxmemory-policy', 'noeviction'],
      // A snapshot an hour is the second way back; every call is in the append-only file before it is answered.
      ...['--save', '3600 1', '--appendonly', 'yes', '--appendfsync', 'always'],
      // Rewrites copy pages that change meanwhile: rarely, and not while the file is small.
      ...['--auto-aof-rewrite-percentage', '100', '--auto-aof-rewrite-min-size', '1gb'],
      // Inside the data volume, since the image's entry point gives only that to its user.
      ...['--logfile', '/data/log/redis.log', '--loglevel', 'notice'],
    ],
    ports: [`${bind.includes(':') ? `[${bind}]` : bind}:${port}:6379`],
    volumes: [`redis_data_${pod}:/data`, `./logs/redis-${pod}:/data/log`],
    healthcheck: { test: ['CMD', `${flavour}-cli`, 'ping'], interval: '5s', timeout: '3s', retries: 5 },
    ulimits: { nofile: { soft: 65_536, hard: 65_536 } },
    // It writes its data before it ends.
    stop_grace_period: '5m',
    restart: 'unless-stopped',
  };
}

// Both use the host's network: the endpoint of orcrawl listens on the host's loopback, where no bridge reaches.
function prometheusService(): object {
  return {
    image: 'prom/prometheus:v3.5.0',
    network_mode: 'host',
    command: [
      '--config.file=/etc/prometheus/prometheus.yml',
      '--storage.tsdb.path=/prometheus',
      '--storage.tsdb.retention.time=30d',
      `--web.listen-address=127.0.0.1:${PROMETHEUS_UI_PORT}`,
    ],
    volumes: [
      './monitoring/prometheus.yml:/etc/prometheus/prometheus.yml:ro',
      './monitoring/rules.yml:/etc/prometheus/rules.yml:ro',
      'prometheus_data:/prometheus',
    ],
    restart: 'unless-stopped',
  };
}

function grafanaService(): object {
  return {
    image: 'grafana/grafana:12.1.0',
    network_mode: 'host',
    environment: {
      GF_SERVER_HTTP_ADDR: '127.0.0.1',
      GF_SERVER_HTTP_PORT: String(GRAFANA_PORT),
      // Who reaches the loopback may look; changing things needs the password.
      GF_AUTH_ANONYMOUS_ENABLED: 'true',
      GF_AUTH_ANONYMOUS_ORG_ROLE: 'Viewer',
      GF_SECURITY_ADMIN_PASSWORD: '${GRAFANA_ADMIN_PASSWORD:-admin}',
      GF_USERS_ALLOW_SIGN_UP: 'false',
      GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH: '/var/lib/grafana/dashboards/orcrawl.json',
    },
    volumes: [
      'grafana_data:/var/lib/grafana',
      './monitoring/grafana/provisioning:/etc/grafana/provisioning:ro',
      './monitoring/grafana/dashboards:/var/lib/grafana/dashboards:ro',
    ],
    restart: 'unless-stopped',
  };
}

function prometheusYaml({ prometheusPort }: ComposeOptions): string {
  return stringify({
    global: { scrape_interval: '10s', evaluation_interval: '30s' },
    rule_files: ['rules.yml'],
    scrape_configs: [{ job_name: 'orcrawl', static_configs: [{ targets: [`127.0.0.1:${prometheusPort}`] }] }],
  });
}

function rulesYaml(): string {
  const alert = (name: string, expr: string, minutes: number, summary: string): object => ({
    alert: name,
    expr,
    for: `${minutes}m`,
    annotations: { summary },
  });
  return stringify(
    {
      groups: [
        {
          name: 'orcrawl',
          rules: [
            alert('StoreDown', 'orcrawl_store_up == 0', 1, 'The store of pod {{ $labels.pod }} does not answer.'),
            alert(
              'HotShard',
              'orcrawl_hot_shard_ratio > 2',
              15,
              'Pod {{ $labels.pod }} works twice as much as the mean.',
            ),
            alert(
              'StoreNearlyFull',
              'orcrawl_redis_memory_bytes / (orcrawl_redis_memory_limit_bytes > 0) > 0.9',
              5,
              'The store of pod {{ $labels.pod }} has used 90 % of its memory.',
            ),
            alert(
              'DiskNearlyFull',
              'orcrawl_machine_disk_free_bytes / orcrawl_machine_disk_size_bytes < 0.05',
              5,
              'The disk under {{ $labels.path }} is nearly full.',
            ),
            alert(
              'NothingCrawled',
              'sum(rate(orcrawl_pages_crawled_total[10m])) == 0 and sum(orcrawl_due_domains) > 0',
              10,
              'Domains are due, and no page was crawled for ten minutes.',
            ),
          ],
        },
      ],
    },
    { lineWidth: 0 },
  );
}

function datasourceYaml(): string {
  return stringify({
    apiVersion: 1,
    datasources: [
      {
        name: 'Prometheus',
        uid: 'prometheus',
        type: 'prometheus',
        access: 'proxy',
        url: `http://127.0.0.1:${PROMETHEUS_UI_PORT}`,
        isDefault: true,
      },
    ],
  });
}

function providerYaml(): string {
  return stringify({
    apiVersion: 1,
    providers: [{ name: 'orcrawl', type: 'file', options: { path: '/var/lib/grafana/dashboards' } }],
  });
}

/** A configuration for these stores; what only a person can say is left for `config check` to ask. */
export function crawlYaml(options: ComposeOptions): string {
  const head =
    '# Made by orcrawl compose. Say who you are and where to begin, then: orcrawl config check FILE\n' +
    'email: null # required: sites must be able to reach you\n' +
    'seed_file: null # required: URLs or domains, one a line\n';
  return (
    head +
    stringify({
      pods: portsOf(options).map((port) => ({ redis_url: `redis://127.0.0.1:${port}` })),
      fetchers_per_pod: options.fetchersPerPod,
      parsers_per_pod: options.parsersPerPod,
      prometheus_port: options.prometheusPort,
    })
  );
}

/** What is likely to go wrong with these numbers on a machine with so much memory. */
export function composeWarnings(
  options: ComposeOptions,
  machineBytes: number,
  limits: { readonly fetcher: number; readonly parser: number; readonly orchestrator: number },
): string[] {
  const warnings: string[] = [];
  const { pods, fetchersPerPod, parsersPerPod, totalMemoryGb, bind } = options;
  const workers = pods * (fetchersPerPod * limits.fetcher + parsersPerPod * limits.parser) + limits.orchestrator;
  const redis = totalMemoryGb * 1024 ** 3 * REWRITE_FACTOR;
  if (redis + workers > machineBytes) {
    warnings.push(
      `Redis × ${REWRITE_FACTOR} (${gigabytes(redis)}: rewrites copy pages) and the limits of all workers (${gigabytes(workers)}) ` +
        `add up to ${gigabytes(redis + workers)}; the machine has ${gigabytes(machineBytes)}`,
    );
  }
  if (!/^(127\.|::1$|localhost$)/.test(bind)) {
    warnings.push(
      `the stores listen at ${bind} without a password: whoever reaches them can read and change everything`,
    );
  }
  return warnings;
}

/** While a server rewrites its file, pages that change exist twice. */
export const REWRITE_FACTOR = 1.3;

const gigabytes = (bytes: number): string => `${Math.round(bytes / 1024 ** 3)} GB`;
