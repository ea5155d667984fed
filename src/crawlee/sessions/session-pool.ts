// Crawlee's SessionPool as scripts make one by themselves: an emitter over a list of sessions, saved in a key-value store
// when the event manager says so. Crawlers keep the pool of `orcrawl`, which picks in O(1).
import { EventEmitter } from 'node:events';
import { Configuration } from '../../configuration.js';
import { CrawlError } from '../../errors.js';
import { EventType, type EventManagerLike } from '../../observe/events.js';
import { log as globalLog } from '../../observe/log.js';
import { DEFAULT_BLOCKED_STATUS_CODES, sessionOptionsOf } from '../../session/session.js';
import type { Session as OwnSession, SessionOwner } from '../../session/session.js';
import { SessionPool as OwnSessionPool } from '../../session/session-pool.js';
import type { SessionPoolLog, SessionPoolState } from '../../session/session-pool.js';
import { KeyValueStore } from '../../store/records/key-value.js';
import { EVENT_SESSION_RETIRED } from '../browser-names.js';
import { eventManagerOf } from '../events.js';
import type { PersistenceOptions } from '../type-names.js';
import { Session, type SessionOptions } from './session.js';

/** Makes a session, in place of the default. */
export type CreateSession = (
  sessionPool: SessionPool,
  options?: { sessionOptions?: SessionOptions },
) => OwnSession | Promise<OwnSession>;

/** How many sessions there are, and how they are made and saved. */
export interface SessionPoolOptions {
  /** Default 1000. */
  maxPoolSize?: number;
  sessionOptions?: SessionOptions;
  persistStateKeyValueStoreId?: string;
  /** Default SDK_SESSION_POOL_STATE. */
  persistStateKey?: string;
  createSessionFunction?: CreateSession;
  /** Default 401, 403, 429. */
  blockedStatusCodes?: readonly number[];
  log?: SessionPoolLog;
  /** Default `{ enable: true }`. */
  persistenceOptions?: PersistenceOptions;
}

const DEFAULT_STATE_KEY = 'SDK_SESSION_POOL_STATE';

/**
 * A pool of sessions.
 *
 * @example
 * const sessionPool = await SessionPool.open({ maxPoolSize: 25 });
 * const session = await sessionPool.getSession();
 * session.markGood();
 * await sessionPool.teardown();
 */
export class SessionPool extends EventEmitter implements SessionOwner {
  readonly blockedStatusCodes: readonly number[];
  protected readonly log: SessionPoolLog;
  protected readonly maxPoolSize: number;
  protected readonly createSessionFunction: CreateSession;
  protected keyValueStore: KeyValueStore | undefined;
  protected sessions: OwnSession[] = [];
  protected readonly sessionMap = new Map<string, OwnSession>();
  protected readonly sessionOptions: SessionOptions;
  protected readonly persistStateKeyValueStoreId: string | undefined;
  protected readonly persistStateKey: string;
  protected readonly persistenceOptions: PersistenceOptions;
  protected readonly events: EventManagerLike;
  protected isInitialized = false;
  protected readonly _listener = (): Promise<void> => this.persistState();
  /** Picks run one after the other, so that the pool never grows past its size. */
  #picking: Promise<unknown> = Promise.resolve();

  constructor(
    options: SessionPoolOptions = {},
    readonly config: Configuration = Configuration.getGlobalConfig(),
  ) {
    super();
    const { persistStateKeyValueStoreId, persistenceOptions = { enable: true }, ...checked } = options;
    const { createSessionFunction, log = globalLog.child({ prefix: 'SessionPool' }), ...plain } = checked;
    // Our pool knows the options and their limits; it is made only to refuse what is wrong.
    new OwnSessionPool(plain as ConstructorParameters<typeof OwnSessionPool>[0]);
    this.log = log;
    this.maxPoolSize = options.maxPoolSize ?? 1_000;
    this.blockedStatusCodes = options.blockedStatusCodes ?? DEFAULT_BLOCKED_STATUS_CODES;
    this.sessionOptions = { ...options.sessionOptions, log };
    // Called as a method of this pool, so that it stays the very function that derived classes see.
    this.createSessionFunction = createSessionFunction ?? this._defaultCreateSessionFunction;
    this.persistStateKeyValueStoreId = persistStateKeyValueStoreId;
    this.persistStateKey = options.persistStateKey ?? DEFAULT_STATE_KEY;
    this.persistenceOptions = persistenceOptions;
    this.events = eventManagerOf(config);
  }

  static async open(options?: SessionPoolOptions, config?: Configuration): Promise<SessionPool> {
    const pool = new SessionPool(options, config);
    await pool.initialize();
    return pool;
  }

