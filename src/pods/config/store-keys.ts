// What the keys of the stores mean, in words: a part of key-reference.ts.
import type { KeyText } from './key-reference.js';
import type { FileKey } from './keys.js';
import type { PodsConfig } from './types.js';

export const withoutRedis = ({ pods }: PodsConfig) =>
  pods.every(({ kind }) => kind === 'embedded') ? 'the pods are embedded' : undefined;
const withoutTls = (config: PodsConfig) =>
  withoutRedis(config) ??
  (config.pods.some((pod) => pod.kind === 'redis' && /^rediss/i.test(pod.redisUrl))
    ? undefined
    : 'no store has a rediss:// address');

export const STORE_KEY_TEXTS = {
  pods: {
    group: 'stores',
    usually: 'one embedded pod in the first data directory',
    example: '[./pod0]',
    says:
      'One store per pod: `{ redis_url: … }` or `{ path: … }` (embedded), or just the address or folder. Addresses: ' +
      '`redis://host:port/db`, `rediss://…`, `unix:///path/to/redis.sock`, `redis+sentinel://host,host/MASTER`. All pods are of one kind.',
  },
  pod_count: {
    group: 'stores',
    usually: '1',
    example: '3',
    says: 'Number of pods, with `cluster`, `sentinel` or embedded pods; in place of `pods`.',
  },
  cluster: {
    group: 'stores',
    usually: 'none',
    example: '{ nodes: [redis://10.0.0.1:6379, redis://10.0.0.2:6379] }',
    says:
      'A Redis Cluster that holds all pods: some of its `nodes`, and a `prefix` (default `orcrawl`) that crawls in the ' +
      'same cluster must not share. Pods are spread evenly over its masters.',
  },
  sentinel: {
    group: 'stores',
    usually: 'none',
    example: '{ name: mymaster, nodes: [redis://10.0.0.1:26379] }',
    says:
      'The master that Sentinels watch holds all pods: its `name`, the Sentinels (`nodes`), and a `prefix` as for ' +
      '`cluster`. For a master per pod: `pods: [redis+sentinel://host,host/MASTER]`.',
  },
  redis_db: {
    group: 'stores',
    usually: '0',
    example: '0',
    says: 'Database number, for addresses that name none.',
    idle: withoutRedis,
  },
  redis_username: {
    group: 'stores',
    usually: 'none',
    example: 'crawler',
    says: 'ACL user, for addresses that name none. Or use `ORCRAWL_REDIS_USERNAME`.',
    idle: withoutRedis,
  },
  redis_password_file: {
    group: 'stores',
    usually: 'none',
    example: '/run/secrets/redis',
    says: 'A file that holds the password, for addresses that have none. Or use `ORCRAWL_REDIS_PASSWORD_FILE`.',
    idle: withoutRedis,
  },
  redis_tls_ca_file: {
    group: 'stores',
    usually: "the system's authorities",
    example: '/etc/redis/ca.pem',
    says: 'The authority that signed the certificates of the stores, for `rediss://` addresses.',
    idle: withoutTls,
  },
  redis_tls_cert_file: {
    group: 'stores',
    usually: 'none',
    example: '/etc/redis/client.pem',
    says: 'A client certificate, where the stores ask for one.',
    idle: withoutTls,
  },
  redis_tls_key_file: {
    group: 'stores',
    usually: 'none',
    example: '/etc/redis/client.key',
    says: "The client certificate's key.",
    idle: withoutTls,
  },
  redis_password: {
    group: 'stores',
    usually: 'none',
    example: 'secret',
    says: 'Password, for addresses that have none. Or use the environment variable `ORCRAWL_REDIS_PASSWORD`.',
    idle: withoutRedis,
  },
  redis_socket_timeout: {
    group: 'stores',
    says: 'Seconds without an answer after which a connection is replaced.',
    idle: withoutRedis,
  },
  redis_socket_connect_timeout: { group: 'stores', says: 'Seconds to connect.', idle: withoutRedis },
  redis_socket_keepalive: {
    group: 'stores',
    says: 'Probe connections that are silent for 30 seconds.',
    idle: (config) =>
      withoutRedis(config) ??
      (config.pods.every((pod) => pod.kind === 'redis' && pod.redisUrl.startsWith('unix:'))
        ? 'the stores are on Unix sockets'
        : undefined),
  },
  redis_max_connections: {
    group: 'stores',
    says: 'Connections of the whole crawl to one Redis; a crawl that needs more is refused.',
    idle: withoutRedis,
  },
  global_coordination_redis_pod: {
    group: 'stores',
    says: 'The pod whose store holds what all machines share: stop signal, run number, page count.',
    idle: withoutRedis,
  },
} as const satisfies Partial<Record<FileKey, KeyText>>;
