// Stores the content of visited pages in several data directories, right before the visit is acknowledged.
// Promise: a page is stored with its index line or not at all; a failing directory is not used while others remain.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CrawlError } from '../../errors.js';
import { recordsByKind, storeAsFile } from './batch.js';
import { CONTENT_FOLDER, homeDirectory, newContentName, type SegmentKind } from './names.js';
import { resolveContentOptions, type ContentStoreOptions } from './options.js';
import { packConfirmed, packPage, type ConfirmedPage, type ContentPage, type PackedPage } from './page.js';
import { recoverContent, type RecoveredContent } from './recovery.js';
import { createContentSegment, type ContentSegment, type ContentWriter } from './segment.js';
import { checkDirectory, createDataDirectories, makeDirectory } from './data-directories.js';
import { asStorageError } from '../storage-errors.js';

/** Where a page's content is; `path` is undefined if only its metadata is stored. */
export interface ContentPlace {
  readonly dataDir: string;
  readonly path?: string;
  readonly offset?: number;
  readonly length?: number;
}

/** What an append wrote. Settle with the note `writer.key → writer.note` of each and confirm it, or cut it to `before`. */
export interface ContentBatch {
  readonly written: readonly { readonly writer: ContentWriter; readonly before: number }[];
  /** One per page, in order: its text, else its response. */
  readonly places: readonly ContentPlace[];
}

export interface ContentStore {
  /** What opening found in dead writers' segments. */
  readonly recovered: readonly RecoveredContent[];
  /** Directories in use; the others failed and are not used until the next open. */
  readonly directoriesInUse: readonly string[];
  /** Compresses a page. No I/O: call it when the visit ends, not when it settles. */
  pack(page: ContentPage): Promise<PackedPage>;
  /** Packs a visit that was answered with 304; undefined where each page has one file, which stays as it is. */
  packConfirmed(page: ConfirmedPage): PackedPage | undefined;
  /**
   * Resolves when the pages and their index lines are in files. On failure nothing of them is; STORAGE_FULL when no
   * directory is left. Acknowledge or cut back one batch before the next append.
   */
  append(pages: readonly PackedPage[]): Promise<ContentBatch>;
  /** Closes the segments and sorts their indexes; everything must be acknowledged or cut back. */
  close(): Promise<void>;
}

interface Directory {
  readonly path: string;
  readonly folder: string;
  readonly segments: Map<SegmentKind, ContentSegment>;
}

type Written = Map<ContentSegment, number>;

