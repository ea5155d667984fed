// Reads ZIP archives: the container of DOCX, XLSX, PPTX, ODF and EPUB.
// Promise: linear; an archive that unpacks to more than its limit ends with DOCUMENT_LIMIT before that memory is used.
import { inflateRawSync } from 'node:zlib';
import { limitReached, LIMITS } from '../../limits.js';
import { DocumentFailure } from '../model.js';

interface Entry {
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly packedBytes: number;
  readonly at: number;
}

export interface Archive {
  /** Names in the order of the directory. */
  readonly names: readonly string[];
  has(name: string): boolean;
  /** The bytes of an entry; undefined when there is none of that name. */
  read(name: string): Buffer | undefined;
  /** As text in UTF-8 or UTF-16. */
  text(name: string): string | undefined;
}

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const MAX_COMMENT = 65_535;

export function openArchive(bytes: Uint8Array): Archive {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const entries = directoryOf(file);
  let room: number = LIMITS.documentUnpackedBytes.max;

  function read(name: string): Buffer | undefined {
    const entry = entries.get(name);
    if (entry === undefined) return undefined;
    if (entry.isEncrypted) throw new DocumentFailure('DOCUMENT_ENCRYPTED', 'the file is protected by a password');
    const data = dataOf(file, entry);
    const unpacked = entry.method === 0 ? data : inflated(data, entry, room);
    room -= unpacked.length;
    if (room < 0) throw tooLarge();
    return unpacked;
  }

  return {
    names: [...entries.keys()],
    has: (name) => entries.has(name),
    read,
    text(name) {
      const data = read(name);
      return data && textOf(data);
    },
  };
}

/** XML is UTF-8, or UTF-16 with a mark. */
function textOf(data: Buffer): string {
  if (data[0] === 0xff && data[1] === 0xfe) return data.toString('utf16le', 2);
  if (data[0] === 0xfe && data[1] === 0xff) return new TextDecoder('utf-16be').decode(data);
  return data[0] === 0xef && data[1] === 0xbb ? data.toString('utf8', 3) : data.toString('utf8');
}

function directoryOf(file: Buffer): Map<string, Entry> {
  const end = endOf(file);
  if (end < 0) throw new DocumentFailure('DOCUMENT_INVALID', 'the file is not a complete ZIP archive');
  const count = file.readUInt16LE(end + 10);
  let at = file.readUInt32LE(end + 16);
  const entries = new Map<string, Entry>();
  for (let n = 0; n < count && at + 46 <= file.length && file.readUInt32LE(at) === CENTRAL; n++) {
    if (n >= LIMITS.documentEntries.max)
      throw new DocumentFailure('DOCUMENT_LIMIT', 'the archive has too many entries');
    const nameBytes = file.readUInt16LE(at + 28);
    const name = file.toString('utf8', at + 46, at + 46 + nameBytes);
    entries.set(name, {
      isEncrypted: (file.readUInt16LE(at + 8) & 1) === 1,
      method: file.readUInt16LE(at + 10),
      packedBytes: file.readUInt32LE(at + 20),
      at: file.readUInt32LE(at + 42),
    });
    at += 46 + nameBytes + file.readUInt16LE(at + 30) + file.readUInt16LE(at + 32);
  }
  if (entries.size === 0) throw new DocumentFailure('DOCUMENT_INVALID', 'the archive is empty or damaged');
  return entries;
}

/** The record at the end, before a comment of the archive. */
function endOf(file: Buffer): number {
  const first = Math.max(0, file.length - END_BYTES - MAX_COMMENT);
  for (let at = file.length - END_BYTES; at >= first; at--) if (file.readUInt32LE(at) === END) return at;
  return -1;
}

function dataOf(file: Buffer, { at, packedBytes }: Entry): Buffer {
  if (at + 30 > file.length || file.readUInt32LE(at) !== LOCAL) throw damaged();
  const start = at + 30 + file.readUInt16LE(at + 26) + file.readUInt16LE(at + 28);
  if (start + packedBytes > file.length) throw damaged();
  return file.subarray(start, start + packedBytes);
}

function inflated(data: Buffer, { method }: Entry, room: number): Buffer {
  if (method !== 8)
    throw new DocumentFailure('DOCUMENT_INVALID', `the archive is packed by a method (${method}) unknown here`);
  try {
    return inflateRawSync(data, { maxOutputLength: Math.max(1, room) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    throw damaged();
  }
}

function damaged(): DocumentFailure {
  return new DocumentFailure('DOCUMENT_INVALID', 'the archive is damaged');
}

function tooLarge(): DocumentFailure {
  limitReached('documentUnpackedBytes');
  const megabytes = LIMITS.documentUnpackedBytes.max / 1024 ** 2;
  return new DocumentFailure('DOCUMENT_LIMIT', `the archive unpacks to more than ${megabytes} MB`);
}
