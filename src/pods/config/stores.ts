// The stores of the pods: from the file's list, servers that all share, the flags for one Redis, or embedded ones.
// Promise: a list that mixes kinds or names a store twice is refused, since two pods cannot share a store.
import { join } from 'node:path';
import {
  type AddressDefaults,
  completeAddress,
  parseAddress,
  REDIS_PORT,
  SENTINEL_PORT,
  withoutPassword,
} from '../../frontier/redis/server/address.js';
import { podPrefix } from '../../frontier/redis/server/slots.js';
import type { FilePod, FileShared } from './file.js';
import type { Layers } from './layers.js';
import type { PodsFlags, PodStore } from './types.js';

export function resolveStores(
  layers: Layers,
  flags: PodsFlags,
  firstDataDir: string,
  problems: string[],
): readonly PodStore[] {
  const { podLimit } = layers;
  const isByFlags = flags.redisHost !== undefined || flags.redisPort !== undefined;
  const named = (['pods', 'cluster', 'sentinel'] as const).filter((key) => layers[key] !== undefined);
  if (isByFlags && named.length > 0) {
    problems.push(`--redis-host and --redis-port work only without ${named[0]}: the file already names the stores`);
  }
  if (named.length > 1) problems.push(`${named.join(' and ')} contradict each other: name the stores once`);
  const count = layers.value('pod_count') as number | undefined;
  if (count !== undefined && (layers.pods !== undefined || isByFlags)) {
    problems.push('pod_count works only with cluster, sentinel or embedded pods: a pods list has its own length');
  }
  const defaults = addressDefaults(layers, flags, problems);
  if (layers.pods === undefined) {
    if (layers.isWrong('pods') || layers.isWrong('cluster') || layers.isWrong('sentinel')) return [];
    if (layers.cluster) return shared('cluster', layers.cluster, layers, defaults, problems);
    if (layers.sentinel) return shared('sentinel', layers.sentinel, layers, defaults, problems);
    if (isByFlags) return fitted([ofFlags(flags, defaults, problems)], podLimit, problems);
    const length = podLimit?.count ?? count ?? 1;
    return Array.from({ length }, (_, index) => embedded(join(firstDataDir, `pod_${index}`)));
  }
  const stores = fitted(layers.pods, podLimit, problems).map((pod, index) =>
    storeOf(pod, index, layers, defaults, problems),
  );
  if (new Set(stores.map((store) => store?.kind).filter(Boolean)).size > 1) {
    problems.push('pods mixes redis_url and path: all stores must be of one kind');
  }
  const known = stores.filter((store) => store !== undefined);
  refuseRepeats(known, problems);
  return known;
}

function fitted<Pod>(pods: readonly Pod[], limit: Layers['podLimit'], problems: string[]): readonly Pod[] {
  if (limit === undefined) return pods;
  if (limit.count > pods.length) {
    problems.push(
      `${limit.said} is ${limit.count}, but only ${pods.length === 1 ? 'one pod is' : `${pods.length} pods are`} listed`,
    );
  }
  return pods.slice(0, limit.count);
}

/** What addresses leave open: database, user, password and files, the same for all pods. */
function addressDefaults(layers: Layers, flags: PodsFlags, problems: string[]): AddressDefaults {
  const password = (layers.value('redis_password') as string | undefined) || undefined;
  const passwordFile = layers.path('redis_password_file');
  // A flag, or the environment, overrides the file.
  const isOverridden = flags.redisPassword !== undefined;
  if (password !== undefined && passwordFile !== undefined && !isOverridden) {
    problems.push('redis_password and redis_password_file contradict each other: keep the file');
  }
  const certFile = layers.path('redis_tls_cert_file');
  const keyFile = layers.path('redis_tls_key_file');
  if ((certFile === undefined) !== (keyFile === undefined)) {
    problems.push('redis_tls_cert_file and redis_tls_key_file belong together: give both or none');
  }
  return {
    db: layers.value('redis_db') as number | undefined,
    username: layers.value('redis_username') as string | undefined,
    password,
    passwordFile: password === undefined ? passwordFile : undefined,
    ...{ caFile: layers.path('redis_tls_ca_file'), certFile, keyFile },
  };
}

const DEFAULT_PREFIX = 'orcrawl';

