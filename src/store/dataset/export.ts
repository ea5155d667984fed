// Exports a dataset as one document in a format of `../formats.ts`, in pieces.
// Promise: memory does not grow with the dataset; an empty dataset gives a valid document, too.
import type { Dictionary } from '../../request/request.js';
import { encoderOf, type FormatOf, hasColumns, isTypedFormat, type ItemEncoder, typedEncoderOf } from '../formats.js';
import { type Column, createColumnSurvey } from '../parquet/column-types.js';
import type { ItemViewOptions } from './item-view.js';

/** The formats a dataset can be exported in. */
export type ExportFormat = FormatOf<'export'>;

/** What is exported, and in what order. */
export interface DatasetExportOptions extends ItemViewOptions {
  /** The newest first. */
  desc?: boolean;
  /** CSV: columns for the fields of all items, not only of the first. Reads the dataset twice. Parquet always does. */
  collectAllKeys?: boolean;
  /** CSV: leaves text as it is that a spreadsheet would run as a formula. Default false: it gets an apostrophe in front. */
  rawCells?: boolean;
}

/** Begins a reading of all items, in batches. */
export type ItemBatches = () => AsyncIterable<readonly Dictionary[]>;

/** @param table what is known of the columns: then typed formats need not look for them */
export async function* exportPieces(
  format: ExportFormat,
  batches: ItemBatches,
  options: DatasetExportOptions,
  table?: readonly Column[],
): AsyncGenerator<string | Uint8Array> {
  const encoder = await openEncoder(format, batches, options, table);
  for await (const batch of batches()) {
    const piece = encoder.add(batch);
    if (piece.length > 0) yield piece;
  }
  const rest = encoder.end();
  if (rest.length > 0) yield rest;
}

async function openEncoder(
  format: ExportFormat,
  batches: ItemBatches,
  { collectAllKeys, fields, rawCells }: DatasetExportOptions,
  table: readonly Column[] | undefined,
): Promise<ItemEncoder> {
  if (isTypedFormat(format)) return typedEncoderOf(format, table ?? (await typedColumns(batches, fields)));
  const wantsAllKeys = collectAllKeys === true && fields === undefined && hasColumns(format);
  const columns = wantsAllKeys ? await allKeys(batches) : fields;
  return encoderOf(format, columns ?? table?.map(({ name }) => name), rawCells);
}

/** In the order of `fields`, where they are given; a field that no item has is a column, too. */
async function typedColumns(batches: ItemBatches, fields: readonly string[] | undefined): Promise<readonly Column[]> {
  const survey = createColumnSurvey();
  for await (const batch of batches()) survey.look(batch);
  const columns = survey.columns();
  if (fields === undefined) return columns;
  const byName = new Map(columns.map((column) => [column.name, column]));
  return [...new Set(fields)].map((name) => byName.get(name) ?? { name, type: 'text', isList: false });
}

async function allKeys(batches: ItemBatches): Promise<string[] | undefined> {
  const keys = new Set<string>();
  for await (const batch of batches()) for (const item of batch) for (const key of Object.keys(item)) keys.add(key);
  return keys.size === 0 ? undefined : [...keys];
}
