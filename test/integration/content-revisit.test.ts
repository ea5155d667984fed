// Captures that only refer to a stored response: written once, read as the page they stand for, by us and by warcio; then
// exported as WACZ and compacted.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { WARCParser } from 'warcio';
import { compactContent } from '../../src/store/content/compact/compact.js';
import { ContentStore } from '../../src/store/content/content.js';
import { exportWacz } from '../../src/store/content/export/wacz.js';
import { auditContent } from '../../src/store/content/audit.js';
import { sha1Base32 } from '../../src/store/content/warc.js';
import { findPage, pageHistory } from '../../src/store/content/reading.js';
import { at, crawls, pageOf } from './content-crawls.js';
import { filesIn, folders, readArchive } from './content-fixtures.js';

vi.setConfig({ testTimeout: 600_000 });

describe('a page that is stored again unchanged', () => {
  it('is a revisit record that archive tools read, and no second body', async () => {
    const [dataDir] = (await folders(1)) as [string];
    await crawls(dataDir);
    const found: Record<string, string | null | undefined>[] = [];
    for (const file of (await filesIn(dataDir)).filter((name) => name.endsWith('.warc.gz'))) {
      await readArchive(join(dataDir, 'content', file));
      for await (const record of new WARCParser(createReadStream(join(dataDir, 'content', file)))) {
        if (record.warcType !== 'revisit') continue;
        found.push({
          url: record.warcTargetURI,
          profile: record.warcHeader('WARC-Profile')?.replace(/.*\//, ''),
          of: record.warcHeader('WARC-Refers-To-Date'),
          status: String(record.httpHeaders?.statusCode),
        });
        expect(record.warcPayloadDigest).toMatch(/^sha1:[A-Z2-7]{32}$/);
        expect((await record.readFully(false))?.length ?? 0).toBe(0);
      }
    }
    const revisit = (n: number, profile: string, day: number, status: string) => ({
      url: `https://site.example/${n}`,
      profile,
      of: new Date(at(day)).toISOString(),
      status,
    });
    expect(found).toEqual([
      revisit(1, 'identical-payload-digest', 0, '200'),
      revisit(3, 'server-not-modified', 0, '304'),
      revisit(1, 'identical-payload-digest', 0, '200'),
      revisit(1, 'identical-payload-digest', 0, '200'),
      revisit(3, 'server-not-modified', 2, '304'),
    ]);
    expect(await auditContent([dataDir])).toMatchObject({ problemCount: 0 });
  });

  it('is found at every time, with the content it had then', async () => {
    const [dataDir] = (await folders(1)) as [string];
    await crawls(dataDir);
    const textAt = async (n: number, day: number) => {
      const page = await findPage([dataDir], `https://site.example/${n}`, { atMs: at(day) + 1 });
      return [page?.text, page?.response?.body.toString().match(/version \d+/)?.[0], page?.fetchedAt.getTime()];
    };
    expect(await textAt(1, 3)).toEqual(['Page 1, version 1', 'version 1', at(3)]);
    expect(await textAt(2, 1)).toEqual(['Page 2, version 3', 'version 3', at(1)]);
    expect(await textAt(3, 1)).toEqual(['Page 3, version 1', 'version 1', at(1)]);
    expect(await textAt(3, 3)).toEqual(['Page 3, version 2', 'version 2', at(3)]);
    const history = await pageHistory([dataDir], 'https://site.example/3');
    expect(history.map(({ originalAt, contentType }) => [originalAt?.getTime(), contentType])).toEqual([
      [undefined, 'text/html'],
      [at(0), 'text/html'],
      [undefined, 'text/html'],
      [at(2), 'text/html'],
    ]);
  });

  // Which of the files of text and responses is found first is chance: once it would go well anyway.
  it.each([1, 2, 3, 4, 5])('has the digest of what it stands for (%i)', async () => {
    const [dataDir] = (await folders(1)) as [string];
    await crawls(dataDir);
    const history = await pageHistory([dataDir], 'https://site.example/3');
    const [first, confirmed, second, again] = history.map(({ digest }) => digest);
    expect([confirmed, again]).toEqual([first, second]);
    expect(second).not.toBe(first);
  });
});

it('stores the body again where each page has one file: there is nothing else to refer to', async () => {
  const [dataDir] = (await folders(1)) as [string];
  const store = await ContentStore.open({ dataDirs: [dataDir], storeRawHtml: true, layout: 'files' });
  const original = { digest: sha1Base32(pageOf(1, 0, 1).response!.body), fetchedAtMs: at(0) };
  await store.append([await store.pack({ ...pageOf(1, 1, 1), original })]);
  expect(store.packConfirmed({ ...pageOf(1, 2, 1), response: { headers: {} }, original })).toBeUndefined();
  await store.close();
  const page = await findPage([dataDir], 'https://site.example/1', { having: 'response' });
  expect(page?.response?.body.toString()).toContain('version 1');
});

describe('a compaction', () => {
  it('drops what is too many or too old, and keeps the newest and what it refers to', async () => {
    const [dataDir] = (await folders(1)) as [string];
    await crawls(dataDir);
    const dry = await compactContent([dataDir], { keep: 1, dryRun: true });
    expect(dry).toMatchObject({ pages: 3, captures: 12, dropped: 7, rewritten: 0 });
    const report = await compactContent([dataDir], { keep: 1 });
    expect(report).toMatchObject({ pages: 3, captures: 12, dropped: 7 });
    expect(report.bytesAfter).toBeLessThan(report.bytesBefore);
    const timesOf = async (n: number) =>
      (await pageHistory([dataDir], `https://site.example/${n}`)).map(({ fetchedAt }) => fetchedAt.getTime());
    expect([await timesOf(1), await timesOf(2), await timesOf(3)]).toEqual([[at(0), at(3)], [at(3)], [at(2), at(3)]]);
    for (const [n, version] of [
      [1, 1],
      [2, 5],
      [3, 2],
    ] as const) {
      expect((await findPage([dataDir], `https://site.example/${n}`))?.text).toBe(`Page ${n}, version ${version}`);
    }
    expect(await auditContent([dataDir])).toMatchObject({ problemCount: 0 });
    for (const file of (await filesIn(dataDir)).filter((name) => name.endsWith('.gz'))) {
      await readArchive(join(dataDir, 'content', file));
    }
    expect(await compactContent([dataDir], { keep: 1 })).toMatchObject({ dropped: 0, rewritten: 0 });
  });

  it('names a folder that has no stored pages, and changes nothing there', async () => {
    const folder = `${(await folders(1))[0]!}-elsewhere`;
    await expect(compactContent([folder], { keep: 1 })).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.stringContaining('is it a data directory?'),
    });
  });

  it('tells pages apart whose addresses differ only in case', async () => {
    const [dataDir] = (await folders(1)) as [string];
    // In one segment, whose index then has them in turns: A, a, A, a, A, a.
    const store = await ContentStore.open({ dataDirs: [dataDir], storeRawHtml: true });
    for (const day of [0, 1, 2]) {
      for (const name of ['A', 'a']) {
        const url = `https://site.example/${name}`;
        await store.append([await store.pack({ ...pageOf(1, day, day), url, uniqueKey: url, text: `${name} ${day}` })]);
      }
    }
    await store.close();
    await compactContent([dataDir], { keep: 1 });
    for (const name of ['A', 'a']) {
      const url = `https://site.example/${name}`;
      expect((await findPage([dataDir], url))?.text).toBe(`${name} 2`);
      expect(await pageHistory([dataDir], url)).toHaveLength(1);
    }
    expect(await auditContent([dataDir])).toMatchObject({ problemCount: 0 });
  });

  it('by age keeps the last capture however old it is', async () => {
    const [dataDir] = (await folders(1)) as [string];
    await crawls(dataDir);
    await compactContent([dataDir], { beforeMs: at(100) });
    const page = await findPage([dataDir], 'https://site.example/2');
    expect([page?.text, page?.fetchedAt.getTime()]).toEqual(['Page 2, version 5', at(3)]);
    expect(await pageHistory([dataDir], 'https://site.example/2')).toHaveLength(1);
  });

  it('leaves a queue that has notes of the old segments in peace', async () => {
    const [dataDir] = (await folders(1)) as [string];
    const notes: Record<string, string> = {};
    const settings = { dataDirs: [dataDir], storeRawHtml: true, isWriterGone: () => true, warn: () => undefined };
    for (const day of [0, 1]) {
      const note = async (more: Readonly<Record<string, string>>) => void Object.assign(notes, more);
      const store = await ContentStore.open({ ...settings, notes, note });
      const { written } = await store.append([await store.pack(pageOf(1, day, day))]);
      for (const { writer } of written) {
        notes[writer.key] = writer.note;
        writer.confirm();
      }
      await store.close();
    }
    await compactContent([dataDir], { keep: 1 });
    const store = await ContentStore.open({ ...settings, notes, note: async () => undefined });
    expect(store.recovered.map(({ outcome }) => outcome).filter((outcome) => outcome !== 'whole')).toEqual([]);
    await store.close();
    expect((await findPage([dataDir], 'https://site.example/1'))?.text).toBe('Page 1, version 1');
  });
});

