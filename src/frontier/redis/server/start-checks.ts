// Checks a Redis before it holds a frontier: version, mode, eviction and persistence; problems are errors or warnings.
// Read-only: the server's configuration is not changed.
import { CrawlError } from '../../../errors.js';
import type { Connection } from './connection.js';
import { RECENT_MS } from '../recent-adds.js';
import { unreachable } from './translate.js';

export interface ServerFacts {
  /** A set of integers with more entries leaves its packed form. */
  readonly maxIntsetEntries: number;
  /** What a crash of the server, or a failover, can lose, as text; undefined if nothing. */
  readonly atRisk: string | undefined;
  /** Replicas connected to it now. */
  readonly replicas: number;
}

const MIN_MAJOR = 7;
const DEFAULT_MAX_INTSET_ENTRIES = 512;

export async function checkServer(connection: Connection): Promise<ServerFacts> {
  const info = fields(String(await connection.command('INFO')));
  const { where } = connection;
  const version = info.get('redis_version') ?? '';
  if (!(Number.parseInt(version, 10) >= MIN_MAJOR)) {
    refuse(`Redis at ${where} is version ${version || 'unknown'}: 7.0 or newer is needed (or Valkey)`);
  }
  const isCluster = info.get('cluster_enabled') === '1' || info.get('redis_mode') === 'cluster';
  if (isCluster && connection.kind !== 'cluster') {
    refuse(
      `Redis at ${where} is part of a cluster: in a pods configuration use cluster: { nodes: […] } and pod_count, ` +
        'elsewhere an address redis+cluster://host,host',
    );
  }
  if (!isCluster && connection.kind === 'cluster') {
    refuse(`Redis at ${where} is not a cluster: name it by redis_url or redis://…`);
  }
  if (info.get('redis_mode') === 'sentinel') {
    refuse(
      `${where} is a Sentinel, not a Redis server: use redis+sentinel://host,host/MASTER, or sentinel: in the file`,
    );
  }
  if (info.get('role') === 'slave') {
    // The election that made it one is over soon.
    if (connection.kind !== 'server') throw unreachable(where, new Error('the server found is a replica'));
    refuse(`Redis at ${where} is a replica: name its master`);
  }
  const config = await readConfig(connection);
  const policy = config.get('maxmemory-policy') ?? info.get('maxmemory_policy') ?? 'noeviction';
  if (policy !== 'noeviction') {
    refuse(`Redis at ${where} has maxmemory-policy ${policy}, which may drop queued URLs: set it to noeviction`);
  }
  const replicas = Number(info.get('connected_slaves') ?? 0);
  return {
    maxIntsetEntries: Number(config.get('set-max-intset-entries') ?? DEFAULT_MAX_INTSET_ENTRIES),
    replicas,
    atRisk:
      [
        connection.replicas > 0 ? undefined : onFailover(connection.kind, replicas),
        whatIsAtRisk(
          config.get('appendonly') ?? (info.get('aof_enabled') === '1' ? 'yes' : 'no'),
          config.get('appendfsync') ?? 'unknown',
          config.get('save') ?? 'unknown',
        ),
      ]
        .filter((risk) => risk !== undefined)
        .join('. ') || undefined,
  };
}

function onFailover(kind: Connection['kind'], replicas: number): string | undefined {
  if (kind === 'server' || replicas === 0) return undefined;
  return (
    'a failover loses what its replicas had not received, often under a second of calls. Pages crawled in that time are ' +
    'crawled again and stored once; links that other pods sent in it are sent again if their processes still run. With ' +
    'durability: replicated nothing is lost'
  );
}

function whatIsAtRisk(appendonly: string, appendfsync: string, save: string): string | undefined {
  if (appendonly === 'yes') {
    if (appendfsync === 'always') return undefined;
    if (appendfsync === 'everysec') return forgets('up to 2 seconds of calls', 'appendfsync everysec');
    return forgets('what the system had not written yet, often 30 seconds of calls', `appendfsync ${appendfsync}`);
  }
  if (save === '') return 'it stores nothing on disk: a restart loses the whole queue';
  return forgets('every call since its last snapshot', 'snapshots only');
}

/** docs/pods-failures.md, "Durability", says the same at length. */
function forgets(what: string, setting: string): string {
  return (
    `with ${setting} a crash of its machine loses ${what}. Pages crawled in that time are crawled again and stored once. ` +
    `Requests added in the last ${RECENT_MS / 1_000} seconds are added again if the processes that added them are still ` +
    'running; others are lost. With appendfsync always nothing is lost'
  );
}

/** Some hosted servers refuse CONFIG: then the defaults are assumed for what INFO does not have. */
async function readConfig(connection: Connection): Promise<Map<string, string>> {
  const names = ['maxmemory-policy', 'appendonly', 'appendfsync', 'save', 'set-max-intset-entries'];
  try {
    return pairs(await connection.command('CONFIG', 'GET', ...names));
  } catch (error) {
    if (error instanceof CrawlError && (error.code === 'QUEUE_UNREACHABLE' || error.code === 'QUEUE_CLOSED'))
      throw error;
    return new Map();
  }
}

function fields(info: string): Map<string, string> {
  return new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(':');
      return colon < 0 ? [] : [[line.slice(0, colon), line.slice(colon + 1)] as const];
    }),
  );
}

/** A flat list of names and values as a map. */
export function pairs(list: unknown): Map<string, string> {
  const flat = list as readonly unknown[];
  const map = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) map.set(String(flat[i]), String(flat[i + 1]));
  return map;
}

function refuse(message: string): never {
  throw new CrawlError('QUEUE_UNSUITABLE', message);
}
