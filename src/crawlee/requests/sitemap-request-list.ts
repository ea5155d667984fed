// Crawlee's SitemapRequestList: ours, with a state that is saved under a key and found again by the next process.
// Promise: what was marked as handled does not come again; everything else does, what was under way first and as it was.
import { createHash } from 'node:crypto';
import { Configuration } from '../../configuration.js';
import {
  SitemapRequestList as OwnList,
  type SitemapRequestListOptions as OwnOptions,
} from '../../crawl/polite/sitemap-request-list.js';
import { EventType } from '../../observe/events.js';
import { Request } from '../../request/request.js';
import { KeyValueStore } from '../../store/records/key-value.js';
import { eventManagerOf } from '../events.js';

/** Which sitemaps are read, and where the state of the list is saved. */
export interface SitemapRequestListOptions extends OwnOptions {
  /** The key of the saved state in the default key-value store. Default `SITEMAP_REQUEST_LIST_STATE`. */
  persistStateKey?: string;
  /** `enable: false`: the state is saved only by `persistState()` and `teardown()`, not by events. */
  persistenceOptions?: { enable?: boolean };
  /** Whose storage and events are used. Default: the global configuration. */
  config?: Configuration;
}

interface SavedState {
  /** All requests have ended: there is nothing more to read. */
  isFinished: boolean;
  /** Short hashes of the URLs that have ended. */
  handled: string[];
  /** Requests that were read and have not ended, as they are. */
  unfinished: string[];
}

const DEFAULT_KEY = 'SITEMAP_REQUEST_LIST_STATE';
/** Where the state of a list that `open` makes comes from. */
interface Persistence {
  readonly key: string;
  readonly store: KeyValueStore;
  readonly config: Configuration;
  readonly handled: Set<string>;
  readonly wasFinished: boolean;
}
const PERSISTENCE = new WeakMap<OwnList, Persistence>();

/**
 * A list of requests that sitemaps name, loaded while it is used, with a state that is saved.
 *
 * @example
 * const requestList = await SitemapRequestList.open({
 *   sitemapUrls: ['https://example.com/sitemap.xml'],
 *   persistStateKey: 'my-sitemaps',
 * });
 */
export class SitemapRequestList extends OwnList {
  readonly #persist = (): void => void this.persistState();

  /** Reads the saved state, if there is one, and starts loading what is left. */
  static override async open(given: SitemapRequestListOptions): Promise<SitemapRequestList> {
    const { persistStateKey, persistenceOptions, config: own, ...options } = given;
    const config = own ?? Configuration.getGlobalConfig();
    const store = await KeyValueStore.open(null, { config });
    const key = persistStateKey ?? DEFAULT_KEY;
    const saved = await store.getValue<Partial<SavedState>>(key);
    const handled = new Set(Array.isArray(saved?.handled) ? saved.handled : []);
    const unfinished = (Array.isArray(saved?.unfinished) ? saved.unfinished : []).map((text) =>
      Request.fromRecord(text),
    );
    const known = new Set(unfinished.map(({ url }) => hashOf(url)));
    const wasFinished = saved?.isFinished === true;
    const { transformRequestFunction: transform } = options;
    const list = (await super.open({
      ...options,
      ...(wasFinished ? { sitemapUrls: [] } : {}),
      transformRequestFunction: (request, entry) => {
        const chosen = transform ? transform(request, entry) : request;
        if (!chosen) return false;
        const hash = hashOf(chosen.url);
        return handled.has(hash) || known.has(hash) ? false : chosen;
      },
    })) as SitemapRequestList;
    list.putFirst(unfinished);
    PERSISTENCE.set(list, { key, store, config, handled, wasFinished });
    if (persistenceOptions?.enable !== false) eventManagerOf(config).on(EventType.PERSIST_STATE, list.#persist);
    return list;
  }

  /** The request has ended, well or not: it does not come again, also not in the next process. */
  override async markRequestHandled(request: Request): Promise<void> {
    await super.markRequestHandled(request);
    PERSISTENCE.get(this)?.handled.add(hashOf(request.url));
  }

  /** Saves which requests have ended, and those that were read and have not. */
  override async persistState(): Promise<void> {
    const persistence = PERSISTENCE.get(this);
    if (!persistence) return;
    const { key, store, handled, wasFinished } = persistence;
    const isFinished = wasFinished || (await this.isFinished());
    const unfinished = this.unfinished.map((request) => request.toRecord());
    const state: SavedState = { isFinished, handled: isFinished ? [] : [...handled], unfinished };
    await store.setValue(key, state);
  }

  /** Saves the state and ends loading. */
  override async teardown(): Promise<void> {
    const config = PERSISTENCE.get(this)?.config;
    if (config) eventManagerOf(config).off(EventType.PERSIST_STATE, this.#persist);
    // Before the loading ends: a list that was given up is not a finished one.
    await this.persistState();
    await super.teardown();
  }
}

/** Enough of a hash to tell the URLs of a site apart. */
function hashOf(url: string): string {
  return createHash('sha256').update(url).digest('base64url').slice(0, 12);
}
