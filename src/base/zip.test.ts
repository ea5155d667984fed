import { inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createZip } from './zip.js';

/** Reads an archive by its directory, as unzip does. */
function filesOf(zip: Buffer): Map<string, string> {
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  let count = zip.readUInt16LE(end + 10);
  let at = zip.readUInt32LE(end + 16);
  if (count === 0xffff) {
    const wide = Number(zip.readBigUInt64LE(end - 20 + 8));
    expect(zip.readUInt32LE(wide)).toBe(0x06064b50);
    count = Number(zip.readBigUInt64LE(wide + 32));
    at = Number(zip.readBigUInt64LE(wide + 48));
  }
  const files = new Map<string, string>();
  for (let number = 0; number < count; number++) {
    expect(zip.readUInt32LE(at)).toBe(0x02014b50);
    const [packed, nameLength, extra] = [
      zip.readUInt32LE(at + 20),
      zip.readUInt16LE(at + 28),
      zip.readUInt16LE(at + 30),
    ];
    const name = zip.subarray(at + 46, at + 46 + nameLength).toString();
    const head = zip.readUInt32LE(at + 42);
    const start = head + 30 + zip.readUInt16LE(head + 26) + zip.readUInt16LE(head + 28);
    const body = zip.subarray(start, start + packed);
    files.set(name, (zip.readUInt16LE(at + 10) === 8 ? inflateRawSync(body) : body).toString());
    at += 46 + nameLength + extra;
  }
  return files;
}

describe('a zip archive', () => {
  it('gives back every file, also names and texts in other scripts', () => {
    const zip = createZip(new Date(Date.UTC(2026, 0, 2)));
    const bytes = Buffer.concat([zip.file('a.md', '# One'), zip.file('ü/二.md', 'zwei '.repeat(10_000)), zip.end()]);
    expect(filesOf(bytes)).toEqual(
      new Map([
        ['a.md', '# One'],
        ['ü/二.md', 'zwei '.repeat(10_000)],
      ]),
    );
  });

  it('holds more files than 65,535', () => {
    const zip = createZip(new Date());
    const pieces = Array.from({ length: 66_000 }, (_, number) => zip.file(`${number}.md`, 'x'));
    expect(filesOf(Buffer.concat([...pieces, zip.end()])).size).toBe(66_000);
  }, 60_000);
});
