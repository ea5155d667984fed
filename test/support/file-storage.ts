// A storage backend as a third party would write it: only public exports, one folder, plain files. Queues are tables in
// memory with a journal on disk; datasets are files of lines; records are files with their content type in front.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import {
  createMemoryTables,
  CrawlError,
  type FrontierTables,
  openTableFrontier,
  type RecordStore,
  type SegmentStore,
  type SegmentWriter,
  type StorageClient,
  type TableFrontier,
} from '../../src/index.js';

export interface FileStorage extends StorageClient {
  openFrontier(opening: Parameters<StorageClient['openFrontier']>[0]): Promise<TableFrontier>;
}

export function createFileStorage(folder: string): FileStorage {
  return {
    async openFrontier(opening) {
      const place = join(folder, 'queues', opening.id);
      mkdirSync(place, { recursive: true });
      return openTableFrontier(journaledTables(join(place, 'journal')), {
        ...opening,
        access: 'owner',
        where: place,
        remove: async () => rmSync(place, { recursive: true, force: true }),
      });
    },
    segments: (id) => fileSegments(join(folder, 'datasets', id)),
    records: (id) => fileRecords(join(folder, 'records', id)),
  };
}

type Change = readonly [table: string, major: number, minor: number, value: string | null] | readonly [table: string];

/** One line per transaction: a half-written last line is one that never happened. */
function journaledTables(journal: string): FrontierTables {
  const memory = createMemoryTables();
  const names = Object.keys(memory.tables) as (keyof typeof memory.tables)[];
  let changes: Change[] = [];
  const text = existsSync(journal) ? readFileSync(journal, 'utf8') : '';
  const whole = text.lastIndexOf('\n') + 1;
  if (whole < text.length) truncateSync(journal, Buffer.byteLength(text.slice(0, whole)));
  for (const line of text.slice(0, whole).split('\n').filter(Boolean)) {
    for (const change of JSON.parse(line) as Change[]) {
      const table = memory.tables[change[0] as (typeof names)[number]];
      if (change.length === 1) table.clear();
      else if (change[3] === null) table.remove(change[1], change[2]);
      else table.put(change[1], change[2], Buffer.from(change[3], 'base64'));
    }
  }
  const tables = Object.fromEntries(
    names.map((name) => {
      const table = memory.tables[name];
      return [
        name,
        {
          get: (major: number, minor: number) => table.get(major, minor),
          scan: (...args: Parameters<typeof table.scan>) => table.scan(...args),
          put(major: number, minor: number, value: Buffer) {
            changes.push([name, major, minor, value.toString('base64')]);
            table.put(major, minor, value);
          },
          remove(major: number, minor: number) {
            changes.push([name, major, minor, null]);
            table.remove(major, minor);
          },
          clear() {
            changes.push([name]);
            table.clear();
          },
        },
      ];
    }),
  ) as unknown as FrontierTables['tables'];
  return {
    tables,
    async transact(body) {
      const result = await memory.transact(body);
      if (changes.length > 0) appendFileSync(journal, `${JSON.stringify(changes)}\n`);
      changes = [];
      return result;
    },
    close: () => memory.close(),
  };
}

function fileSegments(folder: string): SegmentStore {
  const writers = new Set<{ gone: boolean }>();
  const names = () =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => name.endsWith('.jsonl'))
          .sort()
      : [];
  const lengthOf = (name: string) => (existsSync(join(folder, name)) ? statSync(join(folder, name)).size : 0);

  function open(name: string): SegmentWriter {
    const state = { gone: false };
    writers.add(state);
    const refuseIfGone = () => {
      if (state.gone) throw new CrawlError('STORAGE_UNWRITABLE', `${name} takes no more lines`);
    };
    return {
      name,
      get lengthBytes() {
        return lengthOf(name);
      },
      async append(lines) {
        refuseIfGone();
        if (lines.length > 0 && Buffer.from(lines).at(-1) !== 0x0a) {
          throw new CrawlError('ITEM_INVALID', 'a line must end in a newline');
        }
        appendFileSync(join(folder, name), lines);
      },
      async cutTo(lengthBytes) {
        refuseIfGone();
        if (lengthBytes < lengthOf(name)) truncateSync(join(folder, name), lengthBytes);
      },
      async close() {
        state.gone = true;
      },
    };
  }

  const clear = async () => {
    for (const state of writers) state.gone = true;
    writers.clear();
    for (const name of names()) rmSync(join(folder, name), { force: true });
  };
  let direct = 0;
  return {
    prepare: async () => void mkdirSync(folder, { recursive: true }),
    list: async () =>
      names().map((name) => {
        const { size, birthtimeMs, mtimeMs } = statSync(join(folder, name));
        return { name, lengthBytes: size, createdAtMs: birthtimeMs, modifiedAtMs: mtimeMs };
      }),
    read: async (name, fromByte, toByte) =>
      existsSync(join(folder, name)) ? readFileSync(join(folder, name)).subarray(fromByte, toByte) : Buffer.alloc(0),
    async openDirect() {
      const next = names().reduce((max, name) => Math.max(max, parseInt(name, 10)), 0) + 1;
      return open(`${String(next).padStart(6, '0')}-direct-${process.pid}-${++direct}.jsonl`);
    },
    openVisit: async (name) => open(name),
    clear,
    async remove() {
      await clear();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function fileRecords(folder: string): RecordStore {
  const fileOf = (key: string) => join(folder, `${encodeURIComponent(key)}.record`);
  const read = (key: string) => {
    if (!existsSync(fileOf(key))) return undefined;
    const bytes = readFileSync(fileOf(key));
    const end = bytes.indexOf(0x0a);
    return { contentType: String(bytes.subarray(0, end)), body: bytes.subarray(end + 1) };
  };
  let drafts = 0;
  return {
    prepare: async () => void mkdirSync(folder, { recursive: true }),
    read: async (key) => read(key),
    async write(key, body, contentType) {
      const bytes = body instanceof Uint8Array ? body : await buffer(body);
      mkdirSync(folder, { recursive: true });
      const draft = join(folder, `${process.pid}-${++drafts}.draft`);
      writeFileSync(draft, Buffer.concat([Buffer.from(`${contentType}\n`), bytes]));
      renameSync(draft, fileOf(key));
    },
    delete: async (key) => rmSync(fileOf(key), { force: true }),
    has: async (key) => existsSync(fileOf(key)),
    async list() {
      const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.record')) : [];
      const keys = files.map((name) => decodeURIComponent(name.slice(0, -'.record'.length))).sort();
      return keys.map((key) => ({ key, sizeBytes: read(key)!.body.length }));
    },
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  };
}
