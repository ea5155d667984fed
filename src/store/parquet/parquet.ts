// Items as Parquet: typed columns in row groups, compressed. Needs to know all columns before the first row.
// Promise: rows come out in order and complete, or not at all; memory holds the pages of one row group, compressed.
import zlib from 'node:zlib';
import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { CrawlError } from '../../errors.js';
import type { ItemEncoder } from '../formats.js';
import { ColumnChunk } from './column-chunk.js';
import type { CellType, Column } from './column-types.js';

/** A row group ends at so many rows, or characters: readers work on groups in parallel and keep one in memory. */
const GROUP_ROWS = 65_536;
const GROUP_CHARACTERS = 32 * 1024 * 1024;
/** An absent cell takes a byte until its group ends: groups of wide tables have fewer rows. */
const GROUP_CELLS = 16 * 1024 * 1024;

export function parquetEncoder(columns: readonly Column[]): ItemEncoder {
  // A file without columns is not one that readers take.
  const shown = columns.length === 0 ? [{ name: 'empty', type: 'text', isList: false } as const] : columns;
  const out = createSink();
  const { codec, compressors } = compression();
  const writer = new ParquetWriter({
    writer: out,
    schema: [{ name: 'items', num_children: shown.length }, ...shown.flatMap(schemaOf)],
    codec,
    compressors,
  });
  // The writer of the package has the header, the codec and the footer; what is between them comes from the chunks.
  const pages = { codec, compress: writer.compressors[codec]! };
  const chunks = shown.map((column) => new ColumnChunk(column, pages));
  const byName = new Map(shown.map(({ name }, at) => [name, chunks[at]!]));
  const groupRows = Math.min(GROUP_ROWS, Math.ceil(GROUP_CELLS / shown.length));
  let rows = 0;
  let characters = 0;

  function endGroup(): void {
    let uncompressed = 0;
    const columns = chunks.map((chunk) => {
      chunk.fill(rows);
      const ended = chunk.end(out);
      uncompressed += ended.uncompressed;
      return ended.chunk;
    });
    writer.row_groups.push({ columns, total_byte_size: BigInt(uncompressed), num_rows: BigInt(rows) });
    writer.num_rows += BigInt(rows);
    rows = characters = 0;
  }

  return {
    add(items) {
      for (const item of items) {
        for (const name of Object.keys(item)) {
          const value = item[name];
          if (value === null || value === undefined) continue;
          const size = byName.get(name)?.set(rows, value);
          if (size === undefined) throw changed(name);
          characters += size;
        }
        rows++;
        if (rows >= groupRows || characters >= GROUP_CHARACTERS) endGroup();
      }
      return out.take();
    },
    end() {
      if (rows > 0) endGroup();
      void writer.finish();
      return out.take();
    },
  };
}

/** Bytes pile up between two calls of `take`; offsets go on. */
function createSink(): ByteWriter & { take(): Uint8Array } {
  const sink = new ByteWriter(64 * 1024);
  return Object.assign(sink, {
    take() {
      const bytes = sink.getBytes();
      if (bytes.length > 0) {
        // What was given away is not written again.
        sink.buffer = new ArrayBuffer(64 * 1024);
        sink.view = new DataView(sink.buffer);
        sink.index = 0;
      }
      return bytes;
    },
  });
}

const ZSTD_LEVEL = 1;

/** zstd where Node has it (22.15), snappy elsewhere: every reader of Parquet knows both. */
function compression() {
  const { zstdCompressSync, constants } = zlib as typeof zlib & {
    zstdCompressSync?: (bytes: Uint8Array, options: object) => Uint8Array;
    constants: Record<string, number>;
  };
  if (zstdCompressSync === undefined) return { codec: 'SNAPPY' as const, compressors: {} };
  const options = { params: { [constants.ZSTD_c_compressionLevel!]: ZSTD_LEVEL } };
  return { codec: 'ZSTD' as const, compressors: { ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes, options) } };
}

const LEAVES: Record<CellType, Partial<SchemaElement>> = {
  boolean: { type: 'BOOLEAN' },
  integer: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  time: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' } },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'JSON' },
};

function schemaOf({ name, type, isList }: Column): SchemaElement[] {
  const leaf = { ...LEAVES[type], repetition_type: 'OPTIONAL' } as const;
  if (!isList) return [{ name, ...leaf }];
  return [
    { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', ...leaf },
  ];
}

function changed(name: string): CrawlError {
  return new CrawlError(
    'ITEM_INVALID',
    `the items changed while they were exported (field ${JSON.stringify(name.slice(0, 80))}): export again when nothing writes`,
  );
}
