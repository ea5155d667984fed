// Stops a crawl on all its machines: the signal that every orchestrator heeds, and who has not ended yet.
// Promise: pages in progress are finished or returned, so `run --resume` continues; a store that is away is named.
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from '../../base/alive.js';
import type { RedisFrontier } from '../../frontier/redis/frontier.js';
import { KEYS } from '../../frontier/redis/keys.js';
import type { PodsConfig } from '../config/types.js';
import { openPodFrontier } from '../stores/pod-frontier.js';
import { readIdentity } from '../stores/redis-pod.js';
import { readStatus } from '../supervise/status-file.js';
import { formatStopSignal } from '../supervise/stop-signal.js';

/** A pod that somebody supervises. */
export interface RunningPod {
  readonly pod: number;
  /** `process 12 on host` */
  readonly who: string;
}

export interface Standing {
  readonly running: readonly RunningPod[];
  /** Pods whose store did not answer. */
  readonly silent: readonly number[];
}

export interface Stopper {
  standing(): Promise<Standing>;
  /** Asks all machines to stop. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

const ANSWER_MS = 5_000;

/**
 * Reaches a running crawl by its configuration.
 *
 * @example
 * const stopper = openStopper(config);
 * await stopper.stop();
 * console.log((await stopper.standing()).running);
 */
export function openStopper(config: PodsConfig): Stopper {
  return config.pods[0]!.kind === 'embedded' ? stopHere(config) : stopEverywhere(config);
}

/** Embedded pods run in one process, and only on this machine. */
function stopHere(config: PodsConfig): Stopper {
  const running = async (): Promise<number | undefined> => {
    const status = await readStatus(config.logDir);
    return status && isAlive(status.pid) ? status.pid : undefined;
  };
  return {
    async standing() {
      const pid = await running();
      const who = `process ${pid} on this machine`;
      return { running: pid === undefined ? [] : config.pods.map((_, pod) => ({ pod, who })), silent: [] };
    },
    async stop() {
      const pid = await running();
      if (pid !== undefined) process.kill(pid, 'SIGTERM');
    },
    close: () => Promise.resolve(),
  };
}

function stopEverywhere(config: PodsConfig): Stopper {
  const quick = { ...config, redisSocketConnectTimeout: Math.min(2, config.redisSocketConnectTimeout) };
  const opened = new Map<number, Promise<RedisFrontier>>();
  const frontierOf = (pod: number): Promise<RedisFrontier> => {
    let opening = opened.get(pod);
    if (!opening) {
      opening = openPodFrontier(quick, pod, { as: 'guest', warn: () => undefined });
      opened.set(pod, opening);
      opening.catch(() => opened.delete(pod));
    }
    return opening;
  };
  /** Undefined if it does not answer; a store without a crawl has no supervisor. */
  const ownerOf = async (pod: number): Promise<string | null | undefined> => {
    const asking = async (): Promise<string | null> => {
      const identity = await (await frontierOf(pod)).pod.command('HGET', 'pod:owner', 'identity');
      return identity === null ? null : String(identity as Buffer);
    };
    const answer = asking().catch((error: { code?: string }) => (error.code === 'QUEUE_EMPTIED' ? null : undefined));
    return Promise.race([answer, delay(ANSWER_MS, undefined)]);
  };
  return {
    async standing() {
      const owners = await Promise.all(config.pods.map((_, pod) => ownerOf(pod)));
      const running = owners.flatMap((text, pod): RunningPod[] => {
        if (text === null || text === undefined) return [];
        const identity = readIdentity(text);
        return [{ pod, who: identity ? `process ${identity.pid} on ${identity.host}` : 'another process' }];
      });
      return { running, silent: owners.flatMap((text, pod) => (text === undefined ? [pod] : [])) };
    },
    async stop() {
      const { pod } = await frontierOf(config.globalCoordinationRedisPod);
      const run = Number((await pod.command('GET', 'global:coordinator')) ?? 0);
      const crawl = String((await pod.command('HGET', KEYS.info, 'crawl')) ?? '');
      // Stamped: a machine that hears of it late obeys, and one that is started afterwards does not.
      await pod.command('SET', 'global:stop_signal', formatStopSignal('stop_signal', run, crawl));
    },
    async close() {
      for (const opening of opened.values()) await (await opening.catch(() => undefined))?.close();
    },
  };
}
