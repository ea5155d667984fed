// A pod in Redis, as its supervisor and the coordinator see it.
// Promise: a store that is away is an error of the call, and works again when it is back; one that was emptied stays an
// error, and is never silently refilled.
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { CrawlError } from '../errors.js';
import { systemClock } from '../frontier/clock.js';
import { createHolder, type Holder } from '../frontier/holder.js';
import { identifyProcess, lifeOf, type ProcessIdentity } from '../frontier/process-identity.js';
import type { RedisFrontier } from '../frontier/redis/frontier.js';
import type { PodsConfig } from './config-types.js';
import { pullFrom } from './parse-queue.js';
import { openPodFrontier, podStateDir } from './pod-frontier.js';
import type { GlobalBoard, OwnPod, PodView } from './pod-view.js';

/** A supervisor silent for longer is replaced. */
export const OWNER_TTL_MS = 15_000;
const SEEDED_NOTE = 'seeded';
const WIPE_PATIENCE_MS = 60_000;
const WIPE_RETRY_MS = 500;

export async function openOwnRedisPod(
  config: PodsConfig,
  index: number,
  warn: (message: string) => void,
): Promise<OwnPod> {
  const open = () => openPodFrontier(config, index, { as: 'supervisor', warn });
  let frontier = await open();
  let holder: Holder = createHolder(frontier);
  const token = randomUUID();
  const identity = JSON.stringify(identifyProcess(systemClock.bootId, token));
  const store = config.pods[index]!;
  return {
    ...viewOf(index, () => frontier),
    where: store.kind === 'redis' ? store.where : '',
    accepted: async () => (await frontier.pod.reading()).accepted,
    async wipe() {
      for (const deadlineMs = performance.now() + WIPE_PATIENCE_MS; ; await delay(WIPE_RETRY_MS)) {
        const refusal = await frontier.drop().then(
          () => undefined,
          (error: unknown) => error,
        );
        frontier = await open();
        holder = createHolder(frontier);
        await frontier.pod.own(token, OWNER_TTL_MS, identity);
        if (refusal === undefined) break;
        // Workers of a run that was killed are still on their way out.
        const isInUse = refusal instanceof CrawlError && refusal.code === 'QUEUE_IN_USE';
        if (!isInUse || performance.now() > deadlineMs) throw refusal;
      }
      await rm(podStateDir(config, index), { recursive: true, force: true, maxRetries: 3 });
    },
    async own(onWait) {
      const first = await frontier.pod.own(token, OWNER_TTL_MS, identity);
      if (first.isOurs) return true;
      const other = readIdentity(first.identity);
      const isDead = other !== undefined && lifeOf(other, systemClock.bootId) === 'dead';
      if (isDead && (await frontier.pod.own(token, OWNER_TTL_MS, identity, first.token)).isOurs) return true;
      onWait(other ? `process ${other.pid} on ${other.host}` : 'another process', first.leftMs);
      return false;
    },
    disown: async () => void (await frontier.pod.own(token, 0, identity)),
    add: async (entries) => void (await holder.add(entries)),
    markSeeded: async () => void (await holder.settle({ settlements: [], notes: { [SEEDED_NOTE]: '1' } })),
    async release(holders) {
      let leases = 0;
      for (const id of holders) leases += await frontier.release(id);
      return leases;
    },
    notes: async () => (await frontier.overview()).notes,
    async serverFigures() {
      const info = String(await frontier.pod.command('INFO'));
      const number = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
      return {
        opsPerSec: number('instantaneous_ops_per_sec'),
        memoryBytes: number('used_memory'),
        memoryLimitBytes: number('maxmemory'),
        clients: number('connected_clients'),
      };
    },
    captures: () => frontier.pod.captures(),
    async returnCaptures() {
      const pulling = createHolder(pullFrom(frontier, false).frontier);
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

/** A pod of another machine, opened when it is first asked and whenever it came back as another store. */
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
    isSeeded: () => isSeeded(frontier()),
    changeAllowance: (epoch, change) => frontier().pod.changeAllowance(epoch, change),
  };
}

async function isSeeded(frontier: RedisFrontier): Promise<boolean> {
  return (await frontier.pod.command('HGET', 'notes', SEEDED_NOTE)) !== null;
}

function readIdentity(text: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(text) as ProcessIdentity;
  } catch {
    return undefined;
  }
}

/** The board in the store of the pod that coordinates. */
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
  return {
    async nextEpoch() {
      const epoch = Number(await command('INCR', 'global:coordinator'));
      if (!Number.isSafeInteger(epoch)) throw new CrawlError('QUEUE_CORRUPT', 'global:coordinator is no number');
      return epoch;
    },
    showPages: async (pages) => void (await command('SET', 'global:pages_crawled', String(pages))),
    async stopSignal() {
      const text = await command('GET', 'global:stop_signal');
      return text === null ? undefined : String(text);
    },
    signalStop: async (reason) => void (await command('SET', 'global:stop_signal', reason)),
    clearStop: async () => void (await command('DEL', 'global:stop_signal')),
    async close() {
      await frontier?.close();
    },
  };
}
