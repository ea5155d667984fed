// What the model's worlds share on any backend: folders, pods by domain, and links routed between pods.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { QueueEntry, SettleCall } from '../../src/frontier/frontier.js';
import type { FrontierClient } from '../../src/frontier/client.js';
import { createRoutingClient } from '../../src/pods/worker/routing-client.js';
import { podOfDomain } from '../../src/pods/topology.js';
import type { HandClock } from '../../src/testing/conformance/bench.js';
import type { MakeWorld, ModelOpening, ModelStore, ModelWorld } from '../../src/testing/model/store.js';
import type { SettingChoices } from '../../src/testing/model/steps.js';

export interface ModelBackend {
  readonly choices: SettingChoices;
  /** Weights of the faults that cost a server's restart. */
  readonly faults?: Readonly<Record<string, number>>;
  open(): Promise<{ readonly make: MakeWorld; dispose(): Promise<void> }>;
}

/** In memory where there is such a folder: what is tested is not the disk. */
const root = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
export const folderFor = (name: string): string => mkdtempSync(join(root, `orcrawl-model-${name}-`));
export const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });

export function worldOf(clock: HandClock, stores: readonly ModelStore[], dispose: () => Promise<void>): ModelWorld {
  return { clock, stores, podOf: (domain) => podOfDomain(domain, stores.length), dispose };
}

/** A visit's links for other pods are sent before it is settled, by the real routing client. */
export function routed(
  pod: number,
  pods: number,
  frontier: ModelOpening['frontier'],
  send: Send,
): ModelOpening['settle'] {
  return (call, isAway) => {
    const own = {
      id: call.holder,
      settle: (parts: Omit<SettleCall, 'holder' | 'call'>) =>
        frontier.settle({ ...parts, holder: call.holder, call: call.call }),
    } as unknown as FrontierClient;
    const signal = new AbortController().signal;
    const log = { warning: () => undefined, error: () => undefined, info: () => undefined } as never;
    const client = createRoutingClient({
      ...{ own, pod, pods, log, signal, checkAssignment: false },
      send: (target, entries) => (isAway(target) ? Promise.reject(new Error('away')) : send(target, entries)),
    });
    const { landings, settlements, notes } = call;
    return client.settle({ landings, settlements, notes }, call.holder);
  };
}

export type Send = (target: number, entries: readonly QueueEntry[]) => Promise<void>;
