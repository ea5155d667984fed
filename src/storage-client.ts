// PORT. Where the storages of a Configuration live, when not in its folder or in memory: `storageClient` of Configuration.
// Types only. `frontierSuite` and `storageSuite` of orcrawl/testing check that a backend keeps what the ports promise.
import type { FrontierClock } from './frontier/embedded/clock.js';
import type { Frontier, HolderId, Pacing } from './frontier/frontier.js';
import type { HostStore } from './politeness/hosts.js';
import type { Fingerprint } from './request/fingerprint.js';
import type { StorageBackend } from './store/store.js';

/** What a queue asks for when it opens its frontier. */
export interface FrontierOpening {
  /** The name of the queue; `default` unless it was given one. Letters, digits, `-`, `_`, `.` and `~`. */
  readonly id: string;
  /** How this process is known in the frontier at first; it may begin new lives later. */
  readonly holder: HolderId;
  /** `owner`: this process expects to be alone. A backend may share the queue nevertheless. */
  readonly access: 'owner' | 'shared';
  /** A holder that is silent for longer loses what it holds. */
  readonly leaseMs: number;
  /** Until `setPacing` says otherwise. */
  readonly pacing: Pacing;
  /** To be called when the store came back without the last things it was told. */
  readonly onForgotten: () => void;
  /** Where the frontier gets its time, if given; tests turn it by hand. */
  readonly clock?: FrontierClock;
}

/** A frontier, and what its queue needs beside the port. */
export interface ClientFrontier extends Frontier {
  /** `owner`: nobody else can have the queue open now, so leases of this process do not expire. Default `shared`. */
  readonly access?: 'owner' | 'shared';
  /** From the next call on, domains without a delay of their own are paced like this. */
  setPacing(pacing: Pacing): void;
  /** Closes the queue and removes it with everything in it; `QUEUE_IN_USE` while other processes work on it. */
  drop(): Promise<void>;
  /**
   * Whether a request was ever accepted, as far as this process can tell at once. It saves calls for links that are
   * known already; without it, the queue remembers the last ones itself.
   */
  isKnown?(fingerprint: Fingerprint): boolean;
}

/**
 * A place for everything that crawlers and storages keep: a backend of your own. All methods must work in any order, and
 * a second opening of a name finds what the first one left.
 *
 * @example
 * const config = new Configuration({ storageClient: myStorageClient });
 * const crawler = new CheerioCrawler({ requestHandler }, config);
 */
export interface StorageClient extends StorageBackend {
  /** The frontier of a queue, made when missing. */
  openFrontier(opening: FrontierOpening): Promise<ClientFrontier>;
  /** What is known of hosts by the crawl on a queue. Without it, every process learns it anew (robots.txt above all). */
  openHosts?(queueId: string): Promise<HostStore>;
}
