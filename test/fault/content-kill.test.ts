// `kill -9` in the middle of appending pages, rotating segments and sorting indexes: what was acknowledged is there
// once, nothing is torn, and segments and indexes agree.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ContentStore } from '../../src/store/content.js';
import { findPage } from '../../src/store/content-reading.js';
import { filesIn, folders, readArchive, readIndex } from '../integration/content-fixtures.js';
import { urlOf } from '../integration/content-pages.js';

const WORKER = fileURLToPath(new URL('content-worker.mjs', import.meta.url));
const KILLS = 15;

/** Runs the worker and kills it `killAfterMs` after it has opened; resolves to what it said. */
function live(folder: string, pages: number, killAfterMs: number | undefined): Promise<string[]> {
  const child = spawn(process.execPath, [WORKER, folder, String(pages)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    if (line.startsWith('open') && killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve(lines));
  });
}

describe('a killed writer of content', () => {
  it('leaves every acknowledged page once, in segments and indexes that agree', async () => {
    const [folder] = (await folders(1)) as [string];
    const dataDirs = [join(folder, 'ssd1'), join(folder, 'ssd2')];
    let cuts = 0;
    for (let life = 1; life <= KILLS; life++) {
      const before = acknowledgedIn(folder).done;
      const [opened = ''] = await live(folder, Infinity, (life * 37) % 150);
      const [, done, cut, isShort] = opened.split(' ');
      expect(isShort).toBe('false');
      expect(Number(done)).toBe(before);
      cuts += Number(cut);
    }
    const wanted = acknowledgedIn(folder).done + 50;
    expect((await live(folder, wanted, undefined)).at(-1)).toBe('finished');
    const { done, notes } = acknowledgedIn(folder);
    expect(done).toBeGreaterThanOrEqual(wanted);
    // Deaths fell between an append and its acknowledgement, or the test proves nothing.
    expect(cuts).toBeGreaterThan(0);

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
    for (let n = 0; n < done; n += Math.ceil(done / 20)) {
      expect((await findPage(dataDirs, urlOf(n)))?.text).toMatch(new RegExp(`^Page ${n} says `));
    }
  });
});

interface Acknowledged {
  readonly done: number;
  readonly notes: Record<string, string>;
}

function acknowledgedIn(folder: string): Acknowledged {
  const path = join(folder, 'acknowledged.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Acknowledged) : { done: 0, notes: {} };
}
