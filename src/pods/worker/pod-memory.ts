// The page memory of a pod: shared by its workers, beside the stored pages, kept from one crawl to the next.
// Promise: a visit is in it exactly if the pod's queue acknowledged it; each pod knows its own domains only.
import { join } from 'node:path';
import { isThere } from '../../fresh/change/judge.js';
import { type DuplicateFinder, openDuplicateFinder } from '../../fresh/duplicates/finder.js';
import { createSiteHints, type SiteHints } from '../../fresh/hints/site-hints.js';
import type { PageMemory } from '../../fresh/memory/memory.js';
import { createSchedule, type Schedule } from '../../fresh/schedule/schedule.js';
import { bookOf, IMPORTANCE } from '../../crawl/watch/watch.js';
import { type LmdbMemory, openLmdbMemory } from '../../fresh/memory/memory-lmdb.js';
import { createRemembering, type Remembering } from '../../fresh/remembering.js';
import type { Capture } from '../../fetch/engine.js';
import { entryOf } from '../../frontier/entry.js';
import type { QueueEntry } from '../../frontier/frontier.js';
import { countOf } from '../../observe/figures.js';
import type { Log } from '../../observe/log.js';
import { Request } from '../../request/request.js';
import { isOwnerGone } from '../../store/segments/segment-names.js';
import type { PodsConfig, PodsWatch } from '../config/types.js';
import type { WorkerPlace } from '../messages.js';
import type { HandlerModule } from './handler-module.js';
import { type ListReading, readListsOf } from './revisit-hints.js';

export interface PodMemory {
  readonly memory: LmdbMemory;
  readonly remembering: Remembering;
  /** Of a watch. */
  readonly schedule: Schedule | undefined;
  /** What sites say of their pages. */
  readonly hints: SiteHints | undefined;
  close(): Promise<void>;
}

export interface PodMemoryParts {
  readonly config: ListReading & Pick<PodsConfig, 'dataDirs' | 'pods' | 'watch' | 'duplicates'>;
  readonly place: WorkerPlace;
  readonly log: Pick<Log, 'info'>;
  /** Adds requests to the pod's queue. */
  readonly add: (entries: readonly QueueEntry[]) => Promise<unknown>;
  /** The notes of the pod's queue. */
  readonly notes: () => Promise<Readonly<Record<string, string>>>;
  /** What the freshness of a page counts, for `importance: handler`. */
  readonly importance?: HandlerModule['importance'];
  /** A server confirmed a page. */
  readonly onConfirmed: (request: Request, capture: Capture) => void;
}

const PORTION = 500;

/** Whether links between pages are counted: they may weigh. */
export const countsLinks = ({ importance }: PodsWatch): boolean => importance === 'inlinks' || importance === 'handler';

/** Domains move when the number of pods changes: then the memory begins anew. */
export function podMemoryFolder({ dataDirs, pods }: Pick<PodsConfig, 'dataDirs' | 'pods'>, pod: number): string {
  return join(dataDirs[0]!, 'page_memory', `pod_${pod}_of_${pods.length}`);
}

/** The first fetcher of a pod also queues all pages that are remembered: one that is unchanged tells no links. */
export async function openPodMemory(parts: PodMemoryParts): Promise<PodMemory> {
  const { place, log } = parts;
  const { watch, pods } = parts.config;
  const nowSecs = () => Math.floor(Date.now() / 1000);
  const comparesPages = parts.config.duplicates !== 'keep';
  const memory = await openLmdbMemory(podMemoryFolder(parts.config, place.pod), {
    shared: true,
    tellsArrivals: comparesPages,
  });
  const isFirst = place.role === 'fetcher' && place.id === 0;
  let hints: SiteHints | undefined;
  let schedule: Schedule | undefined;
  let duplicates: DuplicateFinder | undefined;
  try {
    await memory.recover(await parts.notes(), isOwnerGone);
    hints = watch?.hints === false ? undefined : createSiteHints(memory, nowSecs);
    if (watch === undefined && isFirst) {
      await readListsOf(memory, hints!, parts.config);
      const { added, leftAlone } = await addRevisits(memory, parts.add, hints!);
      const alone = leftAlone > 0 ? `, ${leftAlone} are the same by what their sites say` : '';
      log.info(`${countOf(added, 'remembered page')} to visit again${alone}`);
    }
    if (watch) {
      const visitsPerSec = watch.requestsPerHour / 3_600 / pods.length;
      schedule = createSchedule({ visitsPerSec, state: await bookOf(memory) });
    }
    if (comparesPages) duplicates = await openDuplicateFinder(memory);
  } catch (error) {
    await memory.close();
    throw error;
  }
  const remembering = createRemembering({
    memory,
    hints,
    duplicates,
    run: 1,
    nowMs: Date.now,
    keepsVersions: watch?.diff === true,
    schedule,
    importanceOf: watch && (watch.importance === 'handler' ? parts.importance : IMPORTANCE[watch.importance]),
    countsLinks: watch !== undefined && countsLinks(watch),
  });
  return {
    memory,
    schedule,
    hints,
    remembering: {
      ...remembering,
      notModified(request, capture) {
        const answer = remembering.notModified(request, capture);
        if (answer === 'unchanged') parts.onConfirmed(request, capture);
        return answer;
      },
    },
    async close() {
      // One of the workers tells the next crawl what hints are worth.
      if (isFirst) await hints?.save();
      await memory.close();
    },
  };
}

/** A portion at a time; what the queue has already stays as it is there. */
async function addRevisits(
  memory: Pick<PageMemory, 'pages'>,
  add: PodMemoryParts['add'],
  hints: Pick<SiteHints, 'isLeftAlone'>,
): Promise<{ readonly added: number; readonly leftAlone: number }> {
  let added = 0;
  let leftAlone = 0;
  let portion: QueueEntry[] = [];
  for (const known of memory.pages()) {
    const { page, names, key } = known;
    if (page.visits === 0 || !isThere(page)) continue;
    if (hints.isLeftAlone(key, known)) {
      leftAlone++;
      continue;
    }
    portion.push(entryOf(new Request({ url: names.url, crawlDepth: page.depth })));
    added++;
    if (portion.length < PORTION) continue;
    await add(portion);
    portion = [];
  }
  if (portion.length > 0) await add(portion);
  return { added, leftAlone };
}
