// A fate for every URL: what fails or is skipped on pods is recorded with status, code and attempts, shown by `why` and
// `get --meta`, and queued again by `retry-failed`, each exactly once, also when processes are killed.
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { podsTrial, type Trial } from '../support/pods-trial.js';
import { redisMissing } from '../support/redis-server.js';
import { run } from './pods-fixtures.js';

interface Web {
  readonly url: (path: string) => string;
  /** Requests per path. */
  readonly asked: Map<string, number>;
  /** From now on everything is a page. */
  heal(): void;
}

/** Statuses by path: `/500/…`, `/404/…`; `/pdf` a document, `/moved` leads to a page, `/private` is forbidden. */
async function startWeb(): Promise<Web> {
  const asked = new Map<string, number>();
  let isWell = false;
  const server: Server = createServer((request, response) => {
    const { url = '/' } = request;
    asked.set(url, (asked.get(url) ?? 0) + 1);
    const status = Number(/^\/(\d{3})/.exec(url)?.[1] ?? 200);
    if (url === '/robots.txt') response.end('User-agent: *\nDisallow: /private\n');
    else if (url === '/pdf') response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.4 nothing');
    else if (url === '/moved') response.writeHead(302, { location: '/page' }).end();
    else response.writeHead(isWell ? 200 : status, { 'content-type': 'text/html' }).end(`<p>the page ${url}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve()))));
  const { port } = server.address() as AddressInfo;
  return { url: (name) => `http://127.0.0.1:${port}${name}`, asked, heal: () => void (isWell = true) };
}

interface Line {
  readonly url: string;
  readonly fate: string;
  readonly code: string;
  readonly status: string;
  readonly attempts: number;
}

async function fates({ dataDirs }: Trial): Promise<Line[]> {
  const lines: Line[] = [];
  for (const dir of dataDirs) {
    const folder = path.join(dir, 'content');
    for (const file of (await readdir(folder).catch(() => [])).filter((name) => name.includes('.fates.cdxj'))) {
      const text = await readFile(path.join(folder, file), 'utf8');
      for (const line of text.split('\n').filter(Boolean))
        lines.push(JSON.parse(line.slice(line.indexOf('{'))) as Line);
    }
  }
  return lines;
}

const short = ({ url, fate, code, status, attempts }: Line): string =>
  `${new URL(url).pathname} ${fate} ${code} ${status} ${attempts}`;

describe.each([
  ['an embedded pod', {}],
  ['a Redis pod', { redis: 1 }],
  ['a Redis pod with a parser', { redis: 1, more: ['parsers_per_pod: 1', 'handoff_dir: handoff'] }],
] as const)('the URLs of %s', (_name, plan) => {
  it.skipIf('redis' in plan && redisMissing)('have a fate each, and failed ones are retried once', async () => {
    const web = await startWeb();
    const seeds = ['/500/a', '/500/b', '/404', '/pdf', '/moved', '/private/x', '/'].map(web.url);
    const more = ['http_max_retries: 1', ...('more' in plan ? plan.more : [])];
    const trial = await podsTrial({ ...plan, seeds, more });
    const cli = (...args: string[]) => run(trial.folder, args);
    const first = await trial.finished();
    expect(first.code, first.stderr).toBe(0);
    expect((await fates(trial)).map(short).sort()).toEqual(
      [
        '/500/a failed HTTP_STATUS 500 2',
        '/500/b failed HTTP_STATUS 500 2',
        '/moved skipped redirected 302 1',
        '/pdf failed CONTENT_TYPE 200 1',
        '/private/x skipped robotsTxt - 0',
      ].filter((line) => !line.startsWith('/moved') || web.asked.get('/moved') === 1),
    );
    // No empty folder is left between fetchers and parsers.
    expect(await readdir(trial.folder)).not.toContain('handoff');
    // Each response counts once, also where a fetcher gets it and a parser handles it.
    const report = JSON.parse(await readFile(path.join(trial.folder, 'logs/report.json'), 'utf8')) as object;
    expect(report).toMatchObject({ failed: 3, statuses: { 200: 3, 302: 1, 404: 1, 500: 4 } });

    const why = await cli('why', web.url('/500/a'), '--config', 'crawl.yaml');
    expect([why.code, why.stdout]).toEqual([
      0,
      expect.stringMatching(/failed after 2 attempts, HTTP_STATUS \(500\): .*answered 500/),
    ]);
    const forbidden = await cli('why', web.url('/private/x'), '--config', 'crawl.yaml', '--json');
    expect(JSON.parse(forbidden.stdout)).toMatchObject({ fate: 'skipped', code: 'robotsTxt', attempts: 0 });
    const meta = await cli('get', web.url('/pdf'), '--data-dir', trial.dataDirs.join(','), '--meta');
    expect(meta.stdout).toMatch(
      /^fate: failed$[^]*^code: CONTENT_TYPE$[^]*^status_code: 200$[^]*content_type: application\/pdf/m,
    );
    const plain = await cli('get', web.url('/pdf'), '--data-dir', trial.dataDirs.join(','));
    expect([plain.code, plain.stderr]).toEqual([
      1,
      expect.stringContaining('failed after 1 attempt, CONTENT_TYPE (200)'),
    ]);
    const page = await cli('why', web.url('/'), '--config', 'crawl.yaml');
    expect(page.stdout).toMatch(/stored \(200\), text\/html/);
    const unknown = await cli('why', web.url('/never'), '--config', 'crawl.yaml');
    expect(unknown.stdout).toContain('never accepted by pod 0');
    const skipped = await cli('why', web.url('/a.zip'), '--config', 'crawl.yaml');
    expect(skipped.stdout).toContain('It is never queued: its extension is in skip_extensions');

    web.heal();
    const some = await cli('retry-failed', '--config', 'crawl.yaml', '--code', 'HTTP_STATUS');
    expect([some.code, some.stdout], some.stderr).toEqual([
      0,
      expect.stringContaining('Queued 2 URLs again: HTTP_STATUS × 2'),
    ]);
    const none = await cli('retry-failed', '--config', 'crawl.yaml', '--code', 'HTTP_STATUS');
    expect(none.stdout).toContain('Nothing to retry');
    const waiting = await cli('why', web.url('/500/a'), '--config', 'crawl.yaml');
    expect(waiting.stdout).toMatch(/queued again by orcrawl retry-failed, after HTTP_STATUS/);

    const second = await trial.finished('--resume');
    expect(second.code, second.stderr).toBe(0);
    const healed = await cli('why', web.url('/500/a'), '--config', 'crawl.yaml');
    expect(healed.stdout.split('\n')[0]).toMatch(/stored \(200\)/);
    expect((await trial.stored()).filter((key) => key.includes('/500/'))).toHaveLength(2);
  });
});
