// Where sealed content goes instead of disks: the port of an object store, and the addresses of one.
// Promise of the port: an object is there whole or not at all, and one name has one object.
import { CrawlError } from '../../../errors.js';

/** A bucket, or a part of one. Names are relative to it. */
export interface ObjectStore {
  /** `s3://bucket/prefix`, without a slash at the end. */
  readonly url: string;
  /** Throws OBJECT_STORE_FAILED if the bucket is missing or refuses us. */
  check(): Promise<void>;
  /** Every object, in any order. */
  list(): AsyncIterable<StoredObject>;
  /** The length of an object; undefined if there is none. */
  sizeOf(name: string): Promise<number | undefined>;
  /** Bytes of an object, fewer where it ends earlier. */
  read(name: string, fromByte: number, toByte: number): Promise<Buffer>;
  /**
   * Resolves when the store has confirmed the whole file, or has an object of this name and length already. Parts of
   * earlier attempts at this name are given up.
   */
  upload(name: string, path: string): Promise<void>;
  close(): void;
}

export interface StoredObject {
  readonly name: string;
  readonly bytes: number;
}

export interface ObjectPlace {
  readonly bucket: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
}

const SCHEME = 's3://';
// What S3 allows; other stores allow no more.
const BUCKET = /^[a-z\d][a-z\d.-]{1,61}[a-z\d]$/;
const PREFIX = /^[\w!.*'()/-]*$/;

export function isObjectUrl(text: string): boolean {
  return text.startsWith(SCHEME);
}

/** The parts of `s3://bucket/prefix`; undefined if it is not one. */
export function parseObjectUrl(url: string): ObjectPlace | undefined {
  if (!isObjectUrl(url)) return undefined;
  const [bucket = '', ...rest] = url.slice(SCHEME.length).split('/');
  const prefix = rest.filter((part) => part !== '').join('/');
  if (!BUCKET.test(bucket) || !PREFIX.test(prefix) || prefix.length > 512) return undefined;
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` };
}

/** Opens a store by its address. The client of S3 loads now, not before. */
export async function openObjects(url: string): Promise<ObjectStore> {
  const place = parseObjectUrl(url);
  if (place === undefined) {
    throw new CrawlError('OPTION_INVALID', `${url} is not an address such as s3://bucket/prefix`);
  }
  const { openS3 } = await import('./s3.js');
  return openS3(place);
}
