// The side of a process that visits URLs of a batch whose list, queue and hosts are in another process.
// Promise: results wait while they are not read, and the ends of their leases with them, so that a process that is killed
// has no URL ended without its result; when the channel closes, so does everything here.
import type { TaskMonitor } from '../../../dispatch/dispatcher.js';
import { CrawlError } from '../../../errors.js';
import { newHolderId } from '../../../frontier/client.js';
import type { Frontier } from '../../../frontier/frontier.js';
import type { HostRecord, HostStore } from '../../../politeness/hosts.js';
import type { UrlItem } from '../tasks.js';
import { placedList, type PlacedTask } from '../placement.js';
import type { CallName, FromVisitor, ToVisitor } from './messages.js';

export interface Visitor<Result> {
  /** For `runMany`. */
  readonly items: AsyncIterable<UrlItem>;
  /** Tells of what starts. */
  readonly monitor: TaskMonitor;
  /** Resolves when another result may be sent. */
  send(index: number, result: Result): Promise<void>;
  hear(message: ToVisitor): void;
  /** Nothing waits for unsent results any more. */
  leave(): void;
}

/** Results on their way, unread. */
const MAX_UNREAD = 32;

export function createVisitor<Result>(tell: (message: FromVisitor<Result>) => void): Visitor<Result> {
  const calls = new Map<number, { resolve: (value: never) => void; reject: (error: CrawlError) => void }>();
  const tasks = new Map<number, PlacedTask>();
  let lastCall = 0;
  let unread = 0;
  /** URLs that ended and whose results were not sent yet. */
  const unsent = new Set<number>();
  let whenSent: (() => void)[] = [];
  let isLeft = false;
  let resume: (() => void) | undefined;
  let wake: (() => void) | undefined;

  function call<T>(name: CallName, ...args: readonly unknown[]): Promise<T> {
    const id = ++lastCall;
    const answer = new Promise<T>((resolve, reject) => calls.set(id, { resolve, reject }));
    tell({ kind: 'call', id, name, args });
    return answer;
  }

  const frontier: Frontier = {
    add: (given) => call('add', given),
    lease: (given) => call('lease', given),
    async settle(given) {
      const awaited = [...unsent];
      while (!isLeft && awaited.some((index) => unsent.has(index))) {
        await new Promise<void>((go) => whenSent.push(go));
      }
      return call('settle', given);
    },
    overview: () => call('overview'),
    release: async () => 0,
    find: async (fingerprints) => fingerprints.map(() => undefined),
    close: async () => undefined,
  };

  function goOn(): void {
    const waiting = whenSent;
    whenSent = [];
    for (const go of waiting) go();
  }

  function hostsOf(identity: string): HostStore {
    return {
      get: (host) => call<HostRecord | undefined>('hostOf', identity, host),
      put: (host, record) => tell({ kind: 'host', identity, host, record }),
      claim: (host, ms) => call<boolean>('claimHost', identity, host, ms),
      close: async () => undefined,
    };
  }

  function answered({ id, value, error, tasks: leased }: Extract<ToVisitor, { kind: 'answer' }>): void {
    for (const task of leased ?? []) tasks.set(task.index, task);
    const waiting = calls.get(id);
    calls.delete(id);
    if (error) waiting?.reject(new CrawlError(error.code, error.message));
    else waiting?.resolve(value as never);
  }

  return {
    items: placedList({
      frontier,
      holder: newHolderId(),
      taskAt(index) {
        const task = tasks.get(index);
        tasks.delete(index);
        return task;
      },
      putBack: (index, state) => tell({ kind: 'putBack', index, state }),
      ended: (index) => void unsent.add(index),
      hostsOf: async (identity) => hostsOf(identity),
      onOpen: (whenDue) => void (wake = whenDue),
    }),
    monitor: {
      begin: () => () => undefined,
      queued: () => undefined,
      started: (taskId) => tell({ kind: 'started', index: Number(taskId.slice(taskId.lastIndexOf('-') + 1)) }),
      ended: () => undefined,
      memory: (percent, isPaused) => tell({ kind: 'memory', percent, isPaused }),
    },
    async send(index, result) {
      tell({ kind: 'result', index, result });
      unsent.delete(index);
      goOn();
      if (++unread >= MAX_UNREAD) await new Promise<void>((go) => (resume = go));
    },
    hear(message) {
      if (message.kind === 'answer') answered(message);
      else if (message.kind === 'wake') wake?.();
      else if (message.kind === 'read') {
        unread--;
        resume?.();
        resume = undefined;
      }
    },
    leave() {
      isLeft = true;
      goOn();
    },
  };
}
