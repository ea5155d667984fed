// A batch spread over processes: this one reads the list and has the queue, the others visit.
// Promise: turns, limits and order are those of one process; a process that ends loses nothing, and no URL has two
// results. A URL that ends its process again and again fails as WORKER_LOST.
import { createRecentMap } from '../../../base/recent-map.js';
import type { TaskMonitor } from '../../../dispatch/dispatcher.js';
import type { RateLimiter } from '../../../dispatch/rate-limiter.js';
import { asCrawlError, CrawlError } from '../../../errors.js';
import { entryOf } from '../../../frontier/entry.js';
import { createFrontierClient, newHolderId } from '../../../frontier/client.js';
import { createMemoryFrontier } from '../../../frontier/embedded/store/memory.js';
import type { LeaseAnswer, LeaseCall, QueueEntry, SettleCall } from '../../../frontier/frontier.js';
import { createMemoryHosts, type HostRecord, type HostStore } from '../../../politeness/hosts.js';
import type { Fingerprint } from '../../../request/fingerprint.js';
import { keyInRecord } from '../../../request/record.js';
import type { Time } from '../../time.js';
import { createFeeder, type ListEntry } from '../feeder.js';
import type { PlacedTask, TaskState } from '../placement.js';
import type { ResolvedRunConfig } from '../run-config.js';
import type { BatchParts, RunningBatch } from '../run.js';
import { createDomainShares } from '../shares.js';
import { admit, type BatchTask, indexOf, type UrlItem } from '../tasks.js';
import type { FromVisitor } from './messages.js';
import { keepVisitor, type VisitorProcess } from './visitor-process.js';

/** What a result tells the monitor. */
export interface EndedUrl {
  readonly success: boolean;
  readonly errorCode: string | null;
  readonly statusCode: number | null;
  readonly bytes: number;
}

export interface SpreadParts<Result extends EndedUrl> {
  readonly items: BatchParts['items'];
  readonly config: ResolvedRunConfig;
  /** Visits at once, of all processes together; at least one each. */
  readonly permits: number;
  readonly limiter: RateLimiter | undefined;
  readonly monitor: TaskMonitor | undefined;
  readonly processes: number;
  /** The program of a process, and what it is told first, with its share of the permits. */
  readonly entry: { readonly file: string; readonly execArgv: readonly string[] };
  readonly settings: (share: number) => unknown;
  readonly time: Time;
  readonly onResult: (result: Result, index: number) => void;
  readonly unread?: () => number;
  /** The result of a URL that was never visited to its end. */
  readonly failed: (task: BatchTask, error: CrawlError, taskId: string) => Result;
}

/** A URL that was read and has no result yet. */
interface Pending {
  readonly task: BatchTask;
  readonly item: UrlItem;
  state?: TaskState;
  /** As it is in the queue: itself, or where it was redirected to. */
  print?: Fingerprint;
}

const MAX_TURNS = 65_535;
/** Longer than any batch: the end of a process is noticed at once, without leases that expire. */
const LEASE_MS = 7 * 86_400_000;
const SLOW_MS = 1_000;
const MAX_IDENTITIES = 64;

