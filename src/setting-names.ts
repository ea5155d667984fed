// Foundation: settings that crawlers, batches and pods share, and what each of them calls them.
// Promise: every place accepts the crawlers' name; a setting given under two names is refused.

/** One setting. The crawlers' name is its name; the others are older names for the same thing, in the same unit. */
export interface SharedSetting {
  readonly name: string;
  /** In the options of `run` and `runMany`, where batches have the setting. */
  readonly batch?: string;
  /** In the file of pods, where they have the setting. */
  readonly pods?: string;
}

export const SHARED_SETTINGS: readonly SharedSetting[] = [
  { name: 'maxRequestRetries', batch: 'maxRetries', pods: 'http_max_retries' },
  { name: 'respectRobotsTxtFile', batch: 'respectRobots' },
  { name: 'sameDomainDelaySecs', pods: 'politeness_delay_seconds' },
  { name: 'robotsCacheTtlSecs', pods: 'robots_cache_ttl_seconds' },
  { name: 'maxDelaySecs', pods: 'max_delay_seconds' },
  { name: 'navigationTimeoutSecs', pods: 'http_timeout_seconds' },
  { name: 'maxBodyBytes', pods: 'max_content_length' },
  { name: 'maxConcurrency', pods: 'fetcher_workers' },
  { name: 'maxConnectionsPerAddress', pods: 'max_connections_per_address' },
  { name: 'slowHostShare', pods: 'slow_host_share' },
  { name: 'slowHostPatienceSecs', pods: 'slow_host_patience_seconds' },
  { name: 'allowPrivateAddresses', pods: 'allow_private_addresses' },
];

/** Other names by the name that a crawler goes by. */
export const CRAWLER_ALIASES: Aliases = Object.fromEntries(
  SHARED_SETTINGS.flatMap(({ name, batch }) => (batch === undefined ? [] : [[batch, name]])),
);

/** Other names by the name that a batch goes by. */
export const BATCH_ALIASES: Aliases = Object.fromEntries(
  SHARED_SETTINGS.flatMap(({ name, batch }) => (batch === undefined ? [] : [[name, batch]])),
);

/** Other names by the key of the pods' file; each may also be written in snake_case. */
export const PODS_ALIASES: Aliases = Object.fromEntries(
  SHARED_SETTINGS.flatMap(({ name, pods }) => (pods === undefined ? [] : [[name, pods]])),
);

export type Aliases = Readonly<Record<string, string>>;

/** The options with each alias under its own name, and what is wrong: a setting that is given under both. */
export function withoutAliases<T extends object>(
  owner: string,
  given: T,
  aliases: Aliases,
): { readonly options: T; readonly problems: readonly string[] } {
  const used = Object.entries(given).filter(([name, value]) => Object.hasOwn(aliases, name) && value !== undefined);
  if (used.length === 0) return { options: given, problems: [] };
  const options = { ...given } as Record<string, unknown>;
  const problems: string[] = [];
  for (const [alias, value] of used) {
    const name = aliases[alias]!;
    delete options[alias];
    if (options[name] === undefined) options[name] = value;
    else problems.push(`${owner} options "${alias}" and "${name}" are the same setting: give one of them`);
  }
  return { options: options as T, problems };
}
