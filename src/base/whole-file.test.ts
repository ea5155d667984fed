import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeWhole } from './whole-file.js';

describe('writeWhole', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'whole-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('replaces a file, and many who write at once leave one of their texts and nothing else', async () => {
    const file = join(folder, 'a.json');
    await writeWhole(file, 'old');
    const texts = Array.from({ length: 20 }, (_, i) => String(i).repeat(10_000));
    await Promise.all(texts.map((text) => writeWhole(file, text)));
    expect(texts).toContain(await readFile(file, 'utf8'));
    expect(await readdir(folder)).toEqual(['a.json']);
  });

  it('leaves no draft behind when it fails', async () => {
    await expect(writeWhole(join(folder, 'missing', 'a'), 'x')).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(writeWhole(folder, 'x')).rejects.toThrow();
    expect(
      (await readdir(join(folder, '..'))).filter((name) => name.startsWith(`${folder.split('/').pop()}.`)),
    ).toEqual([]);
  });
});
