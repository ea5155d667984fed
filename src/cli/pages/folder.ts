// A folder with one file per page, named by its path, and an index: index.md for people, index.jsonl for programs.
// Promise: the index names every page once, with its file or the reason why there is none, also after Ctrl-C.
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { forgetLogin, hideLogins, withoutLogin } from '../../request/login.js';
import { asStorageError } from '../../store/storage-errors.js';
import { createPageNames } from './names.js';

export interface PageFolder {
  /** Writes a page under its name. */
  write(page: { readonly url: string; readonly title: string | null | undefined }, text: string): Promise<void>;
  /** Names a page that has no file. */
  leaveOut(url: string, why: string): Promise<void>;
  /** The index is complete then. */
  close(): Promise<{ readonly path: string; readonly bytes: number }>;
}

export async function openPageFolder(folder: string, extension: string): Promise<PageFolder> {
  const nameOf = createPageNames(extension);
  const made = new Set<string>();
  let bytes = 0;
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw asStorageError(error, folder);
  });
  const people = openIndex(path.join(folder, 'index.md'));
  const programs = openIndex(path.join(folder, 'index.jsonl'));
  await people.write('# Pages\n\n');

  async function makeFolder(of: string): Promise<void> {
    if (made.has(of)) return;
    if (made.size >= 100_000) made.clear();
    await mkdir(of, { recursive: true });
    made.add(of);
  }

  async function list(entry: Record<string, unknown>, line: string): Promise<void> {
    await programs.write(`${JSON.stringify(entry)}\n`);
    await people.write(`- ${line}\n`);
  }

  return {
    async write({ url: typed, title }, text) {
      const { url } = withoutLogin(typed);
      const name = nameOf(url);
      const file = path.join(folder, name);
      const written = forgetLogin(text, typed);
      try {
        await makeFolder(path.dirname(file));
        await writeFile(file, written);
      } catch (error) {
        throw asStorageError(error, folder);
      }
      bytes += Buffer.byteLength(written);
      const shownTitle = (title ?? '').replace(/\s+/g, ' ').trim();
      const label = (shownTitle || url).replace(/[\\[\]<>`*_]/g, '\\$&');
      const target = name.split('/').map(encodeURIComponent).join('/');
      await list({ url, title: shownTitle || null, file: name }, `[${label}](${target}) <${url}>`);
    },
    leaveOut: (url, why) => {
      const said = hideLogins(why).replace(/\s+/g, ' ');
      return list({ url: hideLogins(url), file: null, why: said }, `<${hideLogins(url)}>: no file (${said})`);
    },
    async close() {
      await people.close();
      await programs.close();
      return { path: people.file, bytes };
    },
  };
}

interface Index {
  readonly file: string;
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

function openIndex(file: string): Index {
  let failure: unknown;
  const stream: WriteStream = createWriteStream(file);
  stream.on('error', (error) => (failure = asStorageError(error, file)));
  const check = () => {
    if (failure !== undefined) throw failure;
  };
  return {
    file,
    write: async (text) => {
      check();
      if (stream.write(text)) return;
      await new Promise<void>((resolve) => {
        const done = () => {
          for (const event of ['drain', 'close', 'error']) stream.off(event, done);
          resolve();
        };
        for (const event of ['drain', 'close', 'error']) stream.on(event, done);
      });
      check();
    },
    close: async () => {
      await new Promise<void>((resolve) => stream.end(resolve));
      check();
    },
  };
}
