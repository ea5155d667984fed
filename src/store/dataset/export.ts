// Exports a dataset as one document, in pieces: CSV, a JSON array or JSON lines.
// Promise: memory does not grow with the dataset; an empty dataset gives a valid document, too.
import type { Dictionary } from '../../request/request.js';
import { cellsOf, csvRow } from './csv.js';
import type { ItemViewOptions } from './item-view.js';

export type ExportFormat = 'csv' | 'json' | 'jsonl';

export interface DatasetExportOptions extends ItemViewOptions {
  /** The newest first. */
  desc?: boolean;
  /** CSV: columns for the fields of all items, not only of the first. Reads the dataset twice. */
  collectAllKeys?: boolean;
}

export const CONTENT_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  json: 'application/json; charset=utf-8',
  jsonl: 'application/x-ndjson; charset=utf-8',
};

/** Begins a reading of all items, in batches. */
export type ItemBatches = () => AsyncIterable<readonly Dictionary[]>;

export async function* exportPieces(
  format: ExportFormat,
  batches: ItemBatches,
  options: DatasetExportOptions,
): AsyncGenerator<string> {
  switch (format) {
    case 'csv':
      return yield* csvPieces(batches, options);
    case 'json':
      return yield* jsonPieces(batches);
    case 'jsonl':
      for await (const batch of batches()) yield batch.map((item) => `${JSON.stringify(item)}\n`).join('');
      return;
    default:
      return format satisfies never;
  }
}

async function* jsonPieces(batches: ItemBatches): AsyncGenerator<string> {
  let before = '[';
  for await (const batch of batches()) {
    if (batch.length === 0) continue;
    yield `${before}\n${batch.map((item) => JSON.stringify(item)).join(',\n')}`;
    before = ',';
  }
  yield before === '[' ? '[]' : '\n]';
}

async function* csvPieces(batches: ItemBatches, options: DatasetExportOptions): AsyncGenerator<string> {
  let columns = options.fields ?? (options.collectAllKeys ? await allKeys(batches) : undefined);
  let begun = false;
  for await (const batch of batches()) {
    const first = batch[0];
    if (first === undefined) continue;
    columns ??= Object.keys(first);
    const known = columns;
    const rows = batch.map((item) => csvRow(cellsOf(item, known))).join('');
    yield begun ? rows : csvRow(known) + rows;
    begun = true;
  }
}

async function allKeys(batches: ItemBatches): Promise<string[]> {
  const keys = new Set<string>();
  for await (const batch of batches()) for (const item of batch) for (const key of Object.keys(item)) keys.add(key);
  return [...keys];
}
