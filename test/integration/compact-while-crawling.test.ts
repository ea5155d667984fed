// `orcrawl compact` again and again while crawls on pods store changed pages and revisits of the others: every page is found
// with what it said last, and nothing that is kept refers to what is gone.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { auditContent } from '../../src/store/content/audit.js';
import { compactContent } from '../../src/store/content/compact/compact.js';
import { findPage, pageHistory } from '../../src/store/content/reading.js';
import { podsTrial } from '../support/pods-trial.js';

const PAGES = 24;
const CRAWLS = 3;

it('a compaction during a crawl loses no page', { timeout: 300_000 }, async () => {
  let crawl = 0;
  /** Every second page is another in each crawl. */
  const versionOf = (n: number) => (n % 2 === 0 ? crawl : 0);
  const server = createServer(({ url = '', headers }, response) => {
    const n = Number(/^\/(\d+)$/.exec(url)?.[1] ?? NaN);
    if (!(n < PAGES)) return response.writeHead(404).end();
    const etag = `"${versionOf(n)}"`;
    const headersOf = { 'content-type': 'text/html', etag };
    setTimeout(() => {
      if (headers['if-none-match'] === etag) return response.writeHead(304, headersOf).end();
      const links = Array.from({ length: PAGES }, (_, at) => `<a href="/${at}">${at}</a>`).join(' ');
      const text = `<p>The page ${n} says in its version ${versionOf(n)} what it has to say to whoever reads it.</p>`;
      response.writeHead(200, headersOf).end(`<html><body><nav>${links}</nav><main>${text}</main></body></html>`);
    }, 100);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = (n: number) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${n}`;
  const trial = await podsTrial({
    seeds: [url(0)],
    more: ['remember: true', 'store_raw_html: true', 'fetcher_workers: 2'],
    timeoutMs: 100_000,
  });
  let compactions = 0;
  let dropped = 0;
  for (; crawl < CRAWLS; crawl++) {
    const running = trial.run(...(crawl > 0 ? ['--fresh'] : []));
    let isOver = false;
    const ended = running.ended.finally(() => (isOver = true));
    await expect.poll(() => trial.dataDirs.every((folder) => existsSync(`${folder}/content`))).toBe(true);
    while (!isOver) {
      dropped += (await compactContent(trial.dataDirs, { keep: 1 })).dropped;
      compactions++;
      await new Promise((resume) => setTimeout(resume, 20));
    }
    expect((await ended).code).toBe(0);
    for (let n = 0; n < PAGES; n++) {
      const page = await findPage(trial.dataDirs, url(n), { having: 'response' });
      expect(page?.text).toContain(`page ${n} says in its version ${versionOf(n)}`);
      expect(page?.response?.body.toString()).toContain(`version ${versionOf(n)}`);
    }
    expect(await auditContent(trial.dataDirs)).toMatchObject({ problemCount: 0 });
  }
  await compactContent(trial.dataDirs, { keep: 1 });
  crawl = CRAWLS - 1;
  // Of a page that never changed the last visit, and the response that it stands for.
  expect(await pageHistory(trial.dataDirs, url(1))).toMatchObject([{}, { originalAt: expect.any(Date) }]);
  expect(await pageHistory(trial.dataDirs, url(2))).toHaveLength(1);
  expect(await auditContent(trial.dataDirs)).toMatchObject({ problemCount: 0 });
  expect(compactions).toBeGreaterThan(10);
  expect(dropped).toBeGreaterThan(PAGES / 2);
});
