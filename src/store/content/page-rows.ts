// The metadata of all stored pages as rows of a table, from the indexes of all data directories.
// Promise: one row per index line, each once; memory holds a chunk of one index. Damaged lines are counted, not rows.
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CrawlError } from '../../errors.js';
import type { Dictionary } from '../../request/request.js';
import type { Column } from '../parquet/column-types.js';
import { isMissing } from '../storage-errors.js';
import { type IndexEntry, parseIndexLine } from './cdxj.js';
import { batchesOfLines } from './index-sorting.js';
import { CONTENT_FOLDER, contentKindOf, segmentOfIndex, TAIL_ENDING } from './names.js';

const text = (name: string): Column => ({ name, type: 'text', isList: false });
const integer = (name: string): Column => ({ name, type: 'integer', isList: false });

/** The columns of `pageRows`, the same for every crawl. */
export const PAGE_COLUMNS: readonly Column[] = [
  text('url'),
  text('loaded_url'),
  text('kind'),
  integer('status_code'),
  { name: 'fetched_at', type: 'time', isList: false },
  text('content_type'),
  integer('depth'),
  text('digest'),
  text('filename'),
  integer('offset'),
  integer('length'),
  text('fate'),
  text('code'),
  integer('attempts'),
  text('message'),
];

const CHUNK_BYTES = 256 * 1024;

/** Batches of rows; `onDamage` is told of each index with lines that are not valid, and how many. */
export async function* pageRows(
  dataDirs: readonly string[],
  onDamage: (message: string) => void,
): AsyncGenerator<Dictionary[]> {
  for (const dataDir of dataDirs) {
    const folder = join(dataDir, CONTENT_FOLDER);
    const files = await readdir(folder).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
      throw new CrawlError('OPTION_INVALID', `${folder} does not exist: is ${dataDir} a data directory?`);
    });
    for (const index of indexesOf(files)) yield* rowsOf(join(folder, index), onDamage);
  }
}

/** Of an index that is sorted and has a tail, the tail: it has everything until it is removed. */
function indexesOf(files: readonly string[]): string[] {
  const indexes = files.filter((file) => segmentOfIndex(file) !== undefined);
  const known = new Set(indexes);
  return indexes.filter((file) => file.endsWith(TAIL_ENDING) || !known.has(file + TAIL_ENDING)).sort();
}

async function* rowsOf(path: string, onDamage: (message: string) => void): AsyncGenerator<Dictionary[]> {
  // It may have been sorted since the folder was listed.
  const file = await open(path, 'r').catch((error: unknown) => {
    if (!isMissing(error) || !path.endsWith(TAIL_ENDING)) throw error;
    return open(path.slice(0, -TAIL_ENDING.length), 'r');
  });
  let damaged = 0;
  try {
    for await (const lines of batchesOfLines(file, 0, Infinity, CHUNK_BYTES)) {
      const rows: Dictionary[] = [];
      for (const line of lines) {
        const entry = parseIndexLine(Buffer.from(line, 'latin1').toString('utf8'));
        if (entry === undefined) damaged++;
        else rows.push(rowOf(entry));
      }
      yield rows;
    }
  } finally {
    await file.close();
  }
  if (damaged > 0) onDamage(`${path} has ${damaged} lines that are not valid: they are left out`);
}

function rowOf(entry: IndexEntry): Dictionary {
  const { fate, filename = null } = entry;
  const stored = filename === null ? 'page' : contentKindOf(filename) === 'text' ? 'text' : 'response';
  return {
    url: entry.url,
    loaded_url: entry.loadedUrl ?? entry.url,
    kind: fate?.kind ?? stored,
    status_code: entry.statusCode === 0 ? null : entry.statusCode,
    fetched_at: new Date(entry.fetchedAtMs).toISOString(),
    content_type: entry.contentType,
    depth: Number.isSafeInteger(entry.depth) ? entry.depth : null,
    digest: entry.digest === '' ? null : entry.digest,
    filename,
    offset: entry.offset ?? null,
    length: entry.length ?? null,
    fate: fate?.kind ?? 'done',
    code: fate?.code ?? null,
    attempts: fate?.attempts ?? null,
    message: fate?.message ?? null,
  };
}
