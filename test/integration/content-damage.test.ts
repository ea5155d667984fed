// Damage inside stored content, as a user meets it: `orcrawl get` skips and names it, `orcrawl audit --content`
// finds all of it.
import { open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ContentStore } from '../../src/store/content/content.js';
import { auditContent } from '../../src/store/content/audit.js';
import { compactContent } from '../../src/store/content/compact/compact.js';
import { findPage } from '../../src/store/content/reading.js';
import { orcrawlHere } from '../support/cli-here.js';
import { MAIN, startNode } from './cli-process.js';
import { pageOf } from './content-crawls.js';
import { filesIn, folders, readIndex } from './content-fixtures.js';
import { page, textOf, urlOf } from './content-pages.js';

const PAGES = 400;

/** A data directory with pages, and its one segment of texts. */
async function stored(layout: 'segments' | 'files' = 'segments') {
  const [dataDir] = (await folders(1)) as [string];
  const content = await ContentStore.open({ dataDirs: [dataDir], storeRawHtml: true, layout });
  const packed = [];
  for (let n = 0; n < PAGES; n++) packed.push(await content.pack(page(n)));
  await content.append(packed);
  await content.close();
  const texts = (await filesIn(dataDir)).find((file) => file.endsWith('.warc.wet.gz')) ?? '';
  const segment = join(dataDir, 'content', texts);
  return { dataDir, segment, index: segment.replace(/\.gz$/, '.cdxj') };
}

const get = (dataDir: string, url: string) => orcrawlHere(['get', url, '--text', '-d', dataDir], { cwd: dataDir });
const audit = (dataDir: string, ...flags: string[]) =>
  orcrawlHere(['audit', '--content', ...flags, dataDir], { cwd: dataDir });

async function overwrite(path: string, at: number, bytes: Buffer): Promise<void> {
  const file = await open(path, 'r+');
  await file.write(bytes, 0, bytes.length, at);
  await file.close();
}

