// What archive tools and the index say about a data directory.
import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach } from 'vitest';
import { WARCParser } from 'warcio';
import { parseIndexLine, type IndexEntry } from '../../src/store/content/cdxj.js';
import { sha1Base32 } from '../../src/store/content/warc.js';

const made = { test: [] as string[], suite: [] as string[] };

/** Temporary folders that are removed after each test, or after all of the file. */
export async function folders(count: number, until: 'test' | 'suite' = 'test'): Promise<string[]> {
  const found = await Promise.all(Array.from({ length: count }, () => mkdtemp(join(tmpdir(), 'orcrawl-content-'))));
  made[until].push(...found);
  return found;
}

async function removeAll(list: string[]): Promise<void> {
  for (const folder of list.splice(0)) await rm(folder, { recursive: true, force: true });
}

afterEach(() => removeAll(made.test));
afterAll(() => removeAll(made.suite));

export async function filesIn(dataDir: string): Promise<string[]> {
  return (await readdir(join(dataDir, 'content'))).sort();
}

export interface ArchivedRecord {
  readonly type: string;
  readonly url: string;
  readonly offset: number;
  readonly length: number;
}

/** Everything warcio reads from a file; throws at anything it, or a digest, complains about. */
export async function readArchive(path: string): Promise<ArchivedRecord[]> {
  const records: ArchivedRecord[] = [];
  const parser = new WARCParser(createReadStream(path), { keepHeadersCase: true, parseHttp: false });
  for await (const record of parser) {
    const block = Buffer.from((await record.readFully(false)) ?? []);
    if (block.length !== record.warcContentLength) throw new Error(`${path}: a record is not as long as it says`);
    const digest = record.warcHeader('WARC-Block-Digest');
    if (digest !== `sha1:${sha1Base32(block)}`) throw new Error(`${path}: a block is not what its digest says`);
    const { offset, recordLength: length } = { offset: parser.offset, recordLength: parser.recordLength };
    records.push({ type: record.warcType ?? '', url: record.warcTargetURI ?? '', offset, length });
  }
  return records;
}

/** The lines of an index, which must be whole. */
export async function readIndex(path: string): Promise<IndexEntry[]> {
  const text = await readFile(path, 'utf8');
  if (text !== '' && !text.endsWith('\n')) throw new Error(`${path} ends in half a line`);
  const lines = text === '' ? [] : text.slice(0, -1).split('\n');
  return lines.map((line) => {
    const entry = parseIndexLine(line);
    if (entry === undefined) throw new Error(`${path}: not a line: ${line}`);
    return entry;
  });
}
