// After a death: cuts the files of dead writers to what their pod's store acknowledged.
// Guarantee 2: every page and item is stored once, whatever died when; lost acknowledged data is counted and reported.
import { countOf, countText } from '../../observe/figures.js';
import { recoverContent } from '../../store/content/recovery.js';
import { makeDirectory } from '../../store/content/data-directories.js';
import type { IndexChecks } from '../../store/content/index-recovery.js';
import { isOwnerGone, isVisitWriterGone } from '../../store/segments/segment-names.js';
import { recoverVisitSegments } from '../../store/dataset/visit-recovery.js';
import { createDiskBackend } from '../../store/disk.js';
import { createShipping } from '../../store/content/remote/shipping.js';
import { createItemShipping } from '../../store/dataset/item-shipping.js';
import { allShippers, openShipping, type Shipper } from './shipping.js';
import type { PodsConfig } from '../config/types.js';
import type { OwnPod } from '../stores/pod-view.js';

/** Acknowledged data that is missing. */
export interface FileLosses {
  readonly files: number;
  readonly bytes: number;
  /** Page records and items; a lower bound if a file does not tell. */
  readonly records: number;
  readonly items: number;
}

export interface FileRecovery {
  /** Creates the data directories: workers use only existing ones. */
  prepare(): Promise<void>;
  /** Call it when writers of the pod have died, one call at a time. */
  recover(pod: Pick<OwnPod, 'notes'>, warn: (message: string) => void): Promise<void>;
  /** Moves finished segments to the object stores of `content` and `datasets`; undefined without one. */
  readonly shipper: Shipper | undefined;
  readonly losses: FileLosses;
}

interface Loss {
  readonly bytes: number;
  readonly lines: number;
}

/** Unchanged indexes are read once to find damage, newest first, up to this size: a second or two. */
const CHECKED_INDEX_BYTES = 256 * 1024 * 1024;

export function createFileRecovery(
  config: Pick<PodsConfig, 'dataDirs'> & Partial<Pick<PodsConfig, 'content' | 'datasets'>>,
  pods: readonly Pick<OwnPod, 'liveNotes'>[] = [],
): FileRecovery {
  const lost = new Map<string, Loss>();
  const checks = createChecks(CHECKED_INDEX_BYTES);
  let turn: Promise<unknown> = Promise.resolve();
  /** One at a time: what is moved away must not look lost to a recovery. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work, work);
    turn = mine.catch(() => undefined);
    return mine;
  };
  const { dataDirs, content: pagesAt, datasets: itemsAt } = config;
  const shipper = allShippers([
    ...(pagesAt === undefined
      ? []
      : [openShipping(pagesAt, 'Pages', (objects) => createShipping(dataDirs, objects, inTurn))]),
    ...(itemsAt === undefined
      ? []
      : [
          openShipping(itemsAt, 'Items', (objects) =>
            createItemShipping({ dataDirs, objects, notes: allNotes, exclusively: inTurn }),
          ),
        ]),
  ]);

  async function allNotes(): Promise<Record<string, string>> {
    return Object.assign({}, ...(await Promise.all(pods.map((pod) => pod.liveNotes())))) as Record<string, string>;
  }

  return {
    async prepare() {
      // Writers skip and report a directory that cannot be created.
      for (const path of config.dataDirs) await makeDirectory(path).catch(() => undefined);
      await shipper?.begin();
    },
    recover: (pod, warn) => inTurn(() => recover(pod, warn)),
    shipper,
    get losses() {
      const sum = { files: lost.size, bytes: 0, records: 0, items: 0 };
      for (const [key, { bytes, lines }] of lost) {
        sum.bytes += bytes;
        sum[key.startsWith('content/') ? 'records' : 'items'] += lines;
      }
      return sum;
    },
  };

  async function recover(pod: Pick<OwnPod, 'notes'>, warn: (message: string) => void): Promise<void> {
    await shipper?.begin();
    const notes = await pod.notes();
    const content = await recoverContent(config.dataDirs, {
      ...{ notes, isWriterGone: isOwnerGone, warn, checks },
      isElsewhere: (segment) => shipper?.isThere(segment) === true,
    });
    const ofTheDead = Object.entries(notes).filter(([key]) => isVisitWriterGone(key) && !shipper?.isThere(key));
    const items = await recoverVisitSegments(config.dataDirs.map(createDiskBackend), Object.fromEntries(ofTheDead));
    for (const [list, what] of [
      [content, 'record'],
      [items, 'item'],
    ] as const) {
      for (const { key, outcome, notedBytes = 0, foundBytes, lostLines } of list) {
        // A disk may have come back.
        if (outcome === 'whole' || outcome === 'cut') lost.delete(key);
        if (outcome === 'cut') {
          warn(`${key}: cut from ${countText(foundBytes)} to ${countText(notedBytes)} acknowledged bytes`);
        } else if (outcome !== 'whole' && !lost.has(key)) {
          const bytes = Math.max(0, notedBytes - foundBytes);
          lost.set(key, { bytes, lines: lostLines ?? 0 });
          warn(
            `${key}: ${lossText(outcome, notedBytes, bytes, lostLines === undefined ? undefined : countOf(lostLines, what))}`,
          );
        }
      }
    }
  }
}

function lossText(
  outcome: 'short' | 'missing',
  notedBytes: number,
  lostBytes: number,
  lines: string | undefined,
): string {
  if (lostBytes === 0) {
    return `its index has no line for ${lines ?? 'some records'}: they are stored but cannot be found`;
  }
  const how = outcome === 'missing' ? 'The file is gone' : 'A part of the file is gone';
  return (
    `${lines === undefined ? '' : `${lines} in `}${countText(lostBytes)} of ${countText(notedBytes)} acknowledged bytes are ` +
    `missing. ${how}: was it deleted, is its disk mounted, was there a power cut?`
  );
}

/** Each index once, within the byte limit. */
function createChecks(maxBytes: number): IndexChecks {
  const seen = new Set<string>();
  let left = maxBytes;
  return {
    mayRead(path, bytes, modifiedMs) {
      const version = `${path} ${bytes} ${modifiedMs}`;
      if (seen.has(version) || bytes > left) return false;
      left -= bytes;
      seen.add(version);
      return true;
    },
  };
}
