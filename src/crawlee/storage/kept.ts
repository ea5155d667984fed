// One storage of a MemoryStorage: its identity, its times, and its folder on disk if it has one.
// Promise: no name or key leads out of the folder; a file is replaced as a whole.
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../base/private-files.js';
import { CrawlError } from '../../errors.js';
import type { StorageTimes } from './clients.js';

/** Where a kind of storage lives, and how much is written there. */
export interface Home {
  readonly directory: string;
  readonly persists: boolean;
  readonly writesMetadata: boolean;
}

export const METADATA = '__metadata__.json';

/** The identity of a storage, as its info tells it. */
export class Kept {
  readonly id: string;
  name: string | undefined;
  createdAt = new Date();
  accessedAt = new Date();
  modifiedAt = new Date();

  constructor(
    readonly home: Home,
    given: { id?: string; name?: string },
  ) {
    this.id = given.id ?? randomUUID();
    this.name = given.name;
    void this.folder;
  }

  get folder(): string {
    return within(this.home.directory, this.name ?? this.id);
  }

  get times(): StorageTimes {
    const { id, name, createdAt, accessedAt, modifiedAt } = this;
    return { id, ...(name === undefined ? {} : { name }), accessedAt, createdAt, modifiedAt };
  }

  touch(isChange: boolean): void {
    this.accessedAt = new Date();
    if (isChange) this.modifiedAt = this.accessedAt;
  }

  /** Takes over what a metadata file says. */
  restore(metadata: Partial<Record<'createdAt' | 'accessedAt' | 'modifiedAt', string>> | undefined): void {
    for (const key of ['createdAt', 'accessedAt', 'modifiedAt'] as const) {
      const date = new Date(metadata?.[key] ?? Number.NaN);
      if (!Number.isNaN(date.getTime())) this[key] = date;
    }
  }

  rename(name: string): void {
    const before = this.folder;
    const after = within(this.home.directory, name);
    if (this.home.persists) {
      try {
        renameSync(before, after);
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
      }
    }
    this.name = name;
  }

  write(file: string, content: string | Uint8Array): void {
    if (this.home.persists) this.#replace(file, content);
  }

  /** What is known of the storage is written even where its content is not. */
  writeMetadata(info: unknown, file = METADATA): void {
    if (this.home.writesMetadata) this.#replace(file, JSON.stringify(info, null, '\t'));
  }

  #replace(file: string, content: string | Uint8Array): void {
    const path = within(this.folder, file);
    mkdirSync(dirname(path), PRIVATE_FOLDER);
    const unfinished = `${path}.${process.pid}.part`;
    writeFileSync(unfinished, content, PRIVATE_FILE);
    renameSync(unfinished, path);
  }

  read(file: string): Buffer | undefined {
    return this.home.persists ? readOrNothing(within(this.folder, file)) : undefined;
  }

  remove(file: string): void {
    if (this.home.persists) rmSync(within(this.folder, file), { force: true });
  }

  removeAll(): void {
    if (this.home.persists || this.home.writesMetadata) rmSync(this.folder, { recursive: true, force: true });
  }

  files(): string[] {
    return this.home.persists ? filesIn(this.folder) : [];
  }
}

/** What every client can do with its storage as a whole. */
export function wholeCalls<One extends Kept & { readonly info: unknown; clear(): void }>(
  find: () => One | undefined,
  existing: () => One,
  forget: (one: One) => void,
) {
  return {
    async get(): Promise<One['info'] | undefined> {
      const found = find();
      found?.touch(false);
      return found?.info;
    },
    async update({ name }: { name?: string } = {}): Promise<One['info']> {
      const one = existing();
      if (name) {
        one.rename(name);
        one.touch(true);
        one.writeMetadata(one.info);
      }
      return one.info;
    },
    async delete(): Promise<void> {
      const one = find();
      if (!one) return;
      forget(one);
      one.clear();
    },
  };
}

export function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

export function readOrNothing(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}

/** JSON of a file; undefined when there is none, or it is something else. */
export function parsed<T>(bytes: Buffer | undefined): T | undefined {
  try {
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString()) as T);
  } catch {
    return undefined;
  }
}

/** A path below a folder, or an error. */
export function within(folder: string, name: string): string {
  const path = resolve(join(folder, name));
  const inside = relative(resolve(folder), path);
  if (inside === '' || inside.startsWith('..') || isAbsolute(inside) || isAbsolute(name)) {
    throw new CrawlError(
      'OPTION_INVALID',
      `"${name}" is not allowed: it leads outside of the storage directory. Names and keys must not contain ".." or be absolute paths`,
    );
  }
  return path;
}

/** A promise of a page that can also be iterated, page after page. */
export function pagesOf<Page, Item>(
  first: Promise<Page>,
  iterate: (page: Page) => AsyncGenerator<Item>,
): AsyncIterable<Item> & Promise<Page> {
  // Whoever iterates meets the failure there.
  first.catch(() => undefined);
  return Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      yield* iterate(await first);
    },
  });
}
