// A dataset as one document in one of the formats of `../formats.ts`, piece by piece.
// Guarantee: memory does not grow with the dataset; the document is valid also when the dataset is empty.
import type { Dictionary } from '../../request/request.js';
import { encoderOf, type FormatOf, hasColumns } from '../formats.js';
import type { ItemViewOptions } from './item-view.js';

/** The formats a dataset can be exported in. */
export type ExportFormat = FormatOf<'export'>;

/** What is exported, and in what order. */
export interface DatasetExportOptions extends ItemViewOptions {
  /** The newest first. */
  desc?: boolean;
  /** CSV: columns for the fields of all items, not only of the first. Reads the dataset twice. */
  collectAllKeys?: boolean;
  /** CSV: leaves text as it is that a spreadsheet would run as a formula. Default false: it gets an apostrophe in front. */
  rawCells?: boolean;
}

/** Begins a reading of all items, in batches. */
export type ItemBatches = () => AsyncIterable<readonly Dictionary[]>;

export async function* exportPieces(
  format: ExportFormat,
  batches: ItemBatches,
  options: DatasetExportOptions,
): AsyncGenerator<string | Uint8Array> {
  const wantsAllKeys = options.collectAllKeys === true && options.fields === undefined && hasColumns(format);
  const encoder = encoderOf(format, wantsAllKeys ? await allKeys(batches) : options.fields, options.rawCells);
  for await (const batch of batches()) {
    const piece = encoder.add(batch);
    if (piece.length > 0) yield piece;
  }
  const rest = encoder.end();
  if (rest.length > 0) yield rest;
}

async function allKeys(batches: ItemBatches): Promise<string[] | undefined> {
  const keys = new Set<string>();
  for await (const batch of batches()) for (const item of batch) for (const key of Object.keys(item)) keys.add(key);
  return keys.size === 0 ? undefined : [...keys];
}
