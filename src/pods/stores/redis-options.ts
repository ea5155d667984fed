// How a pod's store in Redis is reached: the same in every process of the crawl, and in its checks.
import type { ConnectionOptions } from '../../frontier/redis/server/connection.js';
import type { PodsConfig, PodStore } from '../config/types.js';

/** One replica has each write before it is answered, if a failover must lose nothing. */
const REPLICAS_NEEDED = 1;

export function redisOptions(
  config: Pick<PodsConfig, 'durability' | 'redisSocketConnectTimeout' | 'redisSocketTimeout'>,
  store: PodStore & { kind: 'redis' },
): ConnectionOptions {
  return {
    url: store.redisUrl,
    prefix: store.prefix,
    replicas: config.durability === 'replicated' ? REPLICAS_NEEDED : 0,
    connectTimeoutMs: config.redisSocketConnectTimeout * 1_000,
    commandTimeoutMs: config.redisSocketTimeout * 1_000,
  };
}
