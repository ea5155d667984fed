// The inbox of an embedded pod: links that other processes on the machine found for it, until its owner queues them.
// Promise: an append is one transaction, on disk when it returns. Links are removed after they are queued, so a
// crash in between repeats but loses nothing.
import { createRequire } from 'node:module';
import { PRIVATE_LMDB } from '../../../base/private-files.js';
import type { Database, RootDatabase } from 'lmdb';
import { checkLmdbFolder } from '../../../base/lmdb-file.js';
import { SHARED_WRITERS, transactShared } from '../../../base/lmdb-shared.js';

export interface Inbox {
  /** Appends a packed batch of `links` links. */
  append(text: string, links: number): Promise<void>;
  /** The oldest batches. */
  read(most: number): readonly { readonly key: number; readonly text: string }[];
  remove(keys: readonly number[]): Promise<void>;
  /** Waiting links. */
  readonly links: number;
  mark(name: string): Promise<void>;
  isMarked(name: string): boolean;
  close(): Promise<void>;
}

export function openInbox(folder: string): Inbox {
  checkLmdbFolder(folder);
  const lmdb = createRequire(import.meta.url)('lmdb') as typeof import('lmdb');
  const environment: RootDatabase = lmdb.open({
    path: folder,
    maxDbs: 4,
    noSubdir: false,
    ...SHARED_WRITERS,
    ...PRIVATE_LMDB,
  });
  const batches: Database<string, number> = environment.openDB({ name: 'batches', encoding: 'string' });
  const facts: Database<number, string> = environment.openDB({ name: 'facts', encoding: 'json' });

  /** Others write, too: every transaction is short and sees the latest state. */
  const transact = (body: () => void): Promise<void> => transactShared(environment, body);

  const count = (): number => facts.get('links') ?? 0;

  return {
    append: (text, links) =>
      transact(() => {
        const next = (facts.get('last') ?? 0) + 1;
        void batches.put(next, `${links} ${text}`);
        void facts.put('last', next);
        void facts.put('links', count() + links);
      }),
    read(most) {
      return [...batches.getRange({ limit: most })].map(({ key, value }) => ({ key, text: textOf(value) }));
    },
    remove: (keys) =>
      transact(() => {
        let links = count();
        for (const key of keys) {
          const row = batches.get(key);
          if (row === undefined) continue;
          links -= Number.parseInt(row, 10);
          void batches.remove(key);
        }
        void facts.put('links', Math.max(0, links));
      }),
    get links() {
      return count();
    },
    mark: (name) => transact(() => void facts.put(`mark ${name}`, 1)),
    isMarked: (name) => facts.get(`mark ${name}`) === 1,
    close: () => environment.close(),
  };
}

function textOf(row: string): string {
  return row.slice(row.indexOf(' ') + 1);
}