async function openContentStore(options: ContentStoreOptions): Promise<ContentStore> {
  const settings = resolveContentOptions(options);
  const { warn } = settings;
  const disks = settings.directories ?? createDataDirectories(settings.dataDirs, warn);
  const isInFiles = settings.layout === 'files';
  const directories = settings.dataDirs.map((path): Directory => {
    return { path, folder: join(path, CONTENT_FOLDER), segments: new Map() };
  });
  let finishing: Promise<unknown> = Promise.resolve();
  let last: Promise<unknown> = Promise.resolve();

  for (const directory of directories) {
    try {
      if (!settings.directories) await makeDirectory(directory.path);
      await checkDirectory(directory.path);
    } catch (error) {
      disks.retire(directory.path, error, directory.folder);
    }
  }
  if (disks.inUse.length === 0) {
    const code = disks.hasLost ? 'STORAGE_LOST' : 'STORAGE_UNWRITABLE';
    throw new CrawlError(code, `no writable data directory: ${disks.describe()}`);
  }
  const recovered = await recoverContent(settings.dataDirs, settings);
  for (const { key, outcome, notedBytes, foundBytes, keptBytes } of recovered) {
    if (outcome === 'cut')
      warn(`${key}: cut from ${foundBytes} to ${keptBytes} bytes, the end of its last acknowledged page`);
    else if (outcome !== 'whole') warn(`${key} lost acknowledged pages: ${keptBytes} of ${notedBytes} bytes remain`);
  }

  /** The page's own directory, or the next one that works. */
  function directoryFor({ sha256 }: PackedPage): Directory {
    const path = disks.choose(homeDirectory(sha256, directories.length));
    return directories.find((directory) => directory.path === path)!;
  }

  /** The segment to append to. A full one is replaced, but not within a batch: it could no longer be cut back. */
  async function segmentOf(directory: Directory, kind: SegmentKind, written: Written): Promise<ContentSegment> {
    const current = directory.segments.get(kind);
    if (current && (!current.full || written.has(current))) return current;
    if (current) await letGo(directory, kind, current);
    const { folder } = directory;
    const existing = await readdir(folder).catch((error: unknown) => {
      throw new StorageTrouble(asStorageError(error, folder));
    });
    const name = newContentName(existing, settings.writerId, kind);
    const { gzipLevel, durability, software, nowMs, segmentBytes: maxBytes } = settings;
    const segment = createContentSegment({ folder, name, kind, maxBytes, gzipLevel, durability, software, nowMs });
    // Noted before the first append: after a crash, bytes without a note would count as acknowledged.
    await settings.note?.({ [segment.key]: segment.note });
    directory.segments.set(kind, segment);
    return segment;
  }

  /** Frees a segment and sorts its index in the background, one at a time. */
  async function letGo(directory: Directory, kind: SegmentKind, segment: ContentSegment): Promise<void> {
    directory.segments.delete(kind);
    await segment.close();
    finishing = finishing
      .then(() => segment.finish())
      .catch((error: unknown) => warn(`the index of ${segment.name} stays unsorted: ${(error as Error).message}`));
  }

  async function appendAll(pages: readonly PackedPage[], written: Written): Promise<ContentPlace[]> {
    const places = new Array<ContentPlace>(pages.length);
    let waiting = pages.map((page, index) => ({ page, index }));
    while (waiting.length > 0) {
      const groups = new Map<Directory, typeof waiting>();
      for (const each of waiting) {
        const directory = directoryFor(each.page);
        const group = groups.get(directory);
        if (group) group.push(each);
        else groups.set(directory, [each]);
      }
      waiting = [];
      for (const [directory, group] of groups) {
        try {
          const found = await appendTo(
            directory,
            group.map(({ page }) => page),
            written,
          );
          for (const [n, { index }] of group.entries()) places[index] = found[n]!;
        } catch (error) {
          if (!(error instanceof StorageTrouble)) throw error;
          disks.retire(directory.path, error.cause, directory.folder);
          waiting.push(...group);
        }
      }
    }
    return places;
  }

  /** Appends pages to one directory, all of them or none: then it throws StorageTrouble, or what the queue threw. */
  async function appendTo(
    directory: Directory,
    pages: readonly PackedPage[],
    written: Written,
  ): Promise<ContentPlace[]> {
    const places: ContentPlace[] = pages.map(() => ({ dataDir: directory.path }));
    const byKind = recordsByKind(pages, settings.layout);
    const segments: ContentSegment[] = [];
    for (const kind of byKind.keys()) segments.push(await segmentOf(directory, kind, written));
    const mine: Written = new Map();
    try {
      for (const [n, chosen] of [...byKind.values()].entries()) {
        const segment = segments[n]!;
        const before = segment.length;
        const records = [];
        for (const each of chosen) {
          records.push(isInFiles ? await storeAsFile(directory.folder, each, settings.durability) : each.record);
        }
        const appended = await segment.append(records);
        mine.set(segment, before);
        for (const [m, { page }] of chosen.entries()) {
          const { filename, offset, length } = appended[m]!;
          places[page] = {
            dataDir: directory.path,
            path: filename && join(directory.folder, filename),
            offset,
            length,
          };
        }
      }
    } catch (error) {
      await cutBack(mine);
      throw error instanceof CrawlError ? new StorageTrouble(error) : error;
    }
    for (const [segment, before] of mine) {
      if (!written.has(segment)) written.set(segment, before);
      if (!settings.note) segment.confirm();
    }
    return places;
  }

  return {
    recovered,
    get directoriesInUse() {
      return disks.inUse;
    },
    pack: (page) => packPage(page, settings),
    packConfirmed: (page) => (isInFiles ? undefined : packConfirmed(page, settings.gzipLevel)),
    append(pages) {
      const mine = last.then(async (): Promise<ContentBatch> => {
        // Not if they failed: the previous batch may still be cut back.
        for (const directory of directories) {
          if (disks.isInUse(directory.path)) continue;
          for (const [kind, segment] of directory.segments) await letGo(directory, kind, segment);
        }
        const written: Written = new Map();
        try {
          const places = await appendAll(pages, written);
          return { written: [...written].map(([writer, before]) => ({ writer, before })), places };
        } catch (error) {
          await cutBack(written);
          throw error;
        }
      });
      last = mine.catch(() => undefined);
      return mine;
    },
    async close() {
      await last;
      for (const directory of directories) {
        for (const [kind, segment] of directory.segments) await letGo(directory, kind, segment);
      }
      await finishing;
    },
  };
}

/**
 * The content of visited pages: text as WET, responses as WARC, a CDXJ index beside each segment.
 *
 * @example
 * const content = await ContentStore.open({ dataDirs: ['/mnt/ssd1', '/mnt/ssd2'], notes, note });
 * const { written } = await content.append([await content.pack(page)]);
 * await holder.settle({ settlements, notes: Object.fromEntries(written.map(({ writer }) => [writer.key, writer.note])) });
 * for (const { writer } of written) writer.confirm();
 */
export const ContentStore = Object.freeze({ open: openContentStore });

/** A directory failed, not the queue with the notes. */
class StorageTrouble extends Error {
  constructor(override readonly cause: CrawlError) {
    super(cause.message);
  }
}

/** Best effort: anything left is past the noted length and cut at the next open. */
async function cutBack(written: Written): Promise<void> {
  for (const [segment, before] of written) await segment.cutTo(before).catch(() => undefined);
}
