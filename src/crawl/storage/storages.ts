// The storages of one crawler: its queue, datasets, key-value stores, sessions and saved statistics,
// opened on first use and restored to the last acknowledged visit.
import { isAlive } from '../../base/alive.js';
import { countOf } from '../../observe/figures.js';
import type { Configuration } from '../../configuration.js';
import { RequestQueue } from '../../frontier/queue/request-queue.js';
import type { Log } from '../../observe/log.js';
import type { Dictionary } from '../../request/request.js';
import { SessionPool } from '../../session/session-pool.js';
import { Dataset } from '../../store/dataset/dataset.js';
import { KeyValueStore } from '../../store/records/key-value.js';
import { closeStorages, storageBackendOf } from '../../store/opened.js';
import { isForeignWriter, isVisitWriterGone, ownerName } from '../../store/segments/segment-names.js';
import { recoverVisitSegments } from '../../store/dataset/visit-recovery.js';
import type { VisitWriter } from '../../store/dataset/visit-segments.js';
import type { ResolvedOptions } from '../options/options.js';
import { beginRun, endRun, readLastRun, runPlaceOf } from './run-state.js';
import type { Statistics } from '../run/report/statistics.js';
import type { Time } from '../time.js';

/** Crawlee's key for the first crawler; crawlers on other queues have their own. */
const statisticsKey = (queueId: string) => `SDK_CRAWLER_STATISTICS_${queueId === 'default' ? '0' : queueId}`;
const STATE_KEY = 'CRAWLEE_STATE';
const PRIVATE_HOST_NOTE = 'private-host/';
/** Links are queued beyond `maxRequestsPerCrawl` in case some of them are skipped, up to this factor and reserve. */
const ROOM_FACTOR = 2;
const ROOM_RESERVE = 100;