/** Pods that share servers: each has a prefix, which in a cluster also decides the server. */
function shared(
  kind: 'cluster' | 'sentinel',
  { nodes, name, prefix = DEFAULT_PREFIX }: FileShared,
  layers: Layers,
  defaults: AddressDefaults,
  problems: string[],
): readonly PodStore[] {
  const isReported = problems.some((problem) => problem.includes(`${kind}.`));
  if (nodes === undefined || (kind === 'sentinel' && name === undefined)) {
    if (!isReported) problems.push(`${kind}.${nodes === undefined ? 'nodes' : 'name'} is missing`);
    return [];
  }
  const usualPort = kind === 'sentinel' ? SENTINEL_PORT : REDIS_PORT;
  const addresses = nodes.map((node) => parseAddress(withPort(node, usualPort)));
  addresses.forEach((address, index) => {
    if (address?.kind === 'server' && address.path === undefined) return;
    const text = withoutPassword(nodes[index]!).slice(0, 120);
    problems.push(`${kind}.nodes[${index}] must be an address such as redis://10.0.0.1:${usualPort}, got "${text}"`);
  });
  const known = addresses.filter((address) => address !== undefined);
  if (known.length < nodes.length) return [];
  if (new Set(known.map(({ isTls }) => isTls)).size > 1) {
    problems.push(`${kind}.nodes mixes redis:// and rediss://: all nodes are reached the same way`);
  }
  if (kind === 'cluster' && (defaults.db ?? 0) !== 0)
    problems.push('redis_db must be 0 with cluster: it has no others');
  const hosts = known.map(
    ({ nodes: [node] }) => `${node!.host.includes(':') ? `[${node!.host}]` : node!.host}:${node!.port}`,
  );
  const login = known.find(({ password, passwordFile }) => password !== undefined || passwordFile !== undefined);
  const text = `redis${known[0]!.isTls ? 's' : ''}+${kind}://${hosts.join(',')}${kind === 'sentinel' ? `/${encodeURIComponent(name!)}` : ''}`;
  const own = login && { username: login.username, password: login.password, passwordFile: login.passwordFile };
  const url = completeAddress(text, { ...defaults, ...(kind === 'cluster' && { db: 0 }), ...own });
  const count = (layers.value('pod_count') as number | undefined) ?? 1;
  return fitted(Array.from({ length: count }), layers.podLimit, problems).map((_, index, { length }) =>
    store(url!, podPrefix(prefix, index, length)),
  );
}

/** A node's own port; the usual one of a Sentinel is another than a server's. */
function withPort(text: string, usualPort: number): string {
  const url = /^[a-z+]+:\/\//i.test(text.trim()) ? text.trim() : `redis://${text.trim()}`;
  return /:\d+\/?$/.test(url) ? url : `${url.replace(/\/$/, '')}:${usualPort}`;
}

function ofFlags(flags: PodsFlags, defaults: AddressDefaults, problems: string[]): PodStore {
  const { redisHost = 'localhost', redisPort = REDIS_PORT } = flags;
  const host = redisHost.includes(':') && !redisHost.startsWith('[') ? `[${redisHost}]` : redisHost;
  const url = completeAddress(`redis://${host}:${redisPort}`, defaults);
  if (url !== undefined) return store(url, '');
  problems.push(`--redis-host and --redis-port do not name a server: ${host}:${redisPort}`.slice(0, 200));
  return { kind: 'redis', redisUrl: '', where: '', prefix: '' };
}

function storeOf(
  pod: FilePod,
  index: number,
  layers: Layers,
  defaults: AddressDefaults,
  problems: string[],
): PodStore | undefined {
  const { redis_url: url, path } = pod;
  // Invalid values were already reported.
  const isReported = problems.some((problem) => problem.includes(`pods[${index}].`));
  if (url !== undefined && path !== undefined) {
    problems.push(`pods[${index}] has both redis_url and path: a pod has one store`);
    return undefined;
  }
  if (path !== undefined) return embedded(layers.fromFile(path));
  if (url === undefined) {
    if (!isReported) problems.push(`pods[${index}] must name its store: redis_url or path`);
    return undefined;
  }
  const address = parseAddress(url);
  if (address?.kind === 'cluster') {
    problems.push(`pods[${index}].redis_url is a cluster: use cluster: { nodes: […] } and pod_count in place of pods`);
    return undefined;
  }
  if (address) return store(completeAddress(url, defaults)!, '');
  const text = withoutPassword(url).slice(0, 120);
  problems.push(
    `pods[${index}].redis_url must be an address such as redis://localhost:6379 or unix:///run/redis.sock, got "${text}"`,
  );
  return undefined;
}

function embedded(path: string): PodStore {
  return Object.freeze({ kind: 'embedded', path });
}

function store(redisUrl: string, prefix: string): PodStore {
  return Object.freeze({ kind: 'redis', redisUrl, where: withoutPassword(redisUrl), prefix });
}

function refuseRepeats(stores: readonly PodStore[], problems: string[]): void {
  const owners = new Map<string, number>();
  for (const [index, one] of stores.entries()) {
    const place = one.kind === 'redis' ? one.where.replace('//127.0.0.1:', '//localhost:') : one.path;
    const owner = owners.get(place);
    if (owner === undefined) owners.set(place, index);
    else
      problems.push(`pods[${index}] has the same store as pods[${owner}]: ${one.kind === 'redis' ? one.where : place}`);
  }
}
