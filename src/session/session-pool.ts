// Gives every request a session before navigation and keeps the good ones across restarts.
// Promise: at most maxPoolSize sessions, O(1) per pick, never an unusable one; state is written every minute if
// it changed and at teardown(); unreadable persisted state is ignored, never an error.
import { EventEmitter } from 'node:events';
import {
  aFilledString,
  aFunction,
  anObject,
  arrayOf,
  aWholeNumber,
  check,
  checkOptions,
  optionError,
} from '../option-checks.js';
import type { ShapeOf } from '../option-checks.js';
import { DEFAULT_BLOCKED_STATUS_CODES, Session, SESSION_SHAPE, sessionOptionsOf } from './session.js';
import type { SessionOptions, SessionOwner, SessionState } from './session.js';
import { createSessionSet } from './session-set.js';
import type { SessionSet } from './session-set.js';

/** Where the pool keeps its state between runs; the crawl gives one over the key-value store. */
export interface StateStore {
  /** The value of the key, or null. */
  get(key: string): Promise<unknown>;
  /** Replaces the value of the key. */
  set(key: string, value: unknown): Promise<void>;
}

/** What the pool needs of a log; `Log` fits. */
export interface SessionPoolLog {
  debug(message: string, data?: Record<string, unknown>): void;
  warning(message: string, data?: Record<string, unknown>): void;
}

/** Makes a session, in place of the default. */
export type CreateSession = (
  sessionPool: SessionPool,
  options?: { sessionOptions?: SessionOptions },
) => Session | Promise<Session>;

/** How many sessions there are, and how they are made and saved. */
export interface SessionPoolOptions {
  /** Default 1000. */
  maxPoolSize?: number;
  /** Given to every new session. */
  sessionOptions?: SessionOptions;
  /** Makes the sessions instead of the pool. */
  createSessionFunction?: CreateSession;
  /** Default 401, 403, 429. */
  blockedStatusCodes?: readonly number[];
  /** Default SDK_SESSION_POOL_STATE. */
  persistStateKey?: string;
  /** Which key-value store; read by the crawl, which gives the store. */
  persistStateKeyValueStoreId?: string;
  /** Default `{ enable: true }`. */
  persistenceOptions?: { enable?: boolean };
  /** Where trouble with saving is told. */
  log?: SessionPoolLog;
}

export interface SessionPoolParts {
  readonly stateStore?: StateStore;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** In [0, 1). */
  readonly random?: () => number;
}

/** The sessions of a pool, as they are saved. */
export interface SessionPoolState {
  /** When it was saved. */
  usableSessionsCount: number;
  /** When it was saved. */
  retiredSessionsCount: number;
  /** Cookies included: keep it as safe as a password. */
  sessions: SessionState[];
}

const PERSIST_INTERVAL_MS = 60_000;

const SHAPE: ShapeOf<SessionPoolOptions> = {
  maxPoolSize: aWholeNumber({ from: 1 }),
  sessionOptions: anObject,
  createSessionFunction: aFunction,
  blockedStatusCodes: arrayOf(aWholeNumber({ from: 100, to: 599 })),
  persistStateKey: aFilledString,
  persistStateKeyValueStoreId: aFilledString,
  persistenceOptions: anObject,
  log: check('a log', () => true),
};

/**
 * A pool of sessions.
 *
 * @example
 * const pool = await SessionPool.open({ maxPoolSize: 25, sessionOptions: { maxUsageCount: 10 } });
 * const session = await pool.getSession();
 * session.markGood();
 * await pool.teardown();
 */
export class SessionPool implements SessionOwner {
  /** Sessions at most; when it is full, usable ones are used again. */
  readonly maxPoolSize: number;
  /** Statuses that retire a session. */
  readonly blockedStatusCodes: readonly number[];
  readonly #sessionOptions: SessionOptions;
  readonly #create: CreateSession | undefined;
  readonly #log: SessionPoolLog | undefined;
  readonly #stateStore: StateStore | undefined;
  readonly #stateKey: string;
  readonly #clock: () => number;
  readonly #events = new EventEmitter();

  readonly #sessions: SessionSet;
  /** Sessions being made by an asynchronous createSessionFunction: they have their place already. */
  #coming = 0;

