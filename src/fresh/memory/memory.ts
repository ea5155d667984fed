// PORT. The page memory: what earlier visits found, per URL, across crawls; and its implementation without a disk.
// Promise: a visit takes effect in the memory exactly if its acknowledgement took effect in the queue.
import type { Fingerprint } from '../../request/fingerprint.js';
import { type Hash64, type RememberedPage, replaces } from './page-row.js';

/** What a page is called and how it says which version it is. */
export interface PageNames {
  readonly url: string;
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
  /** The stored response that has the page's body, if responses are stored. */
  readonly original?: StoredOriginal | undefined;
  /** Until when the last response said that it stays as it is, in seconds since 1970. */
  readonly freshUntil?: number | undefined;
}

/** A response in an archive: the digest of its body, and when it was fetched. */
export interface StoredOriginal {
  readonly digest: string;
  readonly fetchedAtMs: number;
}

/** A page and its names. */
export interface KnownPage {
  readonly page: RememberedPage;
  readonly names: PageNames;
}

/** What one visit makes of a page's memory. */
export interface PageVisit extends KnownPage {
  readonly key: Fingerprint;
  /** The request in the queue whose acknowledgement makes it true. */
  readonly request: Fingerprint;
  /** The version of the content that is kept to compare the next one with; undefined leaves the last one. */
  readonly version?: PageVersion | undefined;
  /** The pages that it links to, where links are counted: each counts one more link once the visit is true. */
  readonly links?: readonly Fingerprint[] | undefined;
  /** To be told of the visit, in memories with an outbox: there once the visit is true. */
  readonly tell?: string | undefined;
  /** It repeats another page. */
  readonly isCopy?: boolean | undefined;
}

/** What of a page is kept for the next comparison. */
export interface PageVersion {
  readonly markdown?: string | undefined;
  readonly fields?: unknown;
}

/**
 * To be written in the same step as the acknowledgement. The state of the request says less: it may have ended by another
 * visit, or because its process was lost.
 */
export interface StageNote {
  readonly key: string;
  readonly note: string;
}

/** What the queue has noted, by key. */
export type QueueNotes = Readonly<Record<string, string>>;

/** The memory of the pages of one or many sites. */
export interface PageMemory {
  find(key: Fingerprint): KnownPage | undefined;
  /** The content kept of the last version, if any was. */
  versionOf(key: Fingerprint): PageVersion | undefined;
  /** How many pages link to it, of those whose links were counted. */
  inlinksOf(key: Fingerprint): number;
  /** Writes visits aside, before they are acknowledged. Durable against the end of the process when it resolves. */
  stage(visits: readonly PageVisit[]): Promise<StageNote | undefined>;
  /**
   * They were acknowledged, or refused: they take effect now, or never. A page that is only found (no visits) does not
   * replace one that is known.
   */
  settle(visits: readonly PageVisit[], acknowledged: boolean): void;
  /** Resolves what writers left open that are gone, by the queue's notes; resolves to how many visits took effect. */
  recover(notes: QueueNotes, isWriterGone: (writer: string) => boolean): Promise<number>;
  /** All pages, in no particular order; it may be changed meanwhile. */
  pages(): Generator<KnownPage & { readonly key: Fingerprint }>;
  close(): Promise<void>;
}

/** The order of visits to come: only of memories that are watched. */
export interface DueOrder {
  /** The pages that are due first, at most so many, none after `untilSecs`. */
  due(untilSecs: number, max: number): { readonly key: Fingerprint; readonly atSecs: number }[];
  /** Plans a page that is known, without a visit. */
  plan(key: Fingerprint, atSecs: number): Promise<void>;
}

/** Small facts beside the pages: the number of the last update, what sites' hints are worth. */
export interface MemoryNotes {
  note(name: string): unknown;
  setNote(name: string, value: unknown): Promise<void>;
}

/** Pages by a part of their key. */
export interface KeyHalves {
  /** The pages whose key begins with these 32 bits: hardly ever more than one. */
  startingWith(hi: number): ReturnType<PageMemory['pages']>;
}

export type WholeMemory = PageMemory & DueOrder & MemoryNotes & KeyHalves;

/** A memory that ends with the process. */
export function createPageMemory(): WholeMemory {
  const pages = new Map<string, KnownPage & { readonly key: Fingerprint }>();
  const versions = new Map<string, PageVersion>();
  const inlinks = new Map<string, number>();
  const notes = new Map<string, unknown>();
  const name = ({ hi, lo }: Fingerprint): string => `${hi}-${lo}`;
  return {
    find: (key) => pages.get(name(key)),
    versionOf: (key) => versions.get(name(key)),
    inlinksOf: (key) => inlinks.get(name(key)) ?? 0,
    stage: async () => undefined,
    settle(visits, acknowledged) {
      if (!acknowledged) return;
      for (const { key, page, names, version, links = [] } of visits) {
        for (const link of links) inlinks.set(name(link), (inlinks.get(name(link)) ?? 0) + 1);
        if (!replaces(page, pages.get(name(key))?.page)) continue;
        pages.set(name(key), { key, page, names });
        if (version) versions.set(name(key), { ...versions.get(name(key)), ...version });
      }
    },
    recover: async () => 0,
    *pages() {
      yield* [...pages.values()];
    },
    *startingWith(hi) {
      for (const known of [...pages.values()]) if (known.key.hi === hi) yield known;
    },
    due(untilSecs, max) {
      const planned = [...pages.values()].filter(({ page }) => page.nextVisitAt > 0 && page.nextVisitAt <= untilSecs);
      planned.sort((a, b) => a.page.nextVisitAt - b.page.nextVisitAt);
      return planned.slice(0, max).map(({ key, page }) => ({ key, atSecs: page.nextVisitAt }));
    },
    async plan(key, atSecs) {
      const known = pages.get(name(key));
      if (known) pages.set(name(key), { ...known, page: { ...known.page, nextVisitAt: atSecs } });
    },
    note: (key) => notes.get(key),
    setNote: async (key, value) => void notes.set(key, value),
    close: async () => undefined,
  };
}

/** A page that was seen, and that repeats no other. */
export interface Arrival {
  readonly key: Fingerprint;
  readonly simhash: Hash64;
  readonly url: string;
}

/** What the writers of a memory tell each other of the pages they see. */
export interface Arrivals {
  /** The number of the newest. */
  lastArrival(): number;
  /** Those after a number, the oldest first, at most so many. */
  arrivalsAfter(number: number, max: number): (Arrival & { readonly number: number })[];
}
