// A pod in Redis, as its supervisor and the coordinator see it.
// Promise: if the store is unreachable, the call fails and works again when it is back; an emptied store stays an
// error and is never silently refilled.
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { CrawlError, ERROR_CLASSES, type ErrorCode } from '../../errors.js';
import { systemClock } from '../../frontier/embedded/clock.js';
import { createFrontierClient, type FrontierClient } from '../../frontier/client.js';
import { identifyProcess, type ProcessIdentity } from '../../frontier/process-identity.js';
import type { RedisFrontier } from '../../frontier/redis/frontier.js';
import { KEYS } from '../../frontier/redis/keys.js';
import type { LeadAnswer } from '../../frontier/redis/pod-operations.js';
import { lifeIn } from '../../frontier/redis/openers.js';
import { pairs } from '../../frontier/redis/server/start-checks.js';
import type { PodsConfig } from '../config/types.js';
import { pullFrom } from '../worker/parse-queue.js';
import { openPodFrontier, podStateDir } from './pod-frontier.js';
import type { GlobalBoard, OwnPod, PodFailure, PodView } from './pod-view.js';
import { linksOfName, podOfName } from '../worker/routing-client.js';

/** A supervisor silent for longer is replaced. */
export const OWNER_TTL_MS = 15_000;
/** A silent coordinator is replaced after this time. */
const LEAD_TTL_MS = 15_000;
export const SEEDED_NOTE = 'seeded';
/** In the coordinating store: pod → its crawl. */
export const JOINED_KEY = 'global:pods';
const WIPE_PATIENCE_MS = 60_000;
const WIPE_RETRY_MS = 500;

export async function openOwnRedisPod(
  config: PodsConfig,
  index: number,
  warn: (message: string) => void,
  create = true,
): Promise<OwnPod & { frontier(): RedisFrontier }> {
  const open = () => openPodFrontier(config, index, { as: 'supervisor', warn, create });
  let frontier = await open();
  let client: FrontierClient = createFrontierClient(frontier);
  const token = randomUUID();
  const identity = JSON.stringify(identifyProcess(systemClock.bootId, token));
  const store = config.pods[index]!;
  return {
    ...viewOf(index, () => frontier),
    frontier: () => frontier,
    where: store.kind === 'redis' ? store.where : '',
    accepted: async () => (await frontier.pod.reading()).accepted,
    async wipe() {
      // A process on another machine counts as gone when its leases have expired.
      const patienceMs = Math.max(WIPE_PATIENCE_MS, config.leaseSeconds * 1_000 + OWNER_TTL_MS);
      const deadlineMs = performance.now() + patienceMs;
      for (let tries = 0; ; tries++, await delay(WIPE_RETRY_MS)) {
        const refusal = await frontier.drop().then(
          () => undefined,
          (error: unknown) => error,
        );
        frontier = await open();
        client = createFrontierClient(frontier);
        await frontier.pod.own(token, OWNER_TTL_MS, identity);
        if (refusal === undefined) break;
        // Workers of a killed run may still be exiting.
        const isInUse = refusal instanceof CrawlError && refusal.code === 'QUEUE_IN_USE';
        if (!isInUse || performance.now() > deadlineMs) throw refusal;
        if (tries === 0) warn(`${refusal.message} (for up to ${Math.ceil(patienceMs / 1_000)} s)`);
      }
      await rm(podStateDir(config, index), { recursive: true, force: true, maxRetries: 3 });
    },
    async own(onWait) {
      const first = await frontier.pod.own(token, OWNER_TTL_MS, identity);
      if (first.isOurs) return true;
      const other = readIdentity(first.identity);
      const isDead = lifeIn(first.identity, systemClock.bootId) === 'dead';
      if (isDead && (await frontier.pod.own(token, OWNER_TTL_MS, identity, first.token)).isOurs) return true;
      onWait(other ? `process ${other.pid} on ${other.host}` : 'another process', first.leftMs);
      return false;
    },
    disown: async () => void (await frontier.pod.own(token, 0, identity)),
    async fact(name) {
      const text = (await frontier.pod.command('HGET', KEYS.info, name)) as Buffer | null;
      return text === null ? undefined : String(text);
    },
    setFact: async (name, text) => void (await frontier.pod.command('HSET', KEYS.info, name, text)),
    add: async (entries) => void (await client.add(entries)),
    markSeeded: async () => void (await client.settle({ settlements: [], notes: { [SEEDED_NOTE]: '1' } })),
    async release(holders, blame) {
      let leases = 0;
      for (const id of holders) leases += await frontier.release(id, blame);
      return leases;
    },
    notes: async () => (await frontier.overview()).notes,
    liveNotes: async () => (await frontier.overview()).notes,
    async serverFigures() {
      const info = await frontier.pod.serverInfo();
      const number = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1] ?? 0);
      return {
        opsPerSec: number('instantaneous_ops_per_sec'),
        memoryBytes: number('used_memory'),
        memoryLimitBytes: number('maxmemory'),
        clients: number('connected_clients'),
        hits: number('keyspace_hits'),
        misses: number('keyspace_misses'),
        cpuSeconds: number('used_cpu_sys') + number('used_cpu_user'),
      };
    },
    captures: () => frontier.pod.captures(),
    async returnCaptures() {
      const pulling = createFrontierClient(pullFrom(frontier, false).frontier);
      for (let count = 0; ;) {
        const { leases } = await pulling.lease({ max: 200 });
        if (leases.length === 0) return count;
        count += leases.length;
        await pulling.settle({ settlements: leases.map(({ id }) => ({ kind: 'untouched', lease: id })) });
      }
    },
    close: () => frontier.close(),
  };
}