export function startSpread<Result extends EndedUrl>(parts: SpreadParts<Result>): RunningBatch {
  const { permits, limiter, monitor, time, config } = parts;
  const pending = new Map<number, Pending>();
  const hosts = createRecentMap<string, HostStore>(MAX_IDENTITIES);
  const holder = newHolderId();
  const frontier = createMemoryFrontier({
    holder,
    pacing: { delayMs: limiter?.baseDelayMs[0] ?? 0, turns: MAX_TURNS },
    leaseMs: LEASE_MS,
    forgetEnded: true,
    clock: { monotonicMs: () => Math.floor(time.monotonicMs()), wallMs: time.wallMs, bootId: '' },
  });
  const client = createFrontierClient(frontier, { id: holder });
  const shares = limiter
    ? undefined
    : createDomainShares(permits, MAX_TURNS, (turns) => frontier.setPacing({ delayMs: 0, turns }));
  const taskPrefix = newHolderId();
  const taskId = (index: number) => `${taskPrefix}-${index}`;
  /** Processes whose last call got less than it wanted. */
  const hungry = new Set<VisitorProcess>();
  /** Whose results wait until some were read. */
  const unreadOf: VisitorProcess[] = [];
  let endings = 0;
  let endingsBefore = 0;
  let over = false;
  let settle!: { resolve: () => void; reject: (error: unknown) => void };
  const ended = new Promise<void>((resolve, reject) => (settle = { resolve, reject }));
  ended.catch(() => undefined);

  const feeder = createFeeder({
    items: parts.items,
    permits,
    held: () => pending.size,
    unread: parts.unread,
    take: queueUp,
    onDone: endIfDone,
  });
  const endLooking = time.every(SLOW_MS, () => {
    if (endings === endingsBefore && shares?.isAlone) feeder.lookFurther();
    endingsBefore = endings;
  });

  async function queueUp(entries: readonly ListEntry[]): Promise<void> {
    const queued: QueueEntry[] = [];
    for (const { item, place } of entries) {
      const { task, request, error } = admit(item, place, config, time.monotonicMs());
      pending.set(place, { task, item });
      monitor?.queued(taskId(place), task.url);
      if (error) {
        fail(task, error);
        continue;
      }
      const entry = entryOf(request);
      pending.get(place)!.print = entry.fingerprint;
      shares?.pending((task.domain = entry.domain));
      queued.push(entry);
    }
    if (queued.length === 0) return;
    await client.add(queued);
    wakeHungry();
  }

  function wakeHungry(): void {
    for (const one of hungry) one.send({ kind: 'wake' });
    hungry.clear();
  }

  function fail(task: BatchTask, error: CrawlError): void {
    finish(task.index, parts.failed(task, error, taskId(task.index)));
  }

  function finish(index: number, result: Result): boolean {
    const found = pending.get(index);
    if (over || !found) return false;
    pending.delete(index);
    endings++;
    const { domain } = found.task;
    if (domain !== undefined) shares?.ended(domain);
    const { success, errorCode, statusCode, bytes } = result;
    monitor?.ended(taskId(index), {
      success,
      errorCode: errorCode ?? undefined,
      statusCode: statusCode ?? undefined,
      bytes,
    });
    parts.onResult(result, index);
    feeder.feedMore();
    endIfDone();
    return true;
  }

  function endIfDone(): void {
    if (feeder.isDone && pending.size === 0) end();
  }

  /** Ends everything, well or with an error; the first word counts. */
  function end(error?: unknown): void {
    if (over) return;
    over = true;
    endLooking();
    feeder.leave();
    endShowing?.();
    void Promise.all(visitors.map((one) => one.close())).then(async () => {
      await frontier.close();
      if (error === undefined) settle.resolve();
      else settle.reject(error);
    });
  }

  async function lease(visitor: VisitorProcess, call: LeaseCall): Promise<[LeaseAnswer, PlacedTask[]]> {
    // The last URLs of a list are for all.
    const max = Math.min(call.max, Math.max(1, Math.ceil(pending.size / parts.processes)));
    const answer = await frontier.lease({ ...call, max });
    if (answer.leases.length < max) hungry.add(visitor);
    if (answer.leases.length > 0) feeder.lookNoFurther();
    else if (answer.state === 'waiting') feeder.lookFurther();
    const tasks = answer.leases.flatMap(({ record }) => placed(indexOf(keyInRecord(record))));
    return [answer, tasks];
  }

  function placed(index: number): PlacedTask[] {
    const found = pending.get(index);
    if (!found) return [];
    const { item, state, task } = found;
    return [{ index, item, state, pulledAgoMs: time.monotonicMs() - task.progress.pulledAtMs }];
  }

  function noteLinks({ settlements }: SettleCall): void {
    for (const { links } of settlements) {
      for (const { fingerprint, record } of links ?? []) {
        const found = pending.get(indexOf(keyInRecord(record)));
        if (found) found.print = fingerprint;
      }
    }
  }

  function hostsOf(identity: string): HostStore {
    const known = hosts.get(identity) ?? createMemoryHosts();
    hosts.set(identity, known);
    return known;
  }

  async function answerTo(visitor: VisitorProcess, { id, name, args }: Call): Promise<void> {
    let tasks: PlacedTask[] | undefined;
    let value: unknown;
    try {
      const [first, host, ms] = args as [never, never, never];
      if (name === 'lease') {
        visitor.holders.add((first as LeaseCall).holder);
        [value, tasks] = await lease(visitor, first);
      } else if (name === 'settle') {
        noteLinks(first);
        value = await frontier.settle(first);
        wakeHungry();
      } else if (name === 'add') value = await frontier.add(first);
      else if (name === 'overview') value = await frontier.overview();
      else if (name === 'hostOf') value = await hostsOf(first).get(host);
      else value = await hostsOf(first).claim(host, ms);
      visitor.send({ kind: 'answer', id, value, ...(tasks && { tasks }) });
    } catch (error) {
      const { code, message } = asCrawlError(error, 'QUEUE_CORRUPT');
      visitor.send({ kind: 'answer', id, error: { code, message } });
    }
  }

  function hear(visitor: VisitorProcess, message: FromVisitor<Result>): void {
    // Who closes still gives back what it holds.
    if (over && message.kind !== 'call') return;
    switch (message.kind) {
      case 'call':
        return void answerTo(visitor, message);
      case 'host':
        return hostsOf(message.identity).put(message.host, message.record as HostRecord);
      case 'putBack': {
        const found = pending.get(message.index);
        if (found) found.state = message.state;
        return;
      }
      case 'result':
        finish(message.index, message.result);
        unreadOf.push(visitor);
        return tellRead();
      case 'started': {
        const found = pending.get(message.index);
        if (found) monitor?.started(taskId(message.index), found.task.url);
        return;
      }
      case 'memory':
        return monitor?.memory(message.percent, message.isPaused);
      case 'failed':
        return end(new CrawlError(message.code, message.message));
      default:
        return message satisfies never;
    }
  }

  /** While too many results are unread, none is waited for. */
  function tellRead(): void {
    while (unreadOf.length > 0 && (parts.unread?.() ?? 0) < 2 * permits) unreadOf.shift()!.send({ kind: 'read' });
  }

  /** Its URLs go on elsewhere; what ended it is found out by trials. */
  async function lost(visitor: VisitorProcess, holders: ReadonlySet<string>): Promise<void> {
    hungry.delete(visitor);
    for (const id of holders) await frontier.release(id);
    const waiting = [...pending.values()].filter(({ print }) => print !== undefined);
    const found = await frontier.find(waiting.map(({ print }) => print!));
    waiting.forEach(({ task }, at) => {
      if (found[at] === undefined) fail(task, new CrawlError('WORKER_LOST', `${task.url}: ${LOST}`));
    });
    wakeHungry();
  }

  const endShowing = monitor?.begin();
  const visitors = Array.from({ length: parts.processes }, (_, at) =>
    keepVisitor<Result>({
      entry: parts.entry,
      time,
      settings: parts.settings(Math.floor((permits + at) / parts.processes)),
      hear,
      onDeath: (visitor, holders) => (over ? Promise.resolve() : lost(visitor, holders)),
      onFailure: end,
    }),
  );
  void feeder.feed().catch((error: unknown) => {
    // What was read still ends in results; then the list's own failure is reported.
    const wait = time.every(10, () => {
      if (pending.size > 0 && !over) return;
      wait();
      end(error);
    });
  });

  return {
    ended,
    wake() {
      tellRead();
      feeder.feedMore();
    },
    stop: () => feeder.stop(),
    async abort() {
      end(new CrawlError('ABORTED', 'the batch was aborted'));
      await ended.catch(() => undefined);
    },
  };
}

type Call = Extract<FromVisitor<unknown>, { kind: 'call' }>;

const LOST = 'the process that visited it ended every time';