describe('orcrawl get', () => {
  it('finds pages around damage in a sorted index, and names file and line of what it met', async () => {
    const { dataDir, index } = await stored();
    const lines = (await readFile(index, 'latin1')).split('\n');
    // In the middle, where bisection looks first: bytes that sort before and after everything.
    lines.splice(PAGES / 2, 0, '~'.repeat(20_000), '\0'.repeat(20_000));
    await writeFile(index, lines.join('\n'), 'latin1');
    const all = new Set<string>();
    for (let n = 0; n < PAGES; n++) {
      const found = await findPage([dataDir], urlOf(n), { having: 'text', onDamage: (message) => all.add(message) });
      expect(found?.text).toBe(textOf(n));
    }
    const named = [1, 2].map((line) => `${index}:${PAGES / 2 + line}: not a valid index line`);
    expect([...all].sort()).toEqual(named);
    const { code, stdout, stderr } = await get(dataDir, urlOf(7));
    expect([code, stdout]).toEqual([0, `${textOf(7)}\n`]);
    for (const line of stderr.split('\n').filter(Boolean)) expect(named).toContain(line);
    expect(stderr).not.toBe('');
  });

  it('names a line that does not parse and one that points at no whole record, and goes on', async () => {
    const { dataDir, index, segment } = await stored();
    const lines = (await readFile(index, 'latin1')).split('\n');
    const broken = lines.findIndex((line) => line.includes(`"${urlOf(5)}"`));
    lines[broken] = lines[broken]!.replace('"mime":', '"mime"');
    await writeFile(index, lines.join('\n'), 'latin1');
    const line6 = lines.findIndex((line) => line.includes(`"${urlOf(6)}"`));
    const fields = JSON.parse(lines[line6]!.slice(lines[line6]!.indexOf('{'))) as { offset: string; length: string };
    await overwrite(segment, Number(fields.offset) + Math.floor(Number(fields.length) / 2), Buffer.alloc(16));
    const [unparsed, unwhole] = await Promise.all([get(dataDir, urlOf(5)), get(dataDir, urlOf(6))]);
    expect(unparsed.code).toBe(1);
    expect(unparsed.stderr).toContain(`${index}:${broken + 1}: not a valid index line\n`);
    expect(unwhole.code).toBe(1);
    expect(unwhole.stderr).toContain(`${index}:${line6 + 1}: it does not point at a complete record of `);
    // The response of the same page is whole, and is what is left of it.
    expect((await findPage([dataDir], urlOf(6)))?.response?.statusCode).toBe(200);
  });

  it('takes an index of a stranger for damage where it names other folders, endless records or lists as numbers', async () => {
    const { dataDir, index } = await stored();
    const secret = join(dataDir, 'secret.txt');
    await writeFile(secret, 'a secret');
    const lines = (await readFile(index, 'latin1')).split('\n');
    const at = (n: number) => lines.findIndex((line) => line.includes(`"${urlOf(n)}"`));
    const change = (n: number, more: object): void => {
      const line = lines[at(n)]!;
      const brace = line.indexOf('{');
      lines[at(n)] = line.slice(0, brace) + JSON.stringify({ ...(JSON.parse(line.slice(brace)) as object), ...more });
    };
    change(1, { filename: '../secret.txt', offset: undefined, length: undefined });
    change(2, { filename: secret, offset: undefined, length: undefined });
    change(3, { length: String(Number.MAX_SAFE_INTEGER - 10), offset: '5' });
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    lines[at(4)] = lines[at(4)]!.replace(/"status":"?\d+"?/, `"status":${deep}`);
    await writeFile(index, lines.join('\n'), 'latin1');
    for (const n of [1, 2, 3]) {
      const { code, stdout, stderr } = await get(dataDir, urlOf(n));
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain('it does not point at a complete record of ');
    }
    // What it says of the response is not a number; the text is where it was.
    expect((await findPage([dataDir], urlOf(4), { having: 'text' }))?.text).toBe(textOf(4));
  });
});

describe('orcrawl compact', () => {
  it.each([
    ['points at one record again and again', { offset: '0', length: '100' }],
    ['points beyond its end', { length: String(2 ** 40) }],
  ])('leaves a segment as it is whose index %s', async (_what, wrong) => {
    const [dataDir] = (await folders(1)) as [string];
    const store = await ContentStore.open({ dataDirs: [dataDir], storeRawHtml: true });
    for (const day of [0, 1]) {
      const packed = await Promise.all([1, 2, 3].map((n) => store.pack(pageOf(n, day, day))));
      await store.append(packed);
    }
    await store.close();
    const content = join(dataDir, 'content');
    for (const file of await filesIn(dataDir)) {
      if (!/\.warc(?:\.wet)?\.cdxj$/.test(file)) continue;
      const lines = (await readFile(join(content, file), 'latin1')).trimEnd().split('\n');
      const changed = lines.map((line) => {
        const brace = line.indexOf('{');
        return `${line.slice(0, brace)}${JSON.stringify({ ...(JSON.parse(line.slice(brace)) as object), ...wrong })}\n`;
      });
      await writeFile(join(content, file), changed.join(''), 'latin1');
    }
    const before = await filesIn(dataDir);
    const said: string[] = [];
    await compactContent([dataDir], { keep: 1, warn: (message) => void said.push(message) });
    expect(said).toHaveLength(2);
    for (const message of said) expect(message).toContain('is left as it is: its index is damaged');
    expect(await filesIn(dataDir)).toEqual(before);
  });
});