/** A pod on another machine, opened on first use and whenever its store was replaced. */
export function viewRemotePod(config: PodsConfig, index: number, warn: (message: string) => void): PodView {
  let opening: Promise<RedisFrontier> | undefined;
  const frontier = (): Promise<RedisFrontier> =>
    (opening ??= openPodFrontier(config, index, { as: 'guest', warn }).catch((error: unknown) => {
      opening = undefined;
      throw error;
    }));
  return {
    index,
    reading: async () => (await frontier()).pod.reading(),
    outboxByPod: async () => outboxOf(await frontier()),
    isSeeded: async () => isSeeded(await frontier()),
    changeAllowance: async (epoch, change) => (await frontier()).pod.changeAllowance(epoch, change),
    async close() {
      await (await opening?.catch(() => undefined))?.close();
    },
  };
}

function viewOf(index: number, frontier: () => RedisFrontier): Omit<PodView, 'close'> {
  return {
    index,
    reading: () => frontier().pod.reading(),
    outboxByPod: () => outboxOf(frontier()),
    isSeeded: () => isSeeded(frontier()),
    changeAllowance: (epoch, change) => frontier().pod.changeAllowance(epoch, change),
  };
}

/** Names only: a note's name has its target pod and number of links. */
async function outboxOf(frontier: RedisFrontier): Promise<Map<number, number>> {
  const byPod = new Map<number, number>();
  for (const name of (await frontier.pod.command('HKEYS', 'outbox')) as Buffer[]) {
    const pod = podOfName(String(name));
    byPod.set(pod, (byPod.get(pod) ?? 0) + linksOfName(String(name)));
  }
  return byPod;
}

async function isSeeded(frontier: RedisFrontier): Promise<boolean> {
  return (await frontier.pod.command('HGET', 'notes', SEEDED_NOTE)) !== null;
}

export function readIdentity(text: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(text) as ProcessIdentity;
  } catch {
    return undefined;
  }
}

/** The board in the coordinating pod's store. */
export async function openRedisBoard(
  config: PodsConfig,
  warn: (message: string) => void,
): Promise<GlobalBoard & { close(): Promise<void> }> {
  const index = config.globalCoordinationRedisPod;
  let frontier: RedisFrontier | undefined;
  const command = async (...parts: Parameters<RedisFrontier['pod']['command']>): Promise<unknown> => {
    frontier ??= await openPodFrontier(config, index, { as: 'guest', warn });
    return frontier.pod.command(...parts);
  };
  const token = randomUUID();
  const identity = JSON.stringify(identifyProcess(systemClock.bootId, token));
  const lead = async (ttlMs: number, mayTake: boolean, signal?: string): Promise<LeadAnswer> => {
    frontier ??= await openPodFrontier(config, index, { as: 'guest', warn });
    return frontier.pod.lead({ token, ttlMs, identity, mayTake, signal });
  };
  return {
    lead: (mayTake) => lead(LEAD_TTL_MS, mayTake),
    leave: async (signal) => void (await lead(0, false, signal)),
    join: async (pods, crawl) =>
      void (await command('HSET', JOINED_KEY, ...pods.flatMap((pod) => [String(pod), crawl]))),
    async joined(crawl) {
      const all = pairs(await command('HGETALL', JOINED_KEY));
      return new Set([...all].flatMap(([pod, name]) => (name === crawl ? [Number(pod)] : [])));
    },
    tellStopped: async (run, { pod, code, message }) =>
      void (await command('HSET', 'global:stopped', String(pod), `${run} ${code} ${message}`)),
    async stopped(run) {
      const all = pairs(await command('HGETALL', 'global:stopped'));
      return [...all].flatMap(([pod, text]) => readStopped(Number(pod), text, run));
    },
    async tellLoads(loads) {
      const fields = [...loads].flatMap(([pod, load]) => [String(pod), String(load)]);
      if (fields.length > 0) await command('HSET', 'global:watched', ...fields);
    },
    async loads() {
      const all = pairs(await command('HGETALL', 'global:watched'));
      return new Map([...all].map(([pod, load]) => [Number(pod), Number(load) || 0]));
    },
    forgetStopped: async (pods) => void (await command('HDEL', 'global:stopped', ...pods.map(String))),
    showPages: async (pages) => void (await command('SET', 'global:pages_crawled', String(pages))),
    clearStop: async () => void (await command('DEL', 'global:stop_signal')),
    async close() {
      await frontier?.close();
    },
  };
}

/** What another machine reported about its pod; nothing if in another run. */
function readStopped(pod: number, text: string, run: number): PodFailure[] {
  const [said = '', code = '', ...words] = text.split(' ');
  if (said !== String(run)) return [];
  return [{ pod, code: code in ERROR_CLASSES ? (code as ErrorCode) : 'WORKER_LOST', message: words.join(' ') }];
}