  /** Pools that crawlers made are pools too. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    const isThis = Function.prototype[Symbol.hasInstance].call(this, value) as boolean;
    return isThis || (this === SessionPool && value instanceof OwnSessionPool);
  }

  get usableSessionsCount(): number {
    return this.sessions.filter((session) => session.isUsable()).length;
  }

  get retiredSessionsCount(): number {
    return this.sessions.length - this.usableSessionsCount;
  }

  /** Brings back the saved sessions and begins to save them; `open()` does this. */
  async initialize(): Promise<void> {
    if (this.isInitialized) return;
    const { config } = this;
    this.keyValueStore = await KeyValueStore.open(this.persistStateKeyValueStoreId ?? null, { config });
    if (this.#isSaved()) {
      await this._maybeLoadSessionPool();
      this.events.on(EventType.PERSIST_STATE, this._listener);
    }
    this.isInitialized = true;
  }

  async addSession(options: OwnSession | SessionOptions = {}): Promise<void> {
    this._throwIfNotInitialized();
    const { id } = options;
    if (id !== undefined && this.sessionMap.has(id)) {
      throw new CrawlError('OPTION_INVALID', `Cannot add session with id '${id}' as it already exists in the pool`);
    }
    if (!this._hasSpaceForSession()) this._removeRetiredSessions();
    const isMade = options instanceof Session;
    this._addSession(isMade ? options : this.#make(options as SessionOptions));
  }

  getSession(): Promise<OwnSession>;
  getSession(sessionId: string): Promise<OwnSession | undefined>;
  async getSession(sessionId?: string): Promise<OwnSession | undefined> {
    const picked = this.#picking.then(() => this.#pick(sessionId));
    this.#picking = picked.catch(() => undefined);
    return picked;
  }

  async resetStore(options: PersistenceOptions = this.persistenceOptions): Promise<void> {
    if (options.enable !== false) await this.keyValueStore?.setValue(this.persistStateKey, null);
  }

  getState(): SessionPoolState {
    const sessions = this.sessions.filter((session) => session.isUsable()).map((session) => session.getState());
    const { usableSessionsCount, retiredSessionsCount } = this;
    return { usableSessionsCount, retiredSessionsCount, sessions };
  }

  async persistState(options: PersistenceOptions = this.persistenceOptions): Promise<void> {
    if (options.enable === false) return;
    if (!this.keyValueStore) this._throwIfNotInitialized();
    await this.keyValueStore!.setValue(this.persistStateKey, this.getState());
  }

  async teardown({ persistState = true }: { persistState?: boolean } = {}): Promise<void> {
    this.events.off(EventType.PERSIST_STATE, this._listener);
    if (persistState) await this.persistState();
  }

  /** @internal */
  sessionChanged(): void {
    // Saved as a whole when the event comes.
  }

  /** @internal */
  sessionRetired(session: OwnSession): void {
    this.emit(EVENT_SESSION_RETIRED, session);
  }

  protected _throwIfNotInitialized(): void {
    if (!this.isInitialized) throw new CrawlError('OPTION_INVALID', 'SessionPool is not initialized.');
  }

  protected _removeRetiredSessions(): void {
    this.sessions = this.sessions.filter((session) => session.isUsable() || !this.sessionMap.delete(session.id));
  }

  protected _addSession(session: OwnSession): void {
    this.sessions.push(session);
    this.sessionMap.set(session.id, session);
  }

  protected _getRandomIndex(): number {
    return Math.floor(Math.random() * this.sessions.length);
  }

  protected _defaultCreateSessionFunction(
    sessionPool: SessionPool,
    options: { sessionOptions?: SessionOptions } = {},
  ): OwnSession {
    return new Session({ ...this.sessionOptions, ...options.sessionOptions, sessionPool });
  }

  protected async _createSession(): Promise<OwnSession> {
    const session = await this.createSessionFunction(this, { sessionOptions: this.sessionOptions });
    this._addSession(session);
    return session;
  }

  protected _hasSpaceForSession(): boolean {
    return this.sessions.length < this.maxPoolSize;
  }

  protected _pickSession(): OwnSession {
    return this.sessions[this._getRandomIndex()]!;
  }

  protected async _maybeLoadSessionPool(): Promise<void> {
    const state = await this.keyValueStore!.getValue<Partial<SessionPoolState>>(this.persistStateKey);
    const entries: unknown[] = Array.isArray(state?.sessions) ? state.sessions : [];
    for (const entry of entries.slice(0, this.maxPoolSize)) {
      const options = sessionOptionsOf(entry);
      const session = options && this.#make(options);
      if (session?.isUsable()) this._addSession(session);
    }
  }

  async #pick(sessionId?: string): Promise<OwnSession | undefined> {
    this._throwIfNotInitialized();
    if (sessionId !== undefined) {
      const session = this.sessionMap.get(sessionId);
      return session?.isUsable() ? session : undefined;
    }
    if (this._hasSpaceForSession()) return this._createSession();
    const picked = this._pickSession();
    if (picked.isUsable()) return picked;
    this._removeRetiredSessions();
    return this._createSession();
  }

  #make(options: SessionOptions): Session {
    return new Session({ ...this.sessionOptions, ...options, sessionPool: this });
  }

  #isSaved(): boolean {
    return this.persistenceOptions.enable !== false;
  }
}
