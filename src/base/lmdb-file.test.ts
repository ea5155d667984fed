import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lmdbFileState } from './lmdb-file.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'orcrawl-lmdb-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function makeDatabase(rows: number): Promise<string> {
  const database = open<Buffer, string>({ path: folder, encoding: 'binary', noSubdir: false });
  for (let batch = 0; batch < 3; batch++) {
    database.transactionSync(() => {
      for (let i = 0; i < rows; i++) void database.put(`${batch}/${i}`, Buffer.alloc(200));
    });
  }
  await database.flushed;
  await database.close();
  return join(folder, 'data.mdb');
}

it('tells a whole file from one that is missing, foreign or cut short', async () => {
  expect(lmdbFileState(join(folder, 'data.mdb'))).toBe('missing');
  const file = await makeDatabase(500);
  expect(lmdbFileState(file)).toBe('whole');
  const { size } = statSync(file);
  truncateSync(file, size - 4_096);
  expect(lmdbFileState(file)).toBe('truncated');
  truncateSync(file, 4_096);
  expect(lmdbFileState(file)).toBe('truncated');
  writeFileSync(file, Buffer.alloc(size, 7));
  expect(lmdbFileState(file)).toBe('foreign');
  writeFileSync(file, '');
  expect(lmdbFileState(file)).toBe('missing');
});
