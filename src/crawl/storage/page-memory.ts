// The page memory of a crawler: opened with its run, made whole after a crash, closed with it.
// Promise: what an earlier process left open is resolved before the first visit.
import path from 'node:path';
import type { Configuration } from '../../configuration.js';
import { openDuplicateFinder } from '../../fresh/duplicates/finder.js';
import { createPageMemory, type WholeMemory } from '../../fresh/memory/memory.js';
import { createSiteHints } from '../../fresh/hints/site-hints.js';
import { isThere } from '../../fresh/change/judge.js';
import { createRemembering, type Remembering } from '../../fresh/remembering.js';
import type { RequestQueue } from '../../frontier/queue/request-queue.js';
import type { RequestOptions } from '../../request/request.js';
import { fingerprintOf } from '../../request/fingerprint.js';
import { normalizeUrl, parseUrl } from '../../request/url.js';
import { optionError } from '../../option-checks.js';
import { isOwnerGone, isOwnerHere } from '../../store/segments/segment-names.js';
import type { ResolvedOptions } from '../options/options.js';
import type { Time } from '../time.js';
import { MAX_HINT_ORIGINS, readHintLists } from './hint-lists.js';

/** Where the memories of a storage folder are. */
export const MEMORY_FOLDER = 'page_memory';

const RUN_NOTE = 'run';
const HOSTS_NOTE = 'private hosts';
/** How many pages an update did not visit because of hints. */
export const ALONE_NOTE = 'left alone';

/** Mirrors and print versions that the last crawl with `duplicates` found. */
export const COPIES_NOTE = 'site copies';
const MAX_COPIES = 1_000;

export interface CrawlMemory {
  readonly memory: WholeMemory;
  readonly remembering: Remembering;
  /** The number of this update. */
  readonly run: number;
  /** Reads what the remembered sites list of their pages; nothing without hints. */
  readHints(userAgent: string): Promise<void>;
  /** The pages that are remembered as being there, to be visited again; not those that hints leave alone. */
  revisits(): Generator<RequestOptions>;
  /** Private hosts that the user named in earlier crawls. */
  privateHosts(): string[];
  notePrivateHost(host: string): Promise<void>;
  close(): Promise<void>;
}

/** Memories that no disk holds live as long as the crawler's configuration. */
const unstored = new WeakMap<Configuration, Map<string, WholeMemory>>();

export async function openCrawlMemory(
  remember: NonNullable<ResolvedOptions['remember']>,
  { duplicates }: Pick<ResolvedOptions, 'duplicates'>,
  config: Configuration,
  queue: Pick<RequestQueue, 'overview' | 'access'>,
  time: Time,
): Promise<CrawlMemory> {
  const memory = await openMemory(remember.name, config, queue.access === 'shared');
  try {
    // An owner is alone: only a process that surely runs, with a queue of its own, may still write to the memory.
    const isGone = queue.access === 'owner' ? (writer: string) => !isOwnerHere(writer) : isOwnerGone;
    await memory.recover((await queue.overview()).notes, isGone);
    const last = Number(memory.note(RUN_NOTE) ?? 0);
    const run = remember.continues && last > 0 ? last : last + 1;
    if (run !== last) await memory.setNote(RUN_NOTE, run);
    const plan = await remember.plan?.(memory);
    const nowSecs = () => Math.floor(time.wallMs() / 1000);
    const hints = plan?.hints ?? (remember.hints === false ? undefined : createSiteHints(memory, nowSecs));
    const finder = duplicates === 'keep' ? undefined : await openDuplicateFinder(memory);
    const remembering = createRemembering({
      memory,
      hints,
      run,
      nowMs: () => time.wallMs(),
      keepsVersions: remember.versions,
      duplicates: finder,
      schedule: plan?.schedule,
      importanceOf: plan?.importanceOf,
      countsLinks: plan?.countsLinks,
    });
    plan?.onOpen?.(remembering);
    let leftAlone = 0;
    const hosts = () => (memory.note(HOSTS_NOTE) as string[] | undefined) ?? [];
    return {
      memory,
      remembering,
      run,
      async readHints(userAgent) {
        if (!hints) return;
        const origins = new Set<string>();
        for (const { names, page } of memory.pages()) {
          // A page that its server can validate is cheap to request; one stored by an older release has to be read.
          const isValidated = names.etag !== undefined || names.lastModified !== undefined;
          if (isValidated || page.hashIsOfText || !isThere(page)) continue;
          const url = parseUrl(names.url);
          if (url) origins.add(url.origin);
          if (origins.size === MAX_HINT_ORIGINS) break;
        }
        const take = (entries: readonly { url: string; lastmod?: Date | undefined }[]) => {
          for (const { url, lastmod } of entries) hints.list(fingerprintOf(normalizeUrl(url)), lastmod);
        };
        const lists = Array.isArray(remember.hints) ? remember.hints : [];
        await readHintLists({ origins: [...origins], lists, userAgent, take });
      },
      *revisits() {
        for (const known of memory.pages()) {
          const { page, names, key } = known;
          if (page.visits === 0 || !isThere(page)) continue;
          if (hints?.isLeftAlone(key, known)) leftAlone++;
          else yield { url: names.url, crawlDepth: page.depth };
        }
      },
      privateHosts: hosts,
      notePrivateHost: (host) => memory.setNote(HOSTS_NOTE, [...new Set([...hosts(), host])]),
      async close() {
        await hints?.save();
        if (finder) await memory.setNote(COPIES_NOTE, finder.sites.list().slice(0, MAX_COPIES));
        if (leftAlone > 0) await memory.setNote(ALONE_NOTE, { run, count: leftAlone });
        await memory.close();
      },
    };
  } catch (error) {
    await memory.close();
    throw error;
  }
}

/** The memory of a name in a storage folder. */
export async function openMemory(name: string, config: Configuration, shared = false): Promise<WholeMemory> {
  if (config.get('storageClient') !== undefined) {
    throw optionError(['"remember" needs a storage folder: a storageClient cannot keep a page memory']);
  }
  if (!config.isPersistent) {
    const memories = unstored.get(config) ?? new Map<string, WholeMemory>();
    unstored.set(config, memories);
    const memory = memories.get(name) ?? createPageMemory();
    memories.set(name, memory);
    return memory;
  }
  const { openLmdbMemory } = await import('../../fresh/memory/memory-lmdb.js');
  return openLmdbMemory(path.join(config.localDataDirectory(), MEMORY_FOLDER, name), { shared });
}
