// A zip archive piece by piece: as many files as there are, of any size together.
// Promise: it holds one file and the list of names, never the archive; more than 65,535 files, or 4 GB, are fine (zip64).
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipWriter {
  /** A file, with its head. */
  file(name: string, text: string): Buffer;
  /** The head of a file that is not packed; its bytes must follow. */
  head(name: string, content: { readonly bytes: number; readonly crc: number }): Buffer;
  end(): Buffer;
}

const SIZE_32 = 0xffffffff;
const COUNT_16 = 0xffff;
const UTF8_NAMES = 0x0800;
/** A shorter text does not get smaller. */
const MIN_PACKED = 200;

interface Entry {
  readonly crc: number;
  readonly bytes: number;
  readonly packedBytes: number;
  readonly isPacked: boolean;
}

export function createZip(madeAt: Date): ZipWriter {
  const directory: Buffer[] = [];
  const stamp = dosTime(madeAt);
  let offset = 0;

  function headOf(name: string, { crc, bytes, packedBytes, isPacked }: Entry): Buffer {
    const named = Buffer.from(name);
    // Sizes, and where a file begins, may need 64 bits.
    const isLarge = bytes >= SIZE_32 || packedBytes >= SIZE_32;
    const isFar = offset >= SIZE_32;
    const common = (extraBytes: number): Buffer => {
      const fields = Buffer.alloc(26);
      fields.writeUInt16LE(45, 0);
      fields.writeUInt16LE(UTF8_NAMES, 2);
      fields.writeUInt16LE(isPacked ? 8 : 0, 4);
      fields.writeUInt32LE(stamp, 6);
      fields.writeUInt32LE(crc, 10);
      fields.writeUInt32LE(isLarge ? SIZE_32 : packedBytes, 14);
      fields.writeUInt32LE(isLarge ? SIZE_32 : bytes, 18);
      fields.writeUInt16LE(named.length, 22);
      fields.writeUInt16LE(extraBytes, 24);
      return fields;
    };
    const sizes = isLarge ? [bytes, packedBytes] : [];
    const inHead = wideField(sizes);
    const inDirectory = wideField(isFar ? [...sizes, offset] : sizes);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(isFar ? SIZE_32 : offset, 10);
    directory.push(
      Buffer.concat([signature(0x02014b50), version(), common(inDirectory.length), tail, named, inDirectory]),
    );
    const head = Buffer.concat([signature(0x04034b50), common(inHead.length), named, inHead]);
    offset += head.length + packedBytes;
    return head;
  }

  return {
    file(name, text) {
      const bytes = Buffer.from(text);
      const isPacked = bytes.length >= MIN_PACKED;
      const packed = isPacked ? deflateRawSync(bytes, { level: 6 }) : bytes;
      const entry = { crc: crc32(bytes), bytes: bytes.length, packedBytes: packed.length, isPacked };
      return Buffer.concat([headOf(name, entry), packed]);
    },
    head: (name, { bytes, crc }) => headOf(name, { crc, bytes, packedBytes: bytes, isPacked: false }),
    end() {
      const list = Buffer.concat(directory);
      const count = directory.length;
      const wide = Buffer.alloc(52);
      wide.writeBigUInt64LE(44n, 0);
      wide.writeUInt16LE(45, 8);
      wide.writeUInt16LE(45, 10);
      for (const at of [20, 28]) wide.writeBigUInt64LE(BigInt(count), at);
      wide.writeBigUInt64LE(BigInt(list.length), 36);
      wide.writeBigUInt64LE(BigInt(offset), 44);
      const locator = Buffer.alloc(16);
      locator.writeBigUInt64LE(BigInt(offset + list.length), 4);
      locator.writeUInt32LE(1, 12);
      const end = Buffer.alloc(18);
      for (const at of [4, 6]) end.writeUInt16LE(Math.min(count, COUNT_16), at);
      end.writeUInt32LE(Math.min(list.length, SIZE_32), 8);
      end.writeUInt32LE(Math.min(offset, SIZE_32), 12);
      const needsWide = count >= COUNT_16 || list.length >= SIZE_32 || offset >= SIZE_32;
      const zip64 = [signature(0x06064b50), wide, signature(0x07064b50), locator];
      return Buffer.concat([list, ...(needsWide ? zip64 : []), signature(0x06054b50), end]);
    },
  };
}

/** Numbers of 64 bits, in the order that the format asks for. */
function wideField(numbers: readonly number[]): Buffer {
  if (numbers.length === 0) return Buffer.alloc(0);
  const field = Buffer.alloc(4 + 8 * numbers.length);
  field.writeUInt16LE(1, 0);
  field.writeUInt16LE(8 * numbers.length, 2);
  for (const [index, number] of numbers.entries()) field.writeBigUInt64LE(BigInt(number), 4 + 8 * index);
  return field;
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

const version = (): Buffer => Buffer.from([45, 0]);

function dosTime(at: Date): number {
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  return ((date << 16) | time) >>> 0;
}