/** Reads an archive by its directory. */
function unzipped(zip: Buffer): Map<string, Buffer> {
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  const files = new Map<string, Buffer>();
  for (let number = 0, place = zip.readUInt32LE(end + 16); number < zip.readUInt16LE(end + 10); number++) {
    const nameBytes = zip.readUInt16LE(place + 28);
    const head = zip.readUInt32LE(place + 42);
    const start = head + 30 + zip.readUInt16LE(head + 26) + zip.readUInt16LE(head + 28);
    const body = zip.subarray(start, start + zip.readUInt32LE(place + 20));
    const isPacked = zip.readUInt16LE(place + 10) === 8;
    files.set(zip.toString('utf8', place + 46, place + 46 + nameBytes), isPacked ? inflateRawSync(body) : body);
    place += 46 + nameBytes + zip.readUInt16LE(place + 30);
  }
  return files;
}

describe('a WACZ file', () => {
  it('has every record, an index that leads to each, a list of pages and digests that agree', async () => {
    const [dataDir] = (await folders(1)) as [string];
    await crawls(dataDir);
    const file = join(dataDir, 'all.wacz');
    const report = await exportWacz([dataDir], file, { title: 'Orcas' });
    expect(report).toMatchObject({ captures: 12, pages: 7, segments: 4 });
    const files = unzipped(await readFile(file));
    const about = JSON.parse(files.get('datapackage.json')!.toString());
    expect(about).toMatchObject({ profile: 'data-package', wacz_version: '1.1.1', title: 'Orcas' });
    const sha256 = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    for (const { path, hash, bytes } of about.resources as { path: string; hash: string; bytes: number }[]) {
      expect([path, sha256(files.get(path)!), files.get(path)!.length]).toEqual([path, hash, bytes]);
    }
    expect(about.resources).toHaveLength(6);
    expect(JSON.parse(files.get('datapackage-digest.json')!.toString())).toEqual({
      path: 'datapackage.json',
      hash: sha256(files.get('datapackage.json')!),
    });
    const lines = files.get('indexes/index.cdx')!.toString().trimEnd().split('\n');
    expect(lines).toEqual([...lines].sort());
    for (const line of lines) {
      const { filename, offset, length, url, mime } = JSON.parse(line.slice(line.indexOf('{')));
      const member = files.get(`archive/${filename}`)!.subarray(Number(offset), Number(offset) + Number(length));
      const record = await new WARCParser([new Uint8Array(member)] as never).parse();
      expect([record?.warcTargetURI, record?.warcType]).toEqual([
        url,
        mime === 'warc/revisit' ? 'revisit' : 'response',
      ]);
    }
    const pages = files.get('pages/pages.jsonl')!.toString().trimEnd().split('\n');
    expect(JSON.parse(pages[0]!)).toMatchObject({ format: 'json-pages-1.0', id: 'pages' });
    expect(new Set(pages.slice(1).map((line) => JSON.parse(line).url)).size).toBe(3);
  });

  it('is refused, with the reason, where no responses are stored', async () => {
    const [dataDir] = (await folders(1)) as [string];
    const store = await ContentStore.open({ dataDirs: [dataDir] });
    await store.append([await store.pack(pageOf(1, 0, 1))]);
    await store.close();
    await expect(exportWacz([dataDir], join(dataDir, 'no.wacz'))).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });
});