  #initialized: Promise<void> | undefined;
  #changed = false;
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SessionPoolOptions = {}, parts: SessionPoolParts = {}) {
    checkOptions('SessionPool', options, SHAPE);
    checkOptions('sessionOptions', options.sessionOptions, SESSION_SHAPE);
    this.maxPoolSize = options.maxPoolSize ?? 1000;
    this.blockedStatusCodes = Object.freeze([...(options.blockedStatusCodes ?? DEFAULT_BLOCKED_STATUS_CODES)]);
    this.#sessionOptions = Object.freeze({ ...options.sessionOptions });
    this.#create = options.createSessionFunction;
    this.#log = options.log;
    this.#stateStore = (options.persistenceOptions?.enable ?? true) ? parts.stateStore : undefined;
    this.#stateKey = options.persistStateKey ?? 'SDK_SESSION_POOL_STATE';
    this.#clock = parts.clock ?? Date.now;
    this.#sessions = createSessionSet(parts.random ?? Math.random);
  }

  /** Opens a pool and brings back the usable sessions of the last run. */
  static async open(options?: SessionPoolOptions, parts?: SessionPoolParts): Promise<SessionPool> {
    const pool = new SessionPool(options, parts);
    await pool.initialize();
    return pool;
  }

  /** The sessions of the pool now, usable or not. */
  get sessions(): Session[] {
    return [...this.#sessions.values()];
  }

  /** Sessions that are neither retired, expired nor used up. */
  get usableSessionsCount(): number {
    return this.#usable().length;
  }

  /** Sessions that are in the pool and no longer used. */
  get retiredSessionsCount(): number {
    return this.#sessions.size - this.usableSessionsCount;
  }

  /** Loads the persisted state and begins to persist it; `open()` does this. */
  initialize(): Promise<void> {
    return (this.#initialized ??= this.#load());
  }

  /** Adds a session, also beyond `maxPoolSize`: an existing one, or one made from options. Its id must be new. */
  async addSession(session: Session | SessionOptions = {}): Promise<void> {
    const added = session instanceof Session ? session : this.newSession(session);
    if (this.#sessions.get(added.id)) throw optionError([`SessionPool: session "${added.id}" already exists`]);
    this.#insert(added);
  }

  /** Makes a session with the pool's options; it is not yet in the pool. */
  newSession(options: SessionOptions = {}): Session {
    return new Session({
      clock: this.#clock,
      ...this.#sessionOptions,
      ...this.#ownUserData(options),
      sessionPool: this,
    });
  }

  /** A usable session: a new one while there is room, else a random one. */
  getSession(): Promise<Session>;
  /** The session of that id, if it is usable. */
  getSession(sessionId: string): Promise<Session | undefined>;
  getSession(sessionId?: string): Promise<Session | undefined>;
  async getSession(sessionId?: string): Promise<Session | undefined> {
    this.#changed = true;
    if (sessionId !== undefined) {
      const session = this.#sessions.get(sessionId);
      return session?.isUsable() ? session : undefined;
    }
    while (!this.#hasSpace()) {
      const picked = this.#sessions.pick();
      if (picked === undefined || picked.isUsable()) return picked ?? this.#make();
      this.#sessions.remove(picked);
    }
    return this.#make();
  }

  /** Calls the listener when a session became unusable. */
  on(event: 'sessionRetired', listener: (session: Session) => void): this {
    this.#events.on(event, listener);
    return this;
  }

  /** Removes a listener. */
  off(event: 'sessionRetired', listener: (session: Session) => void): this {
    this.#events.off(event, listener);
    return this;
  }

  /** What is saved: all sessions with their cookies. */
  getState(): SessionPoolState {
    const sessions = this.#usable().map((session) => session.getState());
    return {
      usableSessionsCount: sessions.length,
      retiredSessionsCount: this.#sessions.size - sessions.length,
      sessions,
    };
  }

  /** Writes the state now; writes never overlap. */
  async persistState(): Promise<void> {
    const store = this.#stateStore;
    if (store === undefined) return;
    const write = this.#writing.then(async () => {
      this.#changed = false;
      try {
        await store.set(this.#stateKey, this.getState());
      } catch (error) {
        this.#changed = true;
        throw error;
      }
    });
    this.#writing = write.catch(() => {});
    await write;
  }

  /** Forgets what was persisted; the sessions in memory stay. */
  async resetStore(): Promise<void> {
    await this.#stateStore?.set(this.#stateKey, null);
  }

  /** Writes the state a last time and ends the timer. */
  async teardown(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#events.removeAllListeners();
    if (this.#changed) await this.#persistQuietly();
    await this.#writing;
  }

  /** @internal A session says that it has something new to persist. */
  sessionChanged(): void {
    this.#changed = true;
  }

  /** @internal A session says that it is no longer usable. */
  sessionRetired(session: Session): void {
    this.#events.emit('sessionRetired', session);
  }

  async #load(): Promise<void> {
    if (this.#stateStore === undefined) return;
    const state = await this.#stateStore.get(this.#stateKey);
    const persisted = anObject.accepts(state) ? (state as Partial<SessionPoolState>).sessions : [];
    const sessions: readonly unknown[] = Array.isArray(persisted) ? persisted : [];
    let unreadable = 0;
    for (const entry of sessions) {
      if (!this.#hasSpace()) break;
      const options = sessionOptionsOf(entry);
      if (options === undefined || this.#sessions.get(options.id!) !== undefined) {
        unreadable++;
        continue;
      }
      const session = this.newSession(options);
      if (session.isUsable()) this.#insert(session);
    }
    this.#changed = false;
    if (unreadable > 0) this.#log?.warning(`left out ${unreadable} persisted sessions that cannot be read`);
    this.#timer = setInterval(() => {
      if (this.#changed) void this.#persistQuietly();
    }, PERSIST_INTERVAL_MS);
    this.#timer.unref();
  }

  async #persistQuietly(): Promise<void> {
    try {
      await this.persistState();
    } catch (error) {
      this.#log?.warning('could not save the session pool', { error: String(error) });
    }
  }

  /** Two sessions must not share the object that the pool's options give to each. */
  #ownUserData(options: SessionOptions): SessionOptions {
    const userData = options.userData ?? this.#sessionOptions.userData;
    return userData === undefined ? options : { ...options, userData: { ...userData } };
  }

  #hasSpace(): boolean {
    return this.#sessions.size + this.#coming < this.maxPoolSize;
  }

  async #make(): Promise<Session> {
    if (this.#create === undefined) return this.#insert(this.newSession());
    this.#coming++;
    try {
      const session = await this.#create(this, { sessionOptions: this.#sessionOptions });
      if (!(session instanceof Session))
        throw optionError(['SessionPool: createSessionFunction must return a Session']);
      return this.#insert(session);
    } finally {
      this.#coming--;
    }
  }

  #insert(session: Session): Session {
    // A createSessionFunction may return the same session again: it is not added twice.
    if (this.#sessions.add(session)) this.#changed = true;
    return session;
  }

  #usable(): Session[] {
    return this.#sessions.values().filter((session) => session.isUsable());
  }
}
