// A real Redis Cluster for a test: three masters with a replica each, made with `redis-cli --cluster create`.
// Masters can be killed and come back as replicas, and a slot moves with its keys as the redis-cli does it.
import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { freePort, type RedisServer, startRedis } from './redis-server.js';

export interface RedisCluster {
  readonly servers: readonly RedisServer[];
  /** For `createConnection`. */
  readonly url: string;
  /** Who serves a slot now, as the servers that are alive agree. */
  masterOf(slot: number, except?: RedisServer): Promise<RedisServer>;
  /** The replica of that master. */
  replicaOf(slot: number): Promise<RedisServer>;
  /** Ends the link from a master to its replica, which must be paused: what follows does not reach it. */
  cutReplicas(master: RedisServer): Promise<void>;
  /** Kills the master of a slot, waits for the new one, and starts the killed one again as its replica. */
  failOver(slot: number): Promise<{ readonly from: RedisServer; readonly to: RedisServer; readonly tookMs: number }>;
  /** Moves a slot and its keys to another master. */
  moveSlot(slot: number): Promise<{ readonly from: RedisServer; readonly to: RedisServer; readonly keys: number }>;
  /** The same, to a master whose replica hears nothing of the keys and then takes its place. */
  loseMovedSlot(slot: number): Promise<void>;
  /** Until every master has a replica that is in step. */
  untilWhole(): Promise<void>;
  dispose(): Promise<void>;
}

const MASTERS = 3;
const LIMIT_MS = 120_000;
/** The cluster's bus has the port plus this. */
const BUS = 10_000;
/** How often another port is tried when somebody takes one between the look and the start. */
const TRIES = 3;

export async function startCluster(settings: readonly string[] = []): Promise<RedisCluster> {
  const servers: RedisServer[] = [];
  for (let index = 0; index < MASTERS * 2; index++) servers.push(await startNode(settings));
  const nodes = servers.map(({ port }) => `127.0.0.1:${port}`);
  const cluster = withServers(servers, nodes);
  try {
    cli(['--cluster', 'create', ...nodes, '--cluster-replicas', '1', '--cluster-yes']);
    await cluster.untilWhole();
    return cluster;
  } catch (error) {
    await cluster.dispose();
    throw error;
  }
}

