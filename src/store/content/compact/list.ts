// The segments that a compaction has replaced: their names stay in a list, since queues still have notes of them.
// Promise: a name enters the list when what is kept of the segment is in place; from then on its files may only go.
import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { killPoint } from '../../../base/kill-points.js';
import { PRIVATE_FILE } from '../../../base/private-files.js';
import { isMissing } from '../../storage-errors.js';
import { indexNameOf, parseContentName } from '../names.js';

const LIST_FILE = 'compacted.list';

/** The names in a folder's list. */
export async function compactedIn(folder: string): Promise<Set<string>> {
  const text = await readFile(join(folder, LIST_FILE), 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return '';
    throw error;
  });
  // Half a line at the end is not a name.
  return new Set(text.split('\n').filter((name) => parseContentName(name) !== undefined));
}

export async function listCompacted(folder: string, name: string): Promise<void> {
  const file = await open(join(folder, LIST_FILE), 'a', PRIVATE_FILE.mode);
  try {
    // The newline first ends what a crash left of another name.
    await file.appendFile(`\n${name}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** Removes the files of a segment in the list: the index first, so that nobody is led to a record that is gone. */
export async function removeCompacted(folder: string, name: string): Promise<void> {
  killPoint('compact.before-remove');
  await rm(join(folder, indexNameOf(name)), { force: true });
  killPoint('compact.between-removes');
  await rm(join(folder, name), { force: true });
  killPoint('compact.after-remove');
}
