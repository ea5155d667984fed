// The disk backend: `datasets/<id>/` and `key_value_stores/<id>/` under one folder, as Crawlee lays them out.
// Promise: nothing outside the folder is touched; ids were checked by the caller.
import { join } from 'node:path';
import { createDiskRecords } from './records/disk-records.js';
import { createDiskSegments } from './dataset/disk-segments.js';
import type { StorageBackend } from './store.js';

export const DATASETS_FOLDER = 'datasets';
export const KEY_VALUE_STORES_FOLDER = 'key_value_stores';

export function createDiskBackend(directory: string): StorageBackend {
  return {
    segments: (datasetId) => createDiskSegments(join(directory, DATASETS_FOLDER, datasetId)),
    records: (storeId) => createDiskRecords(join(directory, KEY_VALUE_STORES_FOLDER, storeId)),
  };
}
