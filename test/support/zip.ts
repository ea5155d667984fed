// Writes ZIP archives for tests: the containers of Office, OpenDocument and EPUB files.
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipFile {
  readonly name: string;
  readonly data: string | Buffer;
  /** Stored without packing, as the first entry of ODF and EPUB must be. */
  readonly isStored?: boolean;
  readonly isEncrypted?: boolean;
}

export function zip(files: readonly ZipFile[] | Readonly<Record<string, string>>): Buffer {
  const list = Array.isArray(files)
    ? (files as readonly ZipFile[])
    : Object.entries(files as Readonly<Record<string, string>>).map(([name, data]) => ({ name, data }));
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, data, isStored = false, isEncrypted = false } of list as readonly ZipFile[]) {
    const plain = Buffer.isBuffer(data) ? data : Buffer.from(data);
    const packed = isStored ? plain : deflateRawSync(plain);
    const title = Buffer.from(name);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(isEncrypted ? 1 : 0, 2);
    head.writeUInt16LE(isStored ? 0 : 8, 4);
    // Node 20 before 20.15 has no crc32; readers here do not check it.
    head.writeUInt32LE(typeof crc32 === 'function' ? crc32(plain) : 0, 10);
    head.writeUInt32LE(packed.length, 14);
    head.writeUInt32LE(plain.length, 18);
    head.writeUInt16LE(title.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), head, title, packed]);
    const central = Buffer.alloc(46);
    central.write('PK\x01\x02', 'latin1');
    central.writeUInt16LE(20, 4);
    head.copy(central, 6);
    central.writeUInt32LE(at, 42);
    directory.push(central, title);
    pieces.push(local);
    at += local.length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(list.length, 8);
  end.writeUInt16LE(list.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...pieces, ...directory, end]);
}
