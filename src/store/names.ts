// Valid names of storages, records and writers.
// Promise: no name escapes its folder, is hidden, or has a special meaning on Windows.
import { CrawlError } from '../errors.js';

const STORAGE_NAME = /^[a-zA-Z0-9_](?:[a-zA-Z0-9_. -]{0,126}[a-zA-Z0-9_-])?$/;
// Crawlee's set and length.
const RECORD_KEY = /^[a-zA-Z0-9!\-_.'()]{1,256}$/;
// Names reserved for devices on Windows, with any extension.
const DEVICE_NAME = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** The name of a dataset or key-value store, or KEY_INVALID. */
export function checkStorageName(name: unknown): string {
  if (typeof name === 'string' && STORAGE_NAME.test(name) && !DEVICE_NAME.test(name)) return name;
  throw new CrawlError(
    'KEY_INVALID',
    `invalid storage name ${shownName(name)}: use 1 to 128 letters, digits, "_", "-", "." or spaces, ` +
      'starting with a letter, digit or "_"',
  );
}

/** The key of a record, or KEY_INVALID. */
export function checkRecordKey(key: unknown): string {
  if (typeof key === 'string' && RECORD_KEY.test(key) && !DEVICE_NAME.test(key)) return key;
  throw new CrawlError(
    'KEY_INVALID',
    `invalid record key ${shownName(key)}: use 1 to 256 of the characters a-z A-Z 0-9 ! - _ . ' ( )`,
  );
}

/** Any text as a safe part of a file name. */
export function fileNamePart(text: string): string {
  return text.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || '_';
}

function shownName(name: unknown): string {
  return typeof name === 'string' ? JSON.stringify(name.slice(0, 80)) : `a value of type ${typeof name}`;
}
