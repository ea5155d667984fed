// Crawls on pods that remember: the second asks only what changed, and stores what did not as revisits of the first.
import { execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { WARCParser } from 'warcio';
import { timestampOf } from '../../src/store/content/cdxj.js';
import { findPage, pageHistory } from '../../src/store/content/reading.js';
import { sha1Base32 } from '../../src/store/content/warc.js';
import { podsTrial } from '../support/pods-trial.js';
import { MAIN } from './cli-process.js';
import { readArchive } from './content-fixtures.js';

const REPLAY = fileURLToPath(new URL('../support/wabac-replay.mjs', import.meta.url));

/** Six pages in a chain; the even ones have an ETag. */
async function chain() {
  const versions = new Map<number, number>();
  const answers: string[] = [];
  const server = createServer(({ url = '', headers }, response) => {
    if (url === '/robots.txt') return response.writeHead(404).end();
    const n = Number(url.slice(1));
    // A sitemap is asked for, too.
    if (Number.isNaN(n)) return response.writeHead(404).end();
    const version = versions.get(n) ?? 1;
    const etag = `"${n}-${version}"`;
    if (n % 2 === 0) response.setHeader('etag', etag);
    if (n % 2 === 0 && headers['if-none-match'] === etag) {
      answers.push(`304 ${n}`);
      return response.writeHead(304).end();
    }
    answers.push(`200 ${n}`);
    response.setHeader('content-type', 'text/html');
    const link = n < 5 ? `<a href="/${n + 1}">next</a>` : '';
    response.end(
      `<html><body><main><p>Page ${n} says this and that in version ${version}.</p></main>${link}</body></html>`,
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { origin, versions, answered: () => answers.splice(0).sort() };
}

async function recordTypes(dataDirs: readonly string[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const folder of dataDirs.map((dir) => path.join(dir, 'content'))) {
    for (const file of (await readdir(folder)).filter((name) => name.endsWith('.warc.gz'))) {
      for await (const record of new WARCParser(createReadStream(path.join(folder, file)))) {
        const what = record.warcHeader('WARC-Profile')?.replace(/.*\//, '') ?? record.warcType!;
        counts[what] = (counts[what] ?? 0) + 1;
      }
    }
  }
  delete counts.warcinfo;
  return counts;
}

/** The payload digest of each response is that of its bytes, and each revisit names one of them. */
async function expectDigests(dataDirs: readonly string[]): Promise<void> {
  const [responses, revisits]: [Set<string>, string[]] = [new Set(), []];
  for (const folder of dataDirs.map((dir) => path.join(dir, 'content'))) {
    for (const file of (await readdir(folder)).filter((name) => name.endsWith('.warc.gz'))) {
      await readArchive(path.join(folder, file));
      for await (const record of new WARCParser(createReadStream(path.join(folder, file)))) {
        const named = record.warcHeader('WARC-Payload-Digest') ?? '';
        if (record.warcType === 'revisit') revisits.push(named);
        if (record.warcType !== 'response') continue;
        const payload = Buffer.from((await record.readFully(true)) ?? []);
        expect(named).toBe(`sha1:${sha1Base32(payload)}`);
        responses.add(named);
      }
    }
  }
  expect(revisits.filter((digest) => !responses.has(digest))).toEqual([]);
  expect(revisits).toHaveLength(5);
}

/** The crawls as one WACZ file: every capture is found by a tool that is not ours, and says what was true then. */
async function expectReplay(dataDirs: readonly string[], origin: string): Promise<void> {
  await expectDigests(dataDirs);
  const file = path.join(dataDirs[0]!, 'crawl.wacz');
  execFileSync(process.execPath, [MAIN, 'archive', 'export', '--data-dir', dataDirs.join(','), '--wacz', file]);
  const captures = await Promise.all(
    [0, 1, 2, 3, 4, 5].map(async (n) =>
      (await pageHistory(dataDirs, `${origin}/${n}`)).map(({ fetchedAt }, turn) => ({
        url: `${origin}/${n}`,
        ts: timestampOf(fetchedAt.getTime()),
        says: `Page ${n} says this and that in version ${n === 1 ? turn + 1 : 1}.`,
      })),
    ),
  );
  const stdout = execFileSync(process.execPath, [REPLAY, file, JSON.stringify(captures.flat())], { encoding: 'utf8' });
  const { pages, found } = JSON.parse(stdout) as { pages: string[]; found: { status: number; body: string }[] };
  expect([...new Set(pages)].sort()).toEqual([0, 1, 2, 3, 4, 5].map((n) => `${origin}/${n}`));
  expect(found.map(({ status }) => status)).toEqual(captures.flat().map(() => 200));
  expect(found.map(({ body }) => /Page[^.]*\./.exec(body)?.[0])).toEqual(captures.flat().map(({ says }) => says));
}

it.each([
  ['embedded', {}],
  ['in Redis', { redis: 1 }],
] as const)(
  'a pod %s visits what it remembers, and stores only what changed',
  { timeout: 600_000 },
  async (_, stores) => {
    const { origin, versions, answered } = await chain();
    const { finished, dataDirs, servers } = await podsTrial({
      ...stores,
      seeds: [`${origin}/0`],
      more: ['store_raw_html: true', 'remember: true'],
      timeoutMs: 300_000,
    });
    expect((await finished()).code).toBe(0);
    expect(answered()).toEqual(['200 0', '200 1', '200 2', '200 3', '200 4', '200 5']);
    expect(await recordTypes(dataDirs)).toEqual({ response: 6 });
    // Of the memory Redis has one note per worker, whatever the number of pages.
    for (const { url } of servers) {
      const notes = execFileSync('redis-cli', ['-u', url, 'HKEYS', 'notes'], { encoding: 'utf8' }).split('\n');
      expect(notes.filter((name) => name.startsWith('memory/'))).toHaveLength(1);
      const keys = execFileSync('redis-cli', ['-u', url, 'KEYS', '*memory*'], { encoding: 'utf8' });
      expect(keys.trim()).toBe('');
    }

    versions.set(1, 2);
    expect((await finished('--fresh')).code).toBe(0);
    // A page that answers 304 tells no links: the others are visited because they are remembered.
    expect(answered()).toEqual(['200 1', '200 3', '200 5', '304 0', '304 2', '304 4']);
    expect(await recordTypes(dataDirs)).toEqual({
      response: 7,
      'identical-payload-digest': 2,
      'server-not-modified': 3,
    });
    for (const n of [0, 1, 2, 3, 4, 5]) {
      const history = await pageHistory(dataDirs, `${origin}/${n}`);
      expect(history.map(({ originalAt }) => originalAt !== undefined)).toEqual([false, n !== 1]);
      const page = await findPage(dataDirs, `${origin}/${n}`);
      expect(page?.text).toContain(`Page ${n} says this and that in version ${n === 1 ? 2 : 1}.`);
      expect(page?.fetchedAt.getTime()).toBe(history[1]!.fetchedAt.getTime());
    }
    await expectReplay(dataDirs, origin);
  },
);
