// `orcrawl compact` killed at each of its points while a crawl goes on: every page is found with its newest content, nothing
// is reported as lost, and the next compaction finishes what was begun.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { KILL_POINTS } from '../../src/base/kill-points.js';
import { auditContent } from '../../src/store/content/audit.js';
import { compactContent } from '../../src/store/content/compact/compact.js';
import { ContentStore } from '../../src/store/content/content.js';
import { findPage, pageHistory } from '../../src/store/content/reading.js';
import { page, urlOf } from '../integration/content-pages.js';

const PROGRAM = fileURLToPath(new URL('./programs/compact.mjs', import.meta.url));
const POINTS = KILL_POINTS.filter((point) => point.startsWith('compact.'));
const PAGES = 8;
const COMMON = Array.from({ length: PAGES }, (_, n) => n);
const made: string[] = [];
afterAll(async () => {
  for (const folder of made) await rm(folder, { recursive: true, force: true });
});

/** Three crawls of the same pages, each with a text of its own, and the notes that a queue has of their segments. */
async function crawled(): Promise<{ folder: string; notes: Record<string, string> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'compact-kill-'));
  made.push(folder);
  const notes: Record<string, string> = {};
  for (const crawl of [0, 1, 2]) await crawlAgain(folder, notes, crawl);
  return { folder, notes };
}

async function crawlAgain(folder: string, notes: Record<string, string>, crawl: number): Promise<void> {
  const store = await ContentStore.open({
    dataDirs: [folder],
    storeRawHtml: true,
    isWriterGone: () => false,
    notes,
    note: async (more) => void Object.assign(notes, more),
  });
  const packed = [];
  // One page is of this crawl only, so that a part of its segments stays.
  for (const n of [...COMMON, PAGES + crawl]) {
    const fetchedAtMs = Date.UTC(2026, 0, 1 + crawl);
    packed.push(await store.pack(page(n, { fetchedAtMs, text: `page ${n}, crawl ${crawl}` })));
  }
  const { written } = await store.append(packed);
  for (const { writer } of written) {
    notes[writer.key] = writer.note;
    writer.confirm();
  }
  await store.close();
}

async function newestTexts(folder: string): Promise<(string | undefined)[]> {
  const texts: (string | undefined)[] = [];
  for (let n = 0; n < PAGES + 3; n++) texts.push((await findPage([folder], urlOf(n), { having: 'text' }))?.text);
  return texts;
}

const textsOf = (crawl: number) => [
  ...COMMON.map((n) => `page ${n}, crawl ${crawl}`),
  ...[0, 1, 2].map((only) => `page ${PAGES + only}, crawl ${only}`),
];

it.each(POINTS)('killed at %s', { timeout: 600_000 }, async (point) => {
  const { folder, notes } = await crawled();
  const env = { ...process.env, ORCRAWL_KILL_AT: `${point}:2` };
  const ended = await promisify(execFile)(process.execPath, [PROGRAM, folder], { env }).then(
    () => 'unharmed',
    (error: { signal?: string; stderr: string }) => error.signal ?? error.stderr,
  );
  expect(ended).toBe('SIGKILL');
  expect(await newestTexts(folder)).toEqual(textsOf(2));

  // The crawl goes on: its next start misses nothing, and it writes beside what was left.
  const warnings: string[] = [];
  const store = await ContentStore.open({
    dataDirs: [folder],
    storeRawHtml: true,
    isWriterGone: () => true,
    notes,
    note: async () => undefined,
    warn: (message) => void warnings.push(message),
  });
  expect(store.recovered.filter(({ outcome }) => outcome !== 'whole')).toEqual([]);
  await store.close();
  expect(warnings).toEqual([]);
  await crawlAgain(folder, notes, 3);

  await compactContent([folder], { keep: 1 });
  expect(await newestTexts(folder)).toEqual(textsOf(3));
  expect((await pageHistory([folder], urlOf(0))).length).toBe(1);
  expect(await auditContent([folder])).toMatchObject({ problemCount: 0 });
  const left = await readdir(path.join(folder, 'content'));
  expect(left.filter((name) => name.endsWith('.tmp') || name === 'compact.lock')).toEqual([]);
});
