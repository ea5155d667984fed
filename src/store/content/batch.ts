// Where each record of a page goes: into a segment of its kind, or into its own file.
// Promise: a file appears complete under its name or not at all.
import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { killPoint } from '../../base/kill-points.js';
import { PRIVATE_FILE } from '../../base/private-files.js';
import type { SegmentKind } from './names.js';
import type { PackedPage } from './page.js';
import type { PackedRecord } from './segment.js';
import type { Durability } from '../segments/segment-file.js';
import { asStorageError } from '../storage-errors.js';

export interface Chosen {
  /** The index of the page in its batch. */
  readonly page: number;
  readonly sha256: string;
  readonly holds: 'text' | 'raw' | 'nothing' | 'fate';
  readonly record: PackedRecord;
}

/** What goes into which segment. In the layout of files all lines go into one index. */
export function recordsByKind(pages: readonly PackedPage[], layout: 'segments' | 'files'): Map<SegmentKind, Chosen[]> {
  const byKind = new Map<SegmentKind, Chosen[]>();
  const choose = (page: number, sha256: string, holds: Chosen['holds'], record: PackedRecord | undefined): void => {
    if (!record) return;
    const kind = holds === 'fate' ? 'fates' : layout === 'files' || holds === 'nothing' ? 'pages' : holds;
    const chosen = byKind.get(kind);
    if (chosen) chosen.push({ page, sha256, holds, record });
    else byKind.set(kind, [{ page, sha256, holds, record }]);
  };
  for (const [page, { sha256, raw, text, bare, fate }] of pages.entries()) {
    choose(page, sha256, 'fate', fate);
    // The text last: its location is reported as the page's.
    choose(page, sha256, 'nothing', bare);
    choose(page, sha256, 'raw', raw);
    choose(page, sha256, 'text', text);
  }
  return byKind;
}

/** Writes a page's file under a temporary name and renames it; returns its index line. */
export async function storeAsFile(folder: string, chosen: Chosen, durability: Durability): Promise<PackedRecord> {
  const { holds, sha256, record } = chosen;
  const { bytes, surt, entry } = record;
  if (holds === 'nothing' || holds === 'fate' || bytes === undefined) return record;
  const filename = `${sha256}${holds === 'text' ? '.txt' : '.warc.gz'}`;
  const path = join(folder, filename);
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    killPoint('content-file.before-write');
    await writeFile(temporary, bytes, { ...PRIVATE_FILE, flush: durability === 'machine' });
    killPoint('content-file.before-rename');
    await rename(temporary, path);
    killPoint('content-file.after-rename');
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw asStorageError(error, path);
  }
  return { surt, entry: { ...entry, filename, length: bytes.length, offset: holds === 'text' ? undefined : 0 } };
}
