// The files that run what a crawl on pods needs beside itself: one Redis per pod, Prometheus and Grafana.
// Their texts are templates in monitoring/. What comes out is accepted by `docker compose config` and `promtool check
// config`, and nothing in it listens beyond this machine unless it was asked to.
import { stringify } from 'yaml';
import { SETTING_DEFAULTS } from '../config/keys.js';
import { readTemplate } from './monitoring/templates.js';

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

export function megabytesPerPod({ totalMemoryGb, pods }: Pick<ComposeOptions, 'totalMemoryGb' | 'pods'>): number {
  return Math.floor((totalMemoryGb * 1024) / pods);
}

export function portsOf({ basePort, pods }: Pick<ComposeOptions, 'basePort' | 'pods'>): number[] {
  return Array.from({ length: pods }, (_, pod) => basePort + pod);
}

/** Everything beside the compose file itself has a fixed place. */
export function composeFiles(options: ComposeOptions, output: string): ComposeFiles {
  const prometheus = filled(readTemplate('prometheus.yml'), { PORT: String(options.prometheusPort) });
  return new Map([
    [output, composeYaml(options)],
    ['monitoring/prometheus.yml', prometheus],
    ['monitoring/rules.yml', readTemplate('rules.yml')],
    ['monitoring/grafana/provisioning/datasources/prometheus.yml', readTemplate('datasource.yml')],
    ['monitoring/grafana/provisioning/dashboards/orcrawl.yml', readTemplate('provider.yml')],
    ['monitoring/grafana/dashboards/orcrawl.json', readTemplate('dashboard.json')],
  ]);
}

// Older clients read YAML 1.1, where a bare `yes` is not text, and do not know `name`.
function composeYaml(options: ComposeOptions): string {
  const { image, bind, pods } = options;
  const redis = servicesIn(readTemplate('redis.yml'));
  const stores = portsOf(options).map((port, pod) =>
    filled(redis, {
      POD: String(pod),
      PORT: String(port),
      IMAGE: JSON.stringify(image),
      FLAVOUR: image.includes('valkey') ? 'valkey' : 'redis',
      MEGABYTES: String(megabytesPerPod(options)),
      BIND: bind.includes(':') ? `[${bind}]` : bind,
    }),
  );
  const volumes = ['prometheus_data', 'grafana_data', ...stores.map((_, pod) => `redis_data_${pod}`)];
  return [
    `# Made by orcrawl compose: ${pods} stores, Prometheus and Grafana. Start with: docker compose up -d\nservices:\n`,
    ...stores,
    servicesIn(readTemplate('services.yml')),
    'volumes:\n',
    ...volumes.map((name) => `  ${name}: {}\n`),
  ].join('');
}

/** A template without the line that makes it a document of its own. */
function servicesIn(template: string): string {
  return template.replace(/^services:\n/, '');
}

function filled(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/__([A-Z]+)__/g, (_, name: string) => values[name]!);
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
