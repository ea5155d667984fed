// `kill -9` in the middle of appending pages, rotating segments and sorting indexes: what was acknowledged is there
// once, nothing is torn, and segments and indexes agree.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { KILL_POINTS } from '../../src/base/kill-points.js';
import { ContentStore } from '../../src/store/content/content.js';
import { auditContent } from '../../src/store/content/audit.js';
import { findPage } from '../../src/store/content/reading.js';
import { filesIn, folders, readArchive, readIndex } from '../integration/content-fixtures.js';
import { urlOf } from '../integration/content-pages.js';

const WORKER = fileURLToPath(new URL('content-worker.mjs', import.meta.url));
const KILLS = 15;

/** Runs the worker and kills it `killAfterMs` after it has opened, or at a kill point; resolves to what it said. */
function live(
  folder: string,
  pages: number,
  { killAfterMs, killAt = '', layout = 'segments' }: { killAfterMs?: number; killAt?: string; layout?: string } = {},
): Promise<string[]> {
  const child = spawn(process.execPath, [WORKER, folder, String(pages), layout], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ORCRAWL_KILL_AT: killAt },
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    if (line.startsWith('open') && killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (_code, signal) => resolve([...lines, ...(signal ? [signal] : [])]));
  });
}

describe('a killed writer of content', () => {
  it('leaves every acknowledged page once, in segments and indexes that agree', async () => {
    const [folder] = (await folders(1)) as [string];
    const dataDirs = [join(folder, 'ssd1'), join(folder, 'ssd2')];
    let cuts = 0;
    for (let life = 1; life <= KILLS; life++) {
      const before = acknowledgedIn(folder).done;
      const [opened = ''] = await live(folder, Infinity, { killAfterMs: (life * 37) % 150 });
      const [, done, cut, isShort] = opened.split(' ');
      expect(isShort).toBe('false');
      expect(Number(done)).toBe(before);
      cuts += Number(cut);
    }
    // Deaths fell between an append and its acknowledgement, or the test proves nothing.
    expect(cuts).toBeGreaterThan(0);
    await finish(folder, dataDirs);
  });

  const POINTS = KILL_POINTS.filter((point) => /^(?:content|index-sort|recovery)\./.test(point));
  it('does so whatever write, rename or cut it died before or after, recovery included', async () => {
    const [folder] = (await folders(1)) as [string];
    const dataDirs = [join(folder, 'ssd1'), join(folder, 'ssd2')];
    for (const [n, point] of POINTS.filter((name) => !name.includes('pages')).entries()) {
      // Before a death in the recovery, one that leaves something to recover.
      if (point.startsWith('recovery.')) await live(folder, Infinity, { killAt: `content.after-index:${2 + (n % 5)}` });
      const said = await live(folder, Infinity, { killAt: `${point}:${1 + (n % 3)}` });
      expect([point, said.at(-1)]).toEqual([point, 'SIGKILL']);
    }
    await finish(folder, dataDirs);
  });

  it('does so when each page has a file of its own', async () => {
    const [folder] = (await folders(1)) as [string];
    const dataDirs = [join(folder, 'ssd1'), join(folder, 'ssd2')];
    const layout = 'files';
    const points = [...KILL_POINTS.filter((name) => name.startsWith('content-file.')), 'recovery.before-pages-cut'];
    for (const point of points) {
      if (point.startsWith('recovery.')) await live(folder, Infinity, { killAt: 'content.after-index:4', layout });
      expect([point, (await live(folder, Infinity, { killAt: `${point}:2`, layout })).at(-1)]).toEqual([
        point,
        'SIGKILL',
      ]);
    }
    const wanted = acknowledgedIn(folder).done + 50;
    expect((await live(folder, wanted, { layout })).at(-1)).toBe('finished');
    const { done, notes } = acknowledgedIn(folder);
    const judge = await ContentStore.open({ dataDirs, notes, layout, warn: () => undefined });
    expect(judge.recovered.filter(({ outcome }) => outcome !== 'whole')).toEqual([]);
    await judge.close();
    const audit = await auditContent(dataDirs);
    // A text and a response a page.
    expect([audit.problems, audit.lines]).toEqual([[], 2 * done]);
  });
});

/** A last life ends in good order; then everything acknowledged is there once, and nothing else. */
async function finish(folder: string, dataDirs: readonly string[]): Promise<void> {
  const wanted = acknowledgedIn(folder).done + 50;
  expect((await live(folder, wanted)).at(-1)).toBe('finished');
  const { done, notes } = acknowledgedIn(folder);
  expect(done).toBeGreaterThanOrEqual(wanted);
  const judge = await ContentStore.open({ dataDirs, notes, warn: () => undefined });
  expect(judge.recovered.filter(({ outcome }) => outcome !== 'whole')).toEqual([]);
  await judge.close();
  const counts = new Map<string, number>();
  for (const dataDir of dataDirs) {
    const files = await filesIn(dataDir);
    for (const file of files.filter((name) => name.endsWith('.gz'))) {
      const records = (await readArchive(join(dataDir, 'content', file))).slice(1);
      const entries = await readIndex(join(dataDir, 'content', file.replace(/gz$/, 'cdxj')));
      const lines = entries.map(({ url, offset }) => `${offset} ${url}`).sort();
      expect(lines).toEqual(records.map(({ url, offset }) => `${offset} ${url}`).sort());
      for (const { type, url } of records) counts.set(`${type} ${url}`, (counts.get(`${type} ${url}`) ?? 0) + 1);
    }
    expect(files.filter((name) => !/\.(?:gz|cdxj|tmp)$/.test(name))).toEqual([]);
  }
  expect([...counts].filter(([, count]) => count !== 1)).toEqual([]);
  expect(counts.size).toBe(2 * done);
  expect((await auditContent(dataDirs)).problems).toEqual([]);
  for (let n = 0; n < done; n += Math.ceil(done / 20)) {
    expect((await findPage(dataDirs, urlOf(n)))?.text).toMatch(new RegExp(`^Page ${n} says `));
  }
}

interface Acknowledged {
  readonly done: number;
  readonly notes: Record<string, string>;
}

function acknowledgedIn(folder: string): Acknowledged {
  const path = join(folder, 'acknowledged.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Acknowledged) : { done: 0, notes: {} };
}
