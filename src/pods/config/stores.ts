// The stores of the pods: from the file's list, from the flags for one Redis, or embedded under the data directory.
// Promise: a list that mixes kinds or names a store twice is refused, since two pods cannot share a store.
import { join } from 'node:path';
import { withoutPassword } from '../../frontier/redis/server/connection.js';
import { parseUrl } from '../../request/url.js';
import type { FilePod } from './file.js';
import type { Layers } from './layers.js';
import type { PodsFlags, PodStore } from './types.js';

const DEFAULT_REDIS_PORT = 6_379;

export function resolveStores(
  layers: Layers,
  flags: PodsFlags,
  firstDataDir: string,
  problems: string[],
): readonly PodStore[] {
  const { podLimit } = layers;
  const isByFlags = flags.redisHost !== undefined || flags.redisPort !== undefined;
  if (isByFlags && layers.pods !== undefined) {
    problems.push('--redis-host and --redis-port work only without a pods list: the file already has one');
  }
  if (layers.pods === undefined) {
    if (layers.isWrong('pods')) return [];
    if (isByFlags) return fitted([ofFlags(layers, flags, problems)], podLimit, problems);
    return Array.from({ length: podLimit?.count ?? 1 }, (_, index) => embedded(join(firstDataDir, `pod_${index}`)));
  }
  const stores = fitted(layers.pods, podLimit, problems).map((pod, index) => storeOf(pod, index, layers, problems));
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

function ofFlags(layers: Layers, flags: PodsFlags, problems: string[]): PodStore {
  const { redisHost = 'localhost', redisPort = DEFAULT_REDIS_PORT } = flags;
  const host = redisHost.includes(':') && !redisHost.startsWith('[') ? `[${redisHost}]` : redisHost;
  const store = redis(`redis://${host}:${redisPort}`, layers);
  if (store === undefined)
    problems.push(`--redis-host and --redis-port do not name a server: ${host}:${redisPort}`.slice(0, 200));
  return store ?? { kind: 'redis', redisUrl: '', where: '' };
}

function storeOf(pod: FilePod, index: number, layers: Layers, problems: string[]): PodStore | undefined {
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
  const store = redis(url, layers);
  if (store === undefined) {
    problems.push(
      `pods[${index}].redis_url must be an address such as redis://localhost:6379, got "${withoutPassword(url).slice(0, 120)}"`,
    );
  }
  return store;
}

function embedded(path: string): PodStore {
  return Object.freeze({ kind: 'embedded', path });
}

/** The URL with database and password: its own, else those for all pods. */
function redis(text: string, layers: Layers): PodStore | undefined {
  const url = parseUrl(text);
  if (url === undefined || !/^rediss?:$/.test(url.protocol) || url.hostname === '') return undefined;
  if (!/^\/?$|^\/\d+$/.test(url.pathname)) return undefined;
  const password = layers.value('redis_password') as string | undefined;
  if (url.password === '' && password !== undefined && password !== '') url.password = password;
  const db = layers.value('redis_db') as number | undefined;
  if (/^\/?$/.test(url.pathname)) url.pathname = `/${db ?? 0}`;
  if (url.port === '') url.port = String(DEFAULT_REDIS_PORT);
  return Object.freeze({ kind: 'redis', redisUrl: url.href, where: withoutPassword(url.href) });
}

function refuseRepeats(stores: readonly PodStore[], problems: string[]): void {
  const owners = new Map<string, number>();
  for (const [index, store] of stores.entries()) {
    const place = store.kind === 'redis' ? store.where.replace('//127.0.0.1:', '//localhost:') : store.path;
    const owner = owners.get(place);
    if (owner === undefined) owners.set(place, index);
    else
      problems.push(
        `pods[${index}] has the same store as pods[${owner}]: ${store.kind === 'redis' ? store.where : place}`,
      );
  }
}
