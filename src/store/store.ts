// PORT. What datasets and key-value stores need from their backend: a folder on disk, memory, or your own.
// Each method states its guarantee; `storageSuite` of orcrawl/testing tests them on every backend.
import type { Readable } from 'node:stream';

/** An append-only run of lines with one writer. */
export interface Segment {
  /** Sorts in the order in which segments were begun. */
  readonly name: string;
  /** May end in half a line while its writer writes, or after its writer died. */
  readonly lengthBytes: number;
  /** Wall time. */
  readonly createdAtMs: number;
  /** Wall time. */
  readonly modifiedAtMs: number;
}

/** The one writer of a segment. Calls take effect in the order in which they were made. */
export interface SegmentWriter {
  /** The segment's name in its dataset. */
  readonly name: string;
  /** Bytes written so far: the position of the next line. */
  readonly lengthBytes: number;
  /**
   * Resolves when the lines are in the file: the death of this process no longer loses them. On failure
   * the segment is as before. Each line ends in a newline.
   */
  append(lines: string | Uint8Array): Promise<void>;
  /** Drops everything from `lengthBytes` on. */
  cutTo(lengthBytes: number): Promise<void>;
  /** Frees the file; the writer cannot be used again. */
  close(): Promise<void>;
}

/** What reading the items of a dataset needs. */
export interface ReadableSegments {
  /** Every segment, in reading order. */
  list(): Promise<readonly Segment[]>;
  /** Bytes from `fromByte` up to `toByte`, fewer where the segment ends earlier, none where it is gone. */
  read(name: string, fromByte: number, toByte: number): Promise<Buffer>;
}

/** The lines of one dataset. */
export interface SegmentStore extends ReadableSegments {
  /**
   * Makes the store usable, or throws STORAGE_UNWRITABLE; cuts half a line a dead process left in a direct segment. Called
   * before items are written; a store that was never prepared reads as an empty one.
   */
  prepare(): Promise<void>;
  /**
   * A segment for items that stand by themselves: a new one, or one that its writer left below `maxBytes`. The name of a
   * new one begins with a number of six digits or more, one above the highest there is, and never repeats.
   */
  openDirect(maxBytes: number): Promise<SegmentWriter>;
  /**
   * The segment of this name, for items that are acknowledged together with visits. A new name begins one: nothing
   * exists until its first append. One that exists is opened as it is, so that what its dead writer appended and
   * nobody acknowledged can be cut.
   */
  openVisit(name: string): Promise<SegmentWriter>;
  /** Removes every segment; writers opened before refuse further lines. */
  clear(): Promise<void>;
  /** As `clear`, and forgets the store itself. */
  remove(): Promise<void>;
}

/** A record and its type. */
export interface StoredRecord {
  /** As it was written. */
  readonly body: Buffer;
  /** As it was given with the value. */
  readonly contentType: string;
}

/** The records of one key-value store. Keys were checked by the caller. */
export interface RecordStore {
  /** Makes the store usable, or throws STORAGE_UNWRITABLE. Called before anything else. */
  prepare(): Promise<void>;
  /** The record, or undefined when there is none. */
  read(key: string): Promise<StoredRecord | undefined>;
  /** Atomic: whoever reads, whatever dies, sees the old record or the new one. */
  write(key: string, body: Uint8Array | Readable, contentType: string): Promise<void>;
  /** Removes the record; without one, nothing happens. */
  delete(key: string): Promise<void>;
  /** Whether there is such a record, without reading it. */
  has(key: string): Promise<boolean>;
  /** Every key with the size of its record, in the order of the keys. */
  list(): Promise<readonly { readonly key: string; readonly sizeBytes: number }[]>;
  /** Forgets the store and everything in it. */
  remove(): Promise<void>;
}

/** One place for all storages of a Configuration. */
export interface StorageBackend {
  /** The files of a dataset. */
  segments(datasetId: string): SegmentStore;
  /** The values of a key-value store. */
  records(storeId: string): RecordStore;
}
