// Crawlee's events: `crawler.events` and `Configuration.getEventManager()`. Crawlers announce through them that state is
// saved and that a crawl ends. Costs nothing until somebody asks for the manager of a configuration.
import { EventEmitter } from 'node:events';
import { Configuration, makeEventManagersWith } from '../configuration.js';
import { log } from '../observe/log.js';
import { type EventManagerLike, EventType, onCrawlEvent } from '../observe/events.js';
import { saveAllAutoSaved } from '../store/records/auto-saved.js';
import { isContainerized } from './general.js';
import { cpuSince, type MemoryInfo, memoryNow } from './machine.js';

/** The name of an event: one of `EventType`, or its string. */
export type EventTypeName = EventType | `${EventType}`;

// The listeners' arguments are the emitter's business, as in Node.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Listener = (...args: any[]) => unknown;

const MAX_LISTENERS = 50;

/**
 * Listeners by event, and whether they have ended.
 *
 * @example
 * const events = Configuration.getEventManager();
 * events.on(EventType.PERSIST_STATE, () => log.info('state is saved'));
 */
export abstract class EventManager implements EventManagerLike {
  readonly #emitter = new EventEmitter().setMaxListeners(MAX_LISTENERS);
  readonly #running = new Set<Promise<unknown>>();
  readonly #wrapped = new Map<Listener, Listener>();
  /** Whether `init` was called and `close` was not. */
  protected initialized = false;

  constructor(
    /** Whose events these are. */
    readonly config: Configuration = Configuration.getGlobalConfig(),
  ) {}

  async init(): Promise<void> {
    this.initialized = true;
  }

  async close(): Promise<void> {
    if (!this.initialized) return;
    this.initialized = false;
    this.emit(EventType.PERSIST_STATE, { isMigrating: false });
    await this.waitForAllListenersToComplete();
  }

  on(event: EventTypeName, listener: Listener): void {
    const wrapped: Listener = (...args) => this.#follow(event, () => listener(...args));
    this.#wrapped.set(listener, wrapped);
    this.#emitter.on(event, wrapped);
  }

  /** Removes a listener, or all of the event. */
  off(event: EventTypeName, listener?: Listener): void {
    if (!listener) this.#emitter.removeAllListeners(event);
    else this.#emitter.off(event, this.#wrapped.get(listener) ?? listener);
  }

  emit(event: EventTypeName, ...args: unknown[]): void {
    this.#emitter.emit(event, ...args);
    // Scripts send this event themselves, or wait for it, and then read the record of an auto-saved value.
    if (event === (EventType.PERSIST_STATE as EventTypeName)) this.#follow(event, saveAllAutoSaved);
  }

  #follow(event: EventTypeName, listener: Listener): void {
    const task = new Promise((resolve) => resolve(listener()))
      // One listener's failure must end neither the crawl nor the others.
      .catch((error: unknown) => log.exception(error, `a listener of ${event} threw`))
      .finally(() => this.#running.delete(task));
    this.#running.add(task);
  }

  isInitialized(): boolean {
    return this.initialized;
  }

  /** How many listeners an event has. */
  listenerCount(event: EventTypeName): number {
    return this.#emitter.listenerCount(event);
  }

  /** The listeners of an event. */
  listeners(event: EventTypeName): Listener[] {
    return this.#emitter.listeners(event) as Listener[];
  }

  /** Resolves when no listener is at work any more. */
  async waitForAllListenersToComplete(): Promise<boolean> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    return true;
  }
}

/**
 * The events of this process: state at intervals, system information every second.
 *
 * @example
 * const events = new LocalEventManager();
 * await events.init();
 */
export class LocalEventManager extends EventManager {
  #timers: NodeJS.Timeout[] = [];
  #cpu: ReturnType<typeof cpuSince>['reading'] | undefined;

  override async init(): Promise<void> {
    if (this.initialized) return;
    await super.init();
    const [stateMs, infoMs] = [
      this.config.get('persistStateIntervalMillis'),
      this.config.get('systemInfoIntervalMillis'),
    ];
    const persist = setInterval(() => this.emit(EventType.PERSIST_STATE, { isMigrating: false }), stateMs);
    const inform = setInterval(() => void this.emitSystemInfoEvent(() => undefined), infoMs);
    this.#timers = [persist.unref(), inform.unref()];
  }

  override async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
    await super.close();
  }

  /** Measures memory and CPU, tells the listeners, and calls back. */
  async emitSystemInfoEvent(intervalCallback: () => unknown): Promise<void> {
    const isContained = await this.isContainerizedWrapper();
    // As Crawlee: a container's share of the CPU counts with `systemInfoV2` only.
    const { ratio, reading } = cpuSince(this.#cpu, this.config.get('systemInfoV2') === true && isContained);
    this.#cpu = reading;
    const memory = await this.getMemoryInfo(isContained);
    this.emit(EventType.SYSTEM_INFO, {
      createdAt: new Date(),
      memCurrentBytes: memory.mainProcessBytes + memory.childProcessesBytes,
      memTotalBytes: memory.totalBytes,
      cpuCurrentUsage: ratio * 100,
      isCpuOverloaded: ratio > this.config.get('maxUsedCpuRatio'),
    });
    intervalCallback();
  }

  /** The memory that is told of. */
  protected async getMemoryInfo(isContained?: boolean): Promise<MemoryInfo> {
    return memoryNow(isContained);
  }

  /** The setting `containerized`, or what the system looks like. */
  async isContainerizedWrapper(): Promise<boolean> {
    return this.config.get('containerized') ?? isContainerized();
  }
}

const managers = new WeakMap<Configuration, EventManagerLike>();

/** The manager of a configuration, made when first asked for; from then on it hears what crawlers announce. */
export function eventManagerOf(config: Configuration): EventManagerLike {
  const known = managers.get(config);
  // One that was set since wins over the one that was made.
  const manager = config.get('eventManager') ?? known ?? new LocalEventManager(config);
  if (manager !== known) {
    managers.set(config, manager);
    onCrawlEvent(config, (event, data) => manager.emit(event, data));
  }
  return manager;
}

makeEventManagersWith(eventManagerOf);