describe('orcrawl audit --content', () => {
  it('says that everything agrees, and how much that is', async () => {
    const { dataDir } = await stored();
    const { code, stdout } = await startNode([MAIN, 'audit', '--content', dataDir], { cwd: dataDir }).ended;
    expect([code, stdout]).toEqual([0, 'Whole: 800 records and 800 index lines in 2 segments agree.\n']);
    const small = await auditContent([dataDir], { stretchBytes: 5_000 });
    expect(small).toMatchObject({ records: 800, lines: 800, problemCount: 0 });
  });

  it('finds what is wrong: lines, order, records, digests, pages without a line', async () => {
    const { dataDir, index, segment } = await stored();
    const entries = (await readIndex(index)).toSorted((a, b) => a.offset! - b.offset!);
    const lines = (await readFile(index, 'latin1')).split('\n').slice(0, -1);
    const torn = entries[100]!;
    await overwrite(segment, torn.offset! + torn.length! - 8, Buffer.alloc(4, 1));
    const lineOf = (url: string) => lines.findIndex((line) => line.includes(`"${url}"`));
    const dropped = entries[200]!;
    lines.splice(lineOf(dropped.url), 1);
    const wrong = entries[300]!;
    lines[lineOf(wrong.url)] = lines[lineOf(wrong.url)]!.replace(/"digest":"../, '"digest":"AA');
    lines.push('nonsense', lines[3]!);
    await writeFile(index, `${lines.join('\n')}\n`, 'latin1');
    const { code, stdout } = await audit(dataDir, '--json');
    expect(code).toBe(1);
    const { problems, counts } = JSON.parse(stdout) as Awaited<ReturnType<typeof auditContent>>;
    expect(counts).toEqual({ line: 2, order: 1, record: 1, digest: 1, 'no-line': 1 });
    expect(problems).toEqual(
      expect.arrayContaining([
        { kind: 'line', where: `${index}:400`, problem: 'not a valid index line' },
        expect.objectContaining({ kind: 'order', where: `${index}:401` }),
        expect.objectContaining({ kind: 'record', where: `${index}:${lineOf(torn.url) + 1}` }),
        expect.objectContaining({ kind: 'digest', where: `${index}:${lineOf(wrong.url) + 1}` }),
        expect.objectContaining({ kind: 'no-line', where: `${segment} at byte ${dropped.offset}` }),
      ]),
    );
    // In stretches it finds the same.
    expect((await auditContent([dataDir], { stretchBytes: 9_000 })).counts).toEqual(counts);
    const said = await audit(dataDir);
    expect(said.stdout).toMatch(/^Damaged: 6 problems in /);
  });

  it('finds segments that are cut or gone, and indexes that are', async () => {
    const [cut, noSegment, noIndex] = [await stored(), await stored(), await stored()];
    await truncate(cut.segment, (await stat(cut.segment)).size - 5);
    await rm(noSegment.segment);
    await rm(noIndex.index);
    expect((await auditContent([cut.dataDir])).counts).toEqual({ line: 1, 'no-line': 1 });
    expect((await auditContent([noSegment.dataDir])).counts).toEqual({ 'no-segment': 1 });
    expect((await auditContent([noIndex.dataDir])).counts).toEqual({ 'no-index': 1 });
  });

  it('checks files of their own, and knows that a page crawled again replaced its file', async () => {
    const { dataDir } = await stored('files');
    const content = await ContentStore.open({ dataDirs: [dataDir], storeRawHtml: true, layout: 'files' });
    const again = page(1, { text: 'newer', fetchedAtMs: Date.UTC(2027, 0, 1) });
    await content.append([await content.pack(again)]);
    await content.close();
    expect(await auditContent([dataDir])).toMatchObject({ problemCount: 0, lines: 802 });
    const [file] = (await filesIn(dataDir)).filter((name) => name.endsWith('.txt'));
    await writeFile(join(dataDir, 'content', file!), 'changed');
    expect((await auditContent([dataDir])).counts).toEqual({ digest: 1 });
  });

  it('needs a data directory', async () => {
    const [folder] = (await folders(1)) as [string];
    const { code, stderr } = await audit(folder);
    expect([code, stderr]).toEqual([1, expect.stringContaining('has no folder "content"')]);
  });
});
