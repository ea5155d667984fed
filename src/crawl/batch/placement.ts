// A batch whose list, queue and knowledge of hosts are in another process: this one only visits what it leases.
// Promise: a URL that goes back unfinished takes its attempts and cookies along, whoever gets it next.
import type { FrontierClient } from '../../frontier/client.js';
import type { Frontier, HolderId, Settlement } from '../../frontier/frontier.js';
import type { HostStore } from '../../politeness/hosts.js';
import { keyInRecord } from '../../request/record.js';
import { Session, sessionOptionsOf, type SessionState } from '../../session/session.js';
import { type BatchTask, indexOf, type UrlItem } from './tasks.js';
import type { Many } from './url-source.js';

/** What is known of a URL between two visits. */
export interface TaskState {
  readonly attempts: number;
  readonly startTime?: string | undefined;
  /** Milliseconds until its first attempt. */
  readonly waited?: number | undefined;
  readonly peakMemoryMb: number;
  readonly session?: SessionState | undefined;
}

/** A URL that was leased. */
export interface PlacedTask {
  readonly index: number;
  readonly item: UrlItem;
  readonly pulledAgoMs: number;
  readonly state?: TaskState | undefined;
}

/** Where the list is. */
export interface BatchPlacement {
  readonly frontier: Frontier;
  readonly holder: HolderId;
  /** What a lease is for; undefined when its result is out already. */
  taskAt(index: number): PlacedTask | undefined;
  /** The URL goes back unfinished. */
  putBack(index: number, state: TaskState): void;
  /** The URL has its result, which is on its way to whoever reads them. */
  ended(index: number): void;
  readonly hostsOf: (identity: string) => Promise<HostStore>;
  /** @param wake something may be due */
  onOpen(wake: () => void): void;
}

const placements = new WeakMap<object, BatchPlacement>();

/** A list for `runMany` that stands for what is leased from elsewhere; it ends when the batch is left. */
export function placedList(placement: BatchPlacement): AsyncIterable<UrlItem> {
  const list: AsyncIterable<UrlItem> = {
    [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }),
  };
  placements.set(list, placement);
  return list;
}

export function placementOf(items: Many<UrlItem>): BatchPlacement | undefined {
  return typeof items === 'object' && items !== null ? placements.get(items) : undefined;
}

export interface PlacedClientParts {
  readonly tasks: Map<number, BatchTask>;
  readonly admit: (placed: PlacedTask) => BatchTask;
  /** A host that the list names may be private, in every process. */
  readonly allowHost: (url: string) => Promise<boolean>;
}

/** The client of a placed batch: leases become tasks, and tasks that are put back become states. */
export function placedClient(client: FrontierClient, placement: BatchPlacement, parts: PlacedClientParts) {
  const { tasks } = parts;
  /** The URL that each lease is for. */
  const leased = new Map<number, number>();

  async function takeUp(index: number): Promise<void> {
    const placed = tasks.has(index) ? undefined : placement.taskAt(index);
    if (!placed) return;
    const task = parts.admit(placed);
    const { state } = placed;
    if (state) revive(task, state);
    await parts.allowHost(task.url);
    tasks.set(index, task);
  }

  function giveBack({ lease }: Settlement): void {
    const index = leased.get(lease);
    leased.delete(lease);
    const task = index === undefined ? undefined : tasks.get(index);
    if (!task) return;
    tasks.delete(task.index);
    placement.putBack(task.index, stateOf(task));
  }

  return {
    ...client,
    get id() {
      return client.id;
    },
    async lease(call: Parameters<FrontierClient['lease']>[0]) {
      const answer = await client.lease(call);
      for (const { id, record } of answer.leases) {
        const index = indexOf(keyInRecord(record));
        if (Number.isNaN(index)) continue;
        leased.set(id, index);
        await takeUp(index);
      }
      return answer;
    },
    settle(call: Parameters<FrontierClient['settle']>[0], life?: HolderId) {
      for (const settlement of call.settlements) giveBack(settlement);
      return client.settle(call, life);
    },
  } satisfies FrontierClient;
}

function stateOf({ attempts, progress, session }: BatchTask): TaskState {
  const { startTime, startedAtMs, pulledAtMs, peakMemoryMb } = progress;
  const waited = startedAtMs === undefined ? undefined : startedAtMs - pulledAtMs;
  return { attempts, startTime, waited, peakMemoryMb, session: session?.getState() };
}

function revive(task: BatchTask, { attempts, startTime, waited, peakMemoryMb, session }: TaskState): void {
  const { progress } = task;
  task.attempts = attempts;
  progress.peakMemoryMb = peakMemoryMb;
  if (startTime !== undefined) progress.startTime = startTime;
  if (waited !== undefined) progress.startedAtMs = progress.pulledAtMs + waited;
  const options = session && sessionOptionsOf(session);
  if (options) task.session = new Session(options);
}