export function createStorages(options: ResolvedOptions, config: Configuration, log: Log) {
  const { isPersistent } = config;
  const isSavingStatistics = options.statisticsOptions.persistenceOptions?.enable ?? true;
  let opened: RequestQueue | undefined;
  let opening: Promise<RequestQueue> | undefined;

  const openDataset = (name?: string) => Dataset.open(name, { config });
  const openKeyValueStore = (name?: string) => KeyValueStore.open(name, { config });

  function queue(): Promise<RequestQueue> {
    opening ??= openQueue().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  }

  async function openQueue(): Promise<RequestQueue> {
    const manager = options.requestManager instanceof RequestQueue ? options.requestManager : undefined;
    opened = options.requestQueue ?? manager ?? (await openDefaultQueue());
    if (!(await opened.choosePaceBy(options.paceBy))) {
      log.warning(
        `The queue has requests paced by ${opened.paceBy}: paceBy "${options.paceBy}" has no effect.`,
      );
    }
    return opened;
  }

  /** What another crawler's limit left in the default queue is not this one's work. */
  async function openDefaultQueue(): Promise<RequestQueue> {
    const open = () => RequestQueue.open(undefined, { config, access: options.queueAccess });
    const queue = await open();
    if (!queue.hasLeftovers || queue.runs > 0) return queue;
    await queue.drop();
    return open();
  }

  /** A run begins: cut what no visit acknowledged, go on counting where an interrupted run stopped. */
  async function begin(stats: Statistics): Promise<RequestQueue> {
    const current = await queue();
    const { notes, counters } = await current.overview();
    await cutUnacknowledged(notes);
    current.runs++;
    if (!isPersistent) return current;
    const place = runPlaceOf(config);
    const last = await readLastRun(place, current.id);
    const pending = counters.queued + counters.retrying + counters.leased;
    const others = last?.state === 'running' ? last.pids.filter((pid) => pid !== process.pid && isAlive(pid)) : [];
    if (others.length > 0) {
      // Its own work is what this process counts: the others count theirs.
      log.info(`Joining a crawl that also runs in ${countOf(others.length, 'other process', 'other processes')}.`);
    } else if ((last?.state === 'running' || last?.state === 'interrupted') && counters.accepted > 0) {
      stats.restore(await (await openKeyValueStore()).getValue(statisticsKey(current.id)), counters);
      log.info(
        `Continuing an interrupted crawl: ${counters.done} done, ${counters.failed} failed, ${pending} pending. ` +
          'To start fresh, set ORCRAWL_PURGE_ON_START=true or delete the storage folder.',
      );
    }
    await beginRun(place, current.id);
    return current;
  }

  /** Removes items of unacknowledged visits from the datasets; segments of live writers are left alone. */
  async function cutUnacknowledged(notes: Readonly<Record<string, string>>): Promise<void> {
    if (!isPersistent) return;
    // An owner is alone: the writers of other segments are gone, even if the operating system cannot tell.
    const isGone = opened?.access === 'owner' ? isForeignWriter : isVisitWriterGone;
    const ofTheDead = Object.entries(notes).filter(([key]) => isGone(key));
    const recovered = await recoverVisitSegments([await storageBackendOf(config)], Object.fromEntries(ofTheDead));
    for (const { key, outcome, notedBytes, foundBytes } of recovered) {
      if (outcome === 'short') log.warning(`${key} lost acknowledged items`, { notedBytes, foundBytes });
    }
  }

  async function end(state: 'finished' | 'interrupted', hasLeftovers: boolean, stats: Statistics): Promise<void> {
    const store = await openKeyValueStore();
    if (opened && isSavingStatistics) await store.setValue(statisticsKey(opened.id), stats.toJSON());
    await store.persistAutoSaved();
    await closeStorages(config);
    if (!opened) return;
    const { notes, counters } = await opened.overview();
    opened.runs--;
    opened.hasLeftovers = hasLeftovers;
    if (state === 'finished') opened.endedEarlier = counters.done + counters.failed;
    await cutUnacknowledged(notes);
    if (isPersistent) await endRun(runPlaceOf(config), opened.id, state);
  }

  return {
    queue,
    begin,
    end,
    openDataset,
    openKeyValueStore,
    /** Until the returned function ends it; what a crash loses of the counts the queue still knows. */
    saveStatisticsRegularly(stats: Statistics, time: Time): () => void {
      const save = async () => {
        if (!opened || !isSavingStatistics) return;
        await (await openKeyValueStore()).setValue(statisticsKey(opened.id), stats.toJSON());
      };
      const everyMs = config.get('persistStateIntervalMillis');
      const failed = (error: unknown) => log.exception(error as Error, 'could not save statistics');
      return time.every(everyMs, () => void save().catch(failed));
    },
    get openedQueue() {
      return opened;
    },
    openVisitWriter: async (name: string | undefined): Promise<VisitWriter> =>
      (await openDataset(name)).openVisitWriter(ownerName()),
    openSessionPool: ({ sessionPoolOptions, blockedStatusCodes }: ResolvedOptions): Promise<SessionPool> =>
      SessionPool.open(
        { ...sessionPoolOptions, blockedStatusCodes },
        {
          stateStore: {
            get: async (key) => (await openKeyValueStore(sessionPoolOptions.persistStateKeyValueStoreId)).getValue(key),
            set: async (key, value) =>
              (await openKeyValueStore(sessionPoolOptions.persistStateKeyValueStoreId)).setValue(key, value),
          },
        },
      ),
    useState: async <State extends Dictionary = Dictionary>(initial?: State): Promise<State> =>
      (await openKeyValueStore()).getAutoSavedValue(STATE_KEY, initial ?? ({} as State)),
    /** Empties the default queue between two runs of one crawler; a queue the user gave is left alone. */
    async emptyDefaultQueue(): Promise<void> {
      if (!opened || options.requestQueue || options.requestManager) return;
      if (opened.runs > 0) return log.warning('The default queue is not emptied: another crawler is using it.');
      await opened.drop();
      opened = undefined;
      opening = undefined;
    },
    roomForRequests(current: RequestQueue, maxRequests: number): number {
      if (!Number.isFinite(maxRequests)) return Infinity;
      const pending = current.getPendingCount();
      return Math.max(0, ROOM_FACTOR * (maxRequests - current.getEndedCount()) + ROOM_RESERVE - pending);
    },
    /** Private hosts that the user seeded, in this run or an interrupted one. */
    async privateHosts(current: RequestQueue): Promise<string[]> {
      const { notes } = await current.overview();
      const hosts = Object.keys(notes).filter((key) => key.startsWith(PRIVATE_HOST_NOTE));
      return hosts.map((key) => key.slice(PRIVATE_HOST_NOTE.length));
    },
    /** Remembers a seeded private host for a resumed run. */
    async notePrivateHost(current: RequestQueue, host: string): Promise<void> {
      const key = PRIVATE_HOST_NOTE + host;
      if ((await current.overview()).notes[key] !== undefined) return;
      await current.client.settle({ settlements: [], notes: { [key]: '1' } });
    },
    async close(): Promise<void> {
      await closeStorages(config);
      await opened?.close();
      opened = undefined;
      opening = undefined;
    },
  };
}
