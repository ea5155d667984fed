// Crawlee's RecoverableState: a value that is saved in a key-value store and found again by the next process.
import { Configuration } from '../configuration.js';
import { CrawlError } from '../errors.js';
import { EventType } from '../observe/events.js';
import { KeyValueStore } from '../store/records/key-value.js';
import { eventManagerOf } from './events.js';

/** Where a state is saved. */
export interface RecoverableStatePersistenceOptions {
  /** The key of the saved state in its key-value store. */
  persistStateKey: string;
  /** Default false: the state is kept in memory only. */
  persistenceEnabled?: boolean;
  /** The name of that store. Default: the default store. */
  persistStateKvsName?: string;
  /** The id of that store, used when it has no name. */
  persistStateKvsId?: string;
}

/** A state, its beginning and its form. */
export interface RecoverableStateOptions<State = Record<string, unknown>> extends RecoverableStatePersistenceOptions {
  /** What the state begins with when nothing is saved. */
  defaultState: State;
  /** From Crawlee, without effect. */
  logger?: unknown;
  /** Whose storage and events are used. Default: the global configuration. */
  config?: Configuration;
  /** Turns the state into text. Default `JSON.stringify`. */
  serialize?: (state: State) => string;
  /** Turns saved text into the state. Default `JSON.parse`. */
  deserialize?: (text: string) => State;
}

/**
 * A value that survives the process.
 *
 * @example
 * const state = new RecoverableState({ defaultState: { seen: 0 }, persistStateKey: 'SEEN', persistenceEnabled: true });
 * await state.initialize();
 * state.currentValue.seen++;
 * await state.teardown();
 */
export class RecoverableState<State = Record<string, unknown>> {
  readonly #options: RecoverableStateOptions<State>;
  readonly #config: Configuration;
  readonly #persist = (): Promise<void> => this.persistState();
  #state: State | undefined;
  #store: KeyValueStore | undefined;

  constructor(options: RecoverableStateOptions<State>) {
    this.#options = options;
    this.#config = options.config ?? Configuration.getGlobalConfig();
  }

  /** Loads what was saved, or begins with the default. */
  async initialize(): Promise<State> {
    if (this.#state !== undefined) return this.#state;
    const { persistenceEnabled, persistStateKvsName, persistStateKvsId, persistStateKey } = this.#options;
    if (!persistenceEnabled) return (this.#state = this.#fresh());
    this.#store = await KeyValueStore.open(persistStateKvsName ?? persistStateKvsId, { config: this.#config });
    const saved = await this.#store.getValue<string>(persistStateKey);
    this.#state = saved === null ? this.#fresh() : this.#read(saved);
    eventManagerOf(this.#config).on(EventType.PERSIST_STATE, this.#persist);
    return this.#state;
  }

  /** Saves for the last time. */
  async teardown(): Promise<void> {
    eventManagerOf(this.#config).off(EventType.PERSIST_STATE, this.#persist);
    await this.persistState();
  }

  /** The state, to read and to change. Throws before `initialize()`. */
  get currentValue(): State {
    if (this.#state === undefined) {
      throw new CrawlError('OPTION_INVALID', 'call initialize() of the RecoverableState before its value is used');
    }
    return this.#state;
  }

  /** Back to the default; what was saved is removed. */
  async reset(): Promise<void> {
    this.#state = this.#fresh();
    await this.#store?.setValue(this.#options.persistStateKey, null);
  }

  /** Saves the state now. */
  async persistState(): Promise<void> {
    if (this.#state === undefined || !this.#store) return;
    const { serialize = JSON.stringify, persistStateKey } = this.#options;
    await this.#store.setValue(persistStateKey, serialize(this.#state), { contentType: 'text/plain' });
  }

  #read(saved: unknown): State {
    const { deserialize = JSON.parse as (text: string) => State } = this.#options;
    return typeof saved === 'string' ? deserialize(saved) : (saved as State);
  }

  /** A copy by the form of the state: only that knows the classes of what is in it. */
  #fresh(): State {
    const { serialize = JSON.stringify, defaultState } = this.#options;
    return this.#read(serialize(defaultState));
  }
}
