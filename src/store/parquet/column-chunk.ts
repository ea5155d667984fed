// One column of a row group: values become bytes as they come, and a full page is compressed at once.
// Promise: memory holds one page of values, a dictionary of limited size, and the compressed pages.
import { ByteWriter, type ParquetWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { ColumnBytes } from './column-bytes.js';
import { type CellType, type Column, timeOf } from './column-types.js';
import { ColumnDictionary } from './dictionary.js';

type Scalar = string | number | boolean;
type ChunkData = ParquetWriter['row_groups'][number]['columns'][number];
type Encoding = 'PLAIN' | 'RLE_DICTIONARY';

export interface Compression {
  readonly codec: 'SNAPPY' | 'ZSTD';
  readonly compress: (bytes: Uint8Array) => Uint8Array;
}

/** A page ends here, at the next row: readers decompress a page at a time. */
const PAGE_BYTES = 1024 * 1024;

/** Definition levels: of a list that is there but empty, of an absent element, of an element. An absent cell has 0. */
const EMPTY_LIST = 1;
const ABSENT_ELEMENT = 2;
const ELEMENT = 3;
/** Of a single value. */
const VALUE = 1;

const PHYSICAL = {
  boolean: 'BOOLEAN',
  integer: 'INT64',
  time: 'INT64',
  number: 'DOUBLE',
  text: 'BYTE_ARRAY',
  json: 'BYTE_ARRAY',
} as const satisfies Record<CellType, string>;

/** A single value as it is written; undefined if it does not fit the type. */
const SCALARS: Record<CellType, (value: unknown) => Scalar | undefined> = {
  boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  integer: (value) => (Number.isSafeInteger(value) ? (value as number) : undefined),
  number: (value) => (typeof value === 'number' ? value : undefined),
  time: (value) => {
    const ms = typeof value === 'string' ? timeOf(value) : NaN;
    return Number.isNaN(ms) ? undefined : ms;
  },
  text: (value) => (typeof value === 'string' ? value : undefined),
  json: (value) => wellFormed(JSON.stringify(value)),
};

/** Readers of JSON refuse half a surrogate pair, and with it the query: it becomes U+FFFD, as in columns of text. */
function wellFormed(json: string): string {
  // Whole pairs are written as they are, so an escape of this kind is half of one.
  return json.includes('\\ud') ? json.replace(HALF_PAIR, '$1\\ufffd') : json;
}
const HALF_PAIR = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

const bitsFor = (largest: number): number => 32 - Math.clz32(largest);

export class ColumnChunk {
  readonly #column: Column;
  readonly #scalar: (value: unknown) => Scalar | undefined;
  readonly #compression: Compression;
  // The page that is being filled.
  readonly #plain = new ColumnBytes();
  readonly #definitions = new ColumnBytes();
  readonly #repetitions = new ColumnBytes();
  #pageRows = 0;
  #pageNulls = 0;
  // The chunk.
  #pages: Uint8Array[] = [];
  #pageCounts: Record<Encoding, number> = { PLAIN: 0, RLE_DICTIONARY: 0 };
  #uncompressed = 0;
  #rows = 0;
  #entries = 0;
  #nulls = 0;
  #min: number | boolean | undefined;
  #max: number | boolean | undefined;
  /** What the pages so far refer to. */
  #dictionary: ColumnDictionary | undefined;
  /** Whether the page that is being filled refers to it, too. */
  #isInDictionary = false;

  constructor(column: Column, compression: Compression) {
    this.#column = column;
    this.#scalar = SCALARS[column.type];
    this.#compression = compression;
    this.#begin();
  }

  /** Sets the cell of the next row or a later one; its size in characters, or undefined if it does not fit the type. */
  set(row: number, value: unknown): number | undefined {
    this.fill(row);
    this.#startRow();
    if (!this.#column.isList) return this.#entry(value, VALUE);
    if (!Array.isArray(value)) return undefined;
    if (value.length === 0) this.#absent(EMPTY_LIST, 0);
    let size = 8;
    for (let at = 0; at < value.length; at++) {
      const repetition = at === 0 ? 0 : 1;
      if (value[at] === null) {
        this.#absent(ABSENT_ELEMENT, repetition);
        continue;
      }
      this.#repetitions.byte(repetition);
      const added = this.#entry(value[at], ELEMENT);
      if (added === undefined) return undefined;
      size += added;
    }
    return size;
  }

  /** The rows before this one that have no cell yet get none. */
  fill(row: number): void {
    while (this.#rows < row) {
      this.#startRow();
      this.#absent(0, 0);
    }
  }

  /** Writes the chunk of all rows so far, and begins the next. */
  end(out: ByteWriter): { readonly chunk: ChunkData; readonly uncompressed: number } {
    if (this.#isInDictionary && !this.#dictionary!.isWorth) this.#leaveDictionary();
    this.#endPage();
    const start = out.offset;
    const hasDictionary = this.#pageCounts.RLE_DICTIONARY > 0;
    if (hasDictionary) out.appendBytes(this.#dictionaryPage());
    const firstPage = out.offset;
    for (const page of this.#pages) out.appendBytes(page);
    const { name, type, isList } = this.#column;
    const encodings = (['PLAIN', 'RLE_DICTIONARY'] as const).filter((encoding) => this.#pageCounts[encoding] > 0);
    const chunk: ChunkData = {
      meta_data: {
        type: PHYSICAL[type],
        encodings,
        path_in_schema: isList ? [name, 'list', 'element'] : [name],
        codec: this.#compression.codec,
        num_values: BigInt(this.#entries),
        total_compressed_size: BigInt(out.offset - start),
        total_uncompressed_size: BigInt(this.#uncompressed),
        data_page_offset: BigInt(firstPage),
        ...(hasDictionary && { dictionary_page_offset: BigInt(start) }),
        statistics: this.#statistics(),
        encoding_stats: [
          ...(hasDictionary ? [{ page_type: 'DICTIONARY_PAGE' as const, encoding: 'PLAIN' as const, count: 1 }] : []),
          ...encodings.map((encoding) => {
            return { page_type: 'DATA_PAGE_V2' as const, encoding, count: this.#pageCounts[encoding] };
          }),
        ],
      },
      file_offset: BigInt(start),
    };
    const uncompressed = this.#uncompressed;
    this.#begin();
    return { chunk, uncompressed };
  }

  #begin(): void {
    this.#pages = [];
    this.#pageCounts = { PLAIN: 0, RLE_DICTIONARY: 0 };
    this.#uncompressed = this.#rows = this.#entries = this.#nulls = 0;
    this.#min = this.#max = undefined;
    this.#isInDictionary = this.#column.type !== 'boolean';
    this.#dictionary = this.#isInDictionary ? new ColumnDictionary() : undefined;
  }

  /** A page begins with a row, so this is where one can end. */
  #startRow(): void {
    if (this.#isInDictionary && this.#dictionary!.isFull) this.#leaveDictionary();
    if (this.#plain.length >= PAGE_BYTES) this.#endPage();
    this.#rows++;
    this.#pageRows++;
  }

  #absent(definition: number, repetition: number): void {
    if (this.#column.isList) this.#repetitions.byte(repetition);
    this.#definitions.byte(definition);
    this.#pageNulls++;
  }

  #entry(value: unknown, definition: number): number | undefined {
    const scalar = this.#scalar(value);
    if (scalar === undefined) return undefined;
    this.#definitions.byte(definition);
    if (typeof scalar === 'string') {
      this.#add(scalar);
      return scalar.length;
    }
    if (this.#min === undefined || scalar < this.#min) this.#min = scalar;
    if (this.#max === undefined || scalar > this.#max) this.#max = scalar;
    if (typeof scalar === 'boolean') this.#plain.byte(scalar ? 1 : 0);
    else this.#add(scalar);
    return 8;
  }

  #add(value: string | number): void {
    if (this.#isInDictionary) this.#dictionary!.add(value);
    else encodePlain(this.#plain, value, this.#column.type);
  }

  /** Later values are written as they are; those of this page, too, where a dictionary has not been of use. */
  #leaveDictionary(): void {
    const dictionary = this.#dictionary!;
    if (dictionary.isWorth) this.#endPage();
    else {
      for (const place of dictionary.entries()) encodePlain(this.#plain, dictionary.values[place]!, this.#column.type);
    }
    this.#isInDictionary = false;
  }

  #endPage(): void {
    if (this.#pageRows === 0) return;
    const encoding: Encoding = this.#isInDictionary ? 'RLE_DICTIONARY' : 'PLAIN';
    const levels = new ByteWriter(1_024);
    const { isList } = this.#column;
    const entries = this.#definitions.length;
    const repetitionBytes = isList ? writeRleBitPackedHybrid(levels, this.#repetitions.bytes(), 1) : 0;
    const maxDefinition = isList ? ELEMENT : VALUE;
    const definitionBytes = writeRleBitPackedHybrid(levels, this.#definitions.bytes(), bitsFor(maxDefinition));
    const data = this.#pageData();
    const compressed = this.#compression.compress(data);
    const page = new ByteWriter(compressed.length + levels.index + 64);
    writePageHeader(page, {
      type: 'DATA_PAGE_V2',
      uncompressed_page_size: levels.index + data.length,
      compressed_page_size: levels.index + compressed.length,
      data_page_header_v2: {
        num_values: entries,
        num_nulls: this.#pageNulls,
        num_rows: this.#pageRows,
        encoding,
        definition_levels_byte_length: definitionBytes,
        repetition_levels_byte_length: repetitionBytes,
        is_compressed: true,
      },
    });
    this.#uncompressed += page.index + levels.index + data.length;
    page.appendBytes(levels.getBytes());
    page.appendBytes(compressed);
    this.#pages.push(page.getBytes());
    this.#pageCounts[encoding]++;
    this.#entries += entries;
    this.#nulls += this.#pageNulls;
    this.#pageRows = this.#pageNulls = 0;
    for (const bytes of [this.#plain, this.#definitions, this.#repetitions]) bytes.clear();
    this.#dictionary?.clearEntries();
  }

  #pageData(): Uint8Array {
    if (!this.#isInDictionary)
      return this.#column.type === 'boolean' ? packed(this.#plain.bytes()) : this.#plain.bytes();
    const { values } = this.#dictionary!;
    const places = new ByteWriter(64 * 1024);
    const width = bitsFor(Math.max(0, values.length - 1));
    places.appendUint8(width);
    writeRleBitPackedHybrid(places, this.#dictionary!.entries(), width);
    return places.getBytes();
  }

  #dictionaryPage(): Uint8Array {
    const { values } = this.#dictionary!;
    const data = new ColumnBytes();
    for (const value of values) encodePlain(data, value, this.#column.type);
    const compressed = this.#compression.compress(data.bytes());
    const page = new ByteWriter(compressed.length + 64);
    writePageHeader(page, {
      type: 'DICTIONARY_PAGE',
      uncompressed_page_size: data.length,
      compressed_page_size: compressed.length,
      dictionary_page_header: { num_values: values.length, encoding: 'PLAIN' },
    });
    this.#uncompressed += page.index + data.length;
    page.appendBytes(compressed);
    return page.getBytes();
  }

  /** Text has no bounds: Parquet orders it by its bytes, which nobody here compares. */
  #statistics(): NonNullable<ChunkData['meta_data']>['statistics'] {
    const counted = { null_count: BigInt(this.#nulls) };
    const [min, max] = [this.#min, this.#max];
    if (min === undefined || max === undefined) return counted;
    if (PHYSICAL[this.#column.type] === 'INT64') return { ...counted, min_value: BigInt(min), max_value: BigInt(max) };
    // Zero bounds of doubles are the wider ones, as the format asks.
    return { ...counted, min_value: min === 0 ? -0 : min, max_value: max === 0 ? 0 : max };
  }
}

function encodePlain(out: ColumnBytes, value: string | number, type: CellType): void {
  if (typeof value === 'string') out.text(value);
  else if (type === 'number') out.double(value);
  else out.integer(value);
}

/** Eight booleans to a byte. */
function packed(booleans: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(booleans.length / 8));
  for (let at = 0; at < booleans.length; at++) bytes[at >> 3]! |= booleans[at]! << (at & 7);
  return bytes;
}
