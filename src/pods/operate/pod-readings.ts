// The counters of pods, read from their stores by a process that does not run them.
// Promise: read-only and bounded: a store that does not answer within seconds is left out.
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { PodReading } from '../../frontier/redis/pod-operations.js';
import type { PodsConfig } from '../config/types.js';
import { createMessageRouter, openOwnEmbeddedPod } from '../stores/embedded-pod.js';
import { frontierFolder } from '../stores/embedded-store.js';
import { viewRemotePod } from '../stores/redis-pod.js';

const ANSWER_MS = 5_000;

export async function readPods(config: PodsConfig, pods: readonly number[]): Promise<Map<number, PodReading>> {
  const found = new Map<number, PodReading>();
  const quick = { ...config, redisSocketConnectTimeout: Math.min(2, config.redisSocketConnectTimeout) };
  await Promise.all(
    pods.map(async (pod) => {
      const reading = await Promise.race([readOne(quick, pod).catch(() => undefined), delay(ANSWER_MS, undefined)]);
      if (reading) found.set(pod, reading);
    }),
  );
  return found;
}

async function readOne(config: PodsConfig, pod: number): Promise<PodReading | undefined> {
  const isEmbedded = config.pods[pod]!.kind === 'embedded';
  // Nothing is created by looking.
  if (isEmbedded && !existsSync(frontierFolder(config, pod))) return undefined;
  const view = isEmbedded
    ? await openOwnEmbeddedPod(config, pod, createMessageRouter())
    : viewRemotePod(config, pod, () => undefined);
  try {
    return await view.reading();
  } finally {
    await view.close();
  }
}
