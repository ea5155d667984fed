// After a death: the files of dead writers, brought back to what their pod's store acknowledged.
// Guarantee 2: every page and item stands once, whoever died when; what was acknowledged and is gone is counted and said.
import { countOf, countText } from '../../observe/figures.js';
import { recoverContent } from '../../store/content/recovery.js';
import { makeDirectory } from '../../store/content/data-directories.js';
import type { IndexChecks } from '../../store/content/index-recovery.js';
import { isOwnerGone, isVisitWriterGone } from '../../store/segments/segment-names.js';
import { recoverVisitSegments } from '../../store/dataset/visit-recovery.js';
import { createDiskBackend } from '../../store/disk.js';
import type { PodsConfig } from '../config/types.js';
import type { OwnPod } from '../stores/pod-view.js';

/** What was acknowledged and is not there any more. */
export interface FileLosses {
  readonly files: number;
  readonly bytes: number;
  /** Stored records of pages, and items; at least so many, where a file does not tell. */
  readonly records: number;
  readonly items: number;
}

export interface FileRecovery {
  /** Makes the data directories: workers write only where they find them. */
  prepare(): Promise<void>;
  /** Call it when writers of the pod have died, one call at a time. */
  recover(pod: Pick<OwnPod, 'notes'>, warn: (message: string) => void): Promise<void>;
  readonly losses: FileLosses;
}

interface Loss {
  readonly bytes: number;
  readonly lines: number;
}

/** Indexes that need no work are read once, to find damage, the newest first up to so much: a second or two. */
const CHECKED_INDEX_BYTES = 256 * 1024 * 1024;

export function createFileRecovery(config: Pick<PodsConfig, 'dataDirs'>): FileRecovery {
  const lost = new Map<string, Loss>();
  const checks = createChecks(CHECKED_INDEX_BYTES);

  return {
    async prepare() {
      // One that cannot be made is left out by whoever wants to write there, and named.
      for (const path of config.dataDirs) await makeDirectory(path).catch(() => undefined);
    },
    async recover(pod, warn) {
      const notes = await pod.notes();
      const content = await recoverContent(config.dataDirs, { notes, isWriterGone: isOwnerGone, warn, checks });
      const ofTheDead = Object.entries(notes).filter(([key]) => isVisitWriterGone(key));
      const items = await recoverVisitSegments(config.dataDirs.map(createDiskBackend), Object.fromEntries(ofTheDead));
      for (const [list, what] of [
        [content, 'record'],
        [items, 'item'],
      ] as const) {
        for (const { key, outcome, notedBytes = 0, foundBytes, lostLines } of list) {
          // A disk may have come back.
          if (outcome === 'whole' || outcome === 'cut') lost.delete(key);
          if (outcome === 'cut') {
            warn(
              `${key}: cut from ${countText(foundBytes)} to the ${countText(notedBytes)} bytes that were acknowledged`,
            );
          } else if (outcome !== 'whole' && !lost.has(key)) {
            const bytes = Math.max(0, notedBytes - foundBytes);
            lost.set(key, { bytes, lines: lostLines ?? 0 });
            warn(
              `${key}: ${lossText(outcome, notedBytes, bytes, lostLines === undefined ? undefined : countOf(lostLines, what))}`,
            );
          }
        }
      }
    },
    get losses() {
      const sum = { files: lost.size, bytes: 0, records: 0, items: 0 };
      for (const [key, { bytes, lines }] of lost) {
        sum.bytes += bytes;
        sum[key.startsWith('content/') ? 'records' : 'items'] += lines;
      }
      return sum;
    },
  };
}

function lossText(
  outcome: 'short' | 'missing',
  notedBytes: number,
  lostBytes: number,
  lines: string | undefined,
): string {
  if (lostBytes === 0) {
    return `its index has no line for ${lines ?? 'some records'}: acknowledged and stored, they cannot be found any more`;
  }
  const how = outcome === 'missing' ? 'The file is gone' : 'A part of the file is gone';
  return (
    `${lines === undefined ? '' : `${lines} in `}${countText(lostBytes)} of ${countText(notedBytes)} acknowledged bytes are ` +
    `missing. ${how}: was it deleted, is its disk mounted, was there a power cut?`
  );
}

/** Each index once as it stands, as long as there are bytes left to read. */
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