async function startNode(settings: readonly string[]): Promise<RedisServer> {
  const cluster = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000', '--repl-diskless-sync-delay', '0'];
  for (let left = TRIES; ; left--) {
    try {
      return await startRedis([...cluster, '--appendonly', 'yes', ...settings], {}, await freePort(BUS));
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

function withServers(servers: readonly RedisServer[], nodes: readonly string[]): RedisCluster {
  const lines = async (server: RedisServer): Promise<string[][]> =>
    String(await ask(server, 'CLUSTER', 'NODES'))
      .trim()
      .split('\n')
      .map((line) => line.split(' '));
  const at = (place: string): RedisServer => servers.find(({ port }) => place.includes(`:${port}@`))!;

  /** As one server sees it; undefined if it does not answer or knows of none. */
  async function seenBy(server: RedisServer, slot: number): Promise<RedisServer | undefined> {
    try {
      const line = (await lines(server)).find(
        ([, , flags = '', , , , , , ...slots]) =>
          flags.includes('master') && !flags.includes('fail') && slots.some((range) => includes(range, slot)),
      );
      return line && at(line[1]!);
    } catch {
      return undefined;
    }
  }

  async function masterOf(slot: number, except?: RedisServer): Promise<RedisServer> {
    return until(`a master of slot ${slot}`, async () => {
      const seen = await Promise.all(
        servers.filter((server) => server !== except).map((server) => seenBy(server, slot)),
      );
      const found = seen.find((server) => server !== undefined);
      return found !== undefined && found !== except && seen.every((server) => server === found) ? found : undefined;
    });
  }

  async function untilWhole(): Promise<void> {
    await until('a replica for every master', async () => {
      const states = await Promise.all(
        servers.map(async (server) => {
          const parts = [ask(server, 'INFO', 'replication'), ask(server, 'CLUSTER', 'INFO')];
          return (await Promise.all(parts).catch(() => [])).join('');
        }),
      );
      const whole = states.every((state) => state.includes('cluster_state:ok'));
      const masters = states.filter((state) => state.includes('role:master') && !state.includes('connected_slaves:0'));
      const replicas = states.filter((state) => state.includes('master_link_status:up'));
      return whole && masters.length === MASTERS && replicas.length === MASTERS ? true : undefined;
    });
  }

  /** The replicas of a master have all it has now. What Redis moves with a slot no client waits for. */
  async function untilInStep(master: RedisServer): Promise<void> {
    const offsets = async (): Promise<number[]> => {
      const said = String(await ask(master, 'INFO', 'replication'));
      return [/^master_repl_offset:(\d+)/m, /^slave\d+:.*\boffset=(\d+)/m].map((one) => Number(one.exec(said)?.[1]));
    };
    const [wanted = 0] = await offsets();
    await until('a replica in step', async () => ((await offsets())[1]! >= wanted ? true : undefined));
  }

  async function move(slot: number, before: (to: RedisServer) => Promise<void> = async () => {}) {
    const from = await masterOf(slot);
    const idOf = async (server: RedisServer) => String(await ask(server, 'CLUSTER', 'MYID'));
    const masters = (await lines(from)).flatMap(([, place = '', flags = '', , , , , , ...slots]) =>
      flags.includes('master') && !flags.includes('fail') && slots.length > 0 ? [at(place)] : [],
    );
    const to = masters.find((server) => server !== from)!;
    await before(to);
    await ask(to, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(from));
    await ask(from, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', await idOf(to));
    let keys = 0;
    for (;;) {
      const some = (await ask(from, 'CLUSTER', 'GETKEYSINSLOT', slot, 10)) as Buffer[];
      if (some.length === 0) break;
      keys += some.length;
      await ask(from, 'MIGRATE', '127.0.0.1', to.port, '', 0, 10_000, 'KEYS', ...some);
      // The crawl must meet the slot while half of its keys are elsewhere.
      await delay(20);
    }
    for (const server of [to, from, ...masters]) await ask(server, 'CLUSTER', 'SETSLOT', slot, 'NODE', await idOf(to));
    return { from, to, keys };
  }

  return {
    servers,
    url: `redis+cluster://${nodes.join(',')}`,
    masterOf,
    async replicaOf(slot) {
      const master = await masterOf(slot);
      const id = String(await ask(master, 'CLUSTER', 'MYID'));
      // A master may learn of its replica later than of its slots.
      return until(`a replica of slot ${slot}`, async () => {
        const replica = (await lines(master)).find(([, , flags = '', of]) => of === id && !flags.includes('fail'));
        return replica && at(replica[1]!);
      });
    },
    cutReplicas: async (master) => void (await ask(master, 'CLIENT', 'KILL', 'TYPE', 'replica')),
    async failOver(slot) {
      const from = await masterOf(slot);
      const startedMs = performance.now();
      await from.stop('SIGKILL');
      const to = await masterOf(slot, from);
      const tookMs = performance.now() - startedMs;
      await from.start();
      return { from, to, tookMs };
    },
    async moveSlot(slot) {
      const moved = await move(slot);
      await untilInStep(moved.to);
      return moved;
    },
    async loseMovedSlot(slot) {
      let replica: RedisServer | undefined;
      const { to } = await move(slot, async (target) => {
        const id = String(await ask(target, 'CLUSTER', 'MYID'));
        const line = (await lines(target)).find(([, , , of]) => of === id)!;
        replica = at(line[1]!);
        replica.pause();
        await ask(target, 'CLIENT', 'KILL', 'TYPE', 'replica');
      });
      await to.stop('SIGKILL');
      replica!.resume();
      await masterOf(slot, to);
      await to.start();
    },
    untilWhole,
    async dispose() {
      for (const server of servers) await server.dispose();
    },
  };
}

function includes(range: string, slot: number): boolean {
  const match = /^(\d+)(?:-(\d+))?$/.exec(range);
  return match !== null && slot >= Number(match[1]) && slot <= Number(match[2] ?? match[1]);
}

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const deadlineMs = performance.now() + LIMIT_MS; performance.now() < deadlineMs; await delay(100)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`the cluster has not got ${what}`);
}

/** One command to one server; keys may be binary. */
async function ask(
  server: RedisServer,
  ...[name, ...rest]: [string, ...(string | number | Buffer)[]]
): Promise<unknown> {
  const client = new Redis({ port: server.port, lazyConnect: true, protocol: 2, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await client.callBuffer(name, rest);
  } finally {
    client.disconnect();
  }
}

function cli(args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync('redis-cli', args, { encoding: 'utf8', timeout: LIMIT_MS });
  if (status !== 0) throw new Error(`redis-cli ${args.slice(0, 6).join(' ')}: ${stdout.slice(-500)}${stderr}`);
}
