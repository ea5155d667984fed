// Trouble that a crawl on pods must survive, or end with the code that docs/pods.md gives it: nothing is lost either way.
// More of it, with a server and a checker of their own: faults.test.ts.
import { spawnSync } from 'node:child_process';
import { appendFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Request } from '../../src/request/request.js';
import { Simweb } from '../../src/testing/index.js';
import { until } from '../support/pods-crawl.js';
import { lastLine, podsTrial } from '../support/pods-trial.js';
import { storedNumber } from '../support/redis-numbers.js';
import { redisMissing } from '../support/redis-server.js';

// eslint-disable-next-line no-console -- a skip must say why
if (redisMissing) console.warn(`trouble with Redis pods is skipped: ${redisMissing}`);

const keys = (web: Simweb): string[] => [...web.allUrls()].map((url) => new Request({ url }).uniqueKey).sort();

describe('a worker', () => {
  it('that ends five times before its first request stops its pod, and the crawl ends with 5', async () => {
    await using web = await Simweb.start({ pagesPerHost: 2 });
    const { folder, run } = await podsTrial({ seeds: web.seeds(), more: ['handler: ./handlers.mjs'] });
    await writeFile(
      path.join(folder, 'handlers.mjs'),
      'setImmediate(() => process.exit(7));\nexport default () => {};\n',
    );
    const { code, stderr } = await run().ended;
    expect(stderr).toMatch(
      /pod 0 stopped: fetcher 0 ended 5 times in a row before its first request, lastly: process\.exit\(7\)/,
    );
    expect(code).toBe(5);
    await writeFile(path.join(folder, 'handlers.mjs'), 'export default () => {};\n');
    expect(lastLine((await run('--resume').ended).stdout)).toBe('1 page: nothing is left to crawl');
  });
});

describe('a second signal', () => {
  it('ends at once while a server still keeps its visitors waiting, and loses nothing', async () => {
    await using web = await Simweb.start({ hosts: 3, pagesPerHost: 4, pageBytes: 500 });
    for (const host of [0, 1, 2]) web.serve('/', { body: 'never', delayMs: 600_000 }, host);
    const { run, stored } = await podsTrial({ seeds: [...web.allUrls()] });
    const first = run();
    await until(async () => web.openRequests === 3 && web.served() >= 3 + 3 + 9);
    first.signal('SIGINT');
    await until(async () => first.stderr().includes('press again to exit at once'));
    first.signal('SIGINT');
    const { code, stdout } = await first.ended;
    expect([code, lastLine(stdout)]).toEqual([130, expect.stringContaining('interrupted; --resume continues')]);
    for (const host of [0, 1, 2]) web.serve('/', { body: '<p>here I am' }, host);
    expect(lastLine((await run('--resume').ended).stdout)).toBe('12 pages: nothing is left to crawl');
    expect(await stored()).toEqual(keys(web));
  });
});

describe.skipIf(redisMissing)('captures', () => {
  it('that no parser took are fetched again when there are no parsers any more, and orphans are swept', async () => {
    await using web = await Simweb.start({ hosts: 2, pagesPerHost: 5, pageBytes: 500 });
    const trial = await podsTrial({
      redis: 1,
      seeds: [...web.allUrls()],
      more: ['handler: ./handlers.mjs', 'handoff_dir: handoff', 'parsers_per_pod: 1', 'parser_workers: 1'],
    });
    const handlers = path.join(trial.folder, 'handlers.mjs');
    await writeFile(handlers, 'export default () => new Promise(() => {});\n');
    const captures = () => readdir(path.join(trial.folder, 'handoff', 'pod_0')).catch(() => []);
    const first = trial.run();
    await until(() => storedNumber(trial.servers[0]!, 'parsing') >= 5);
    first.signal('SIGINT');
    first.signal('SIGINT');
    expect((await first.ended).code).toBe(130);
    await writeFile(path.join(trial.folder, 'handoff', 'pod_0', 'abc-0123456789abcdef.capture'), 'nobody');
    await writeFile(handlers, 'export default () => {};\n');
    const { code, stdout } = await trial.run('--resume', '--override-parsers-per-pod', '0').ended;
    expect(stdout).toContain('pages that waited for parsers are fetched again');
    expect(stdout).toMatch(/[1-9]\d* captures that nobody needs are removed/);
    expect([code, lastLine(stdout)]).toEqual([0, '10 pages: nothing is left to crawl']);
    expect(await captures()).toEqual([]);
    expect(await trial.stored()).toEqual(keys(web));
  });
});

/** A small disk of the test's own at `folder`; why there is none otherwise. */
function mountSmallDisk(folder: string, sizeKb: number): string | undefined {
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeKb}k`, 'tmpfs', folder], {
    encoding: 'utf8',
  });
  if (status !== 0) return `no file system can be mounted here: ${stderr?.trim()}`;
  onTestFinished(() => void spawnSync('umount', ['-l', folder]));
  return undefined;
}

describe('a data directory', () => {
  it('that cannot be written to is named before anything starts', async (context) => {
    const { folder, run } = await podsTrial({ seeds: ['example.com'] });
    const dir = path.join(folder, 'ssd2');
    await mkdir(dir);
    const refusal = mountSmallDisk(dir, 64);
    if (refusal !== undefined) return context.skip(refusal);
    spawnSync('mount', ['-o', 'remount,ro', dir]);
    const { code, stderr } = await run().ended;
    expect(stderr).toMatch(/data_dirs.*ssd2.*(?:EROFS|read-only)/i);
    expect(code).toBe(1);
  });
});

describe('the exclude file', () => {
  it('is read again while the crawl runs: what is queued of a new domain is not asked for any more', async () => {
    await using web = await Simweb.start({ hosts: 3, pagesPerHost: 25, pageBytes: 500, linksPerPage: 20 });
    const { folder, run } = await podsTrial({
      seeds: web.seeds(),
      more: ['exclude_file: exclude.txt', 'politeness_delay_seconds: 0.25'],
    });
    const file = path.join(folder, 'exclude.txt');
    await writeFile(file, '# none yet\n');
    const running = run();
    await until(async () => web.served() > 10);
    await appendFile(file, `${new URL(web.url(2)).hostname}\n`);
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    // Its robots.txt was requested too, and is not a page.
    const pages = 2 * 25 + web.served(2) - 1;
    expect(lastLine(stdout)).toBe(`${pages} pages: nothing is left to crawl`);
    expect(web.served(2)).toBeLessThan(26);
  });
});
