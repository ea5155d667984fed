// `orcrawl scrape`, `batch` and `cache` as users and scripts run them: pipes, files, exit codes, Ctrl-C, resume.
import { spawn } from 'node:child_process';
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Simweb } from '../../src/testing/index.js';
import { orcrawlHere } from '../support/cli-here.js';
import { inTemporaryFolder, MAIN, readLines, startNode, until } from './cli-process.js';

let web: Simweb;
beforeAll(async () => {
  web = await Simweb.start({ hosts: 2, pagesPerHost: 40, pageBytes: 2000 });
});
afterAll(() => web.close());

const orcrawl = (cwd: string, args: string[], input?: string) => startNode([MAIN, ...args], { cwd, input });
const run = (cwd: string, args: string[], input?: string) => orcrawl(cwd, args, input).ended;
/** What a command does, without the start of a process. */
const here = (cwd: string, args: string[], input?: string) => orcrawlHere(args, { cwd, input });
const lines = (text: string) => text.trimEnd().split('\n').filter(Boolean);
const items = (text: string) => lines(text).map((line) => JSON.parse(line) as Record<string, unknown>);

describe('orcrawl scrape', () => {
  it('writes the markdown, the links or everything of one page', () =>
    inTemporaryFolder(async (cwd) => {
      const text = await run(cwd, ['scrape', web.url(0)]);
      expect(text.code).toBe(0);
      expect(text.stdout.length).toBeGreaterThan(200);
      expect(text.stdout).toContain('](http');
      const fit = await here(cwd, ['scrape', web.url(0), '--format', 'fit']);
      expect(fit.stdout).toMatch(/^# \S/);
      expect(fit.stdout.length).toBeLessThanOrEqual(text.stdout.length + 200);
      const links = await here(cwd, ['scrape', web.url(0), '--format', 'links']);
      expect(lines(links.stdout).length).toBeGreaterThan(3);
      const all = JSON.parse((await here(cwd, ['scrape', web.url(0), '--format', 'json'])).stdout) as object;
      expect(all).toMatchObject({ url: web.url(0), success: true, statusCode: 200, metadata: { charset: 'utf-8' } });
    }));

  it('reads a PDF', () =>
    inTemporaryFolder(async (cwd) => {
      const { code, stdout, stderr } = await here(cwd, ['scrape', web.url(0, '/_/pdf')]);
      expect([code, stdout], stderr).toEqual([0, expect.stringContaining('A small PDF of the synthetic web.')]);
    }));

  it('says what failed and ends with 2; wrong usage ends with 1', () =>
    inTemporaryFolder(async (cwd) => {
      const failed = await run(cwd, ['scrape', web.url(0, '/_/status/404')]);
      expect([failed.code, failed.stdout]).toEqual([2, '']);
      expect(failed.stderr).toContain('(HTTP_STATUS)');
      const closed = await here(cwd, ['scrape', web.url(0, '/_/members')]);
      expect([closed.code, closed.stderr]).toEqual([
        2,
        expect.stringMatching(/answered 401.*It wants a login: give -H/),
      ]);
      const waiting = await here(cwd, ['scrape', web.url(0), '--wait-for', '#main']);
      expect([waiting.code, waiting.stdout]).toEqual([1, '']);
      expect(waiting.stderr).toContain('css:SELECTOR');
    }));
});

describe('orcrawl batch', () => {
  it('works as a filter between programs', () =>
    inTemporaryFolder(async (cwd) => {
      const urls = Array.from({ length: 30 }, (_, page) => web.url(page % 2, page));
      await writeFile(path.join(cwd, 'urls.txt'), `# a list\n\n${urls.join('\n')}\n`);
      const pipe = `cat urls.txt | '${process.execPath}' '${MAIN}' batch - --stream --monitor none | head -n 20 | grep -c '"url"'`;
      const child = spawn('bash', ['-c', `set -o pipefail; ${pipe}`], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
      let out = '';
      let err = '';
      child.stdout.on('data', (data) => (out += String(data)));
      child.stderr.on('data', (data) => (err += String(data)));
      await new Promise((resolve) => child.once('close', resolve));
      expect([out.trim(), err]).toEqual(['20', '']);
    }));

  it('writes lines in the order of the list, with the documented fields', () =>
    inTemporaryFolder(async (cwd) => {
      const urls = [web.url(0, '/_/delay/300'), web.url(0, 1), 'nonsense here', web.url(1, 2)];
      const { code, stdout, stderr } = await run(cwd, ['batch', '-'], urls.join('\n'));
      expect(code).toBe(2);
      expect(items(stdout).map(({ url }) => url)).toEqual(urls);
      expect(items(stdout)[2]).toMatchObject({ success: false, errorCode: 'URL_INVALID' });
      expect(Object.keys(items(stdout)[1]!)).toEqual(
        expect.arrayContaining([
          'url',
          'loadedUrl',
          'success',
          'statusCode',
          'errorCode',
          'errorMessage',
          'cacheStatus',
          'fetchedAt',
          'bytes',
          'title',
          'metadata',
          'markdown',
          'links',
        ]),
      );
      expect(stderr).toContain('3 done · 1 failed');
      expect(stdout).not.toContain('done ·');
    }));

  it('writes as they complete with --stream, the chosen fields, CSV and JSON', () =>
    inTemporaryFolder(async (cwd) => {
      const urls = [web.url(0, '/_/delay/700'), web.url(0, 1)];
      const stream = await here(cwd, ['batch', ...urls, '--stream', '--fields', 'url,success', '--monitor', 'none']);
      expect(stream).toMatchObject({ code: 0, stderr: '' });
      expect(items(stream.stdout)).toEqual([urls[1], urls[0]].map((url) => ({ url, success: true })));
      const csv = await here(cwd, ['batch', ...urls, '--format', 'csv', '--fields', 'url,statusCode']);
      expect(lines(csv.stdout)).toEqual(['url,statusCode', `${urls[0]},200`, `${urls[1]},200`]);
      await here(cwd, ['batch', ...urls, '--format', 'json', '--out', 'out/pages.json']);
      expect(JSON.parse(await readFile(path.join(cwd, 'out/pages.json'), 'utf8'))).toHaveLength(2);
      const folder = await here(cwd, ['batch', ...urls, '--format', 'text', '--out', 'pages/']);
      expect(folder).toMatchObject({ code: 0, stdout: '' });
      expect((await readdir(path.join(cwd, 'pages'))).filter((name) => name.startsWith('index'))).toEqual([
        'index.jsonl',
        'index.md',
      ]);
      const index = items(await readFile(path.join(cwd, 'pages', 'index.jsonl'), 'utf8'));
      expect(index).toMatchObject(urls.map((url) => ({ url, file: expect.stringMatching(/\.txt$/) })));
    }));

  it('keeps what was done on Ctrl-C and finishes the rest with --resume', () =>
    inTemporaryFolder(async (cwd) => {
      const urls = Array.from({ length: 24 }, (_, n) => web.url(0, `/_/delay/${n < 12 ? 10 : 1500}?n=${n}`));
      await writeFile(path.join(cwd, 'urls.txt'), urls.join('\n'));
      const args = ['batch', 'urls.txt', '--resume', 'done.jsonl', '--concurrency', '4'];
      const first = orcrawl(cwd, args);
      let seen = 0;
      await until(() => {
        void readLines(cwd, 'done.jsonl').then(
          (all) => (seen = all.length),
          () => undefined,
        );
        return seen >= 12;
      }, 'half of it is written');
      first.signal('SIGINT');
      const interrupted = await first.ended;
      expect(interrupted.code).toBe(130);
      expect(interrupted.stderr).toContain('--resume done.jsonl');
      const before = (await readLines(cwd, 'done.jsonl')).length;
      expect(before).toBeGreaterThanOrEqual(12);
      expect(before).toBeLessThan(24);
      // A kill may leave half a line.
      await appendFile(path.join(cwd, 'done.jsonl'), '{"url":"torn');
      web.reset();
      const second = await run(cwd, args);
      expect(second.code).toBe(0);
      const all = await readLines(cwd, 'done.jsonl');
      expect(all.map(({ url }) => url).sort()).toEqual([...urls].sort());
      expect(web.served()).toBe(24 - before);
      expect(await here(cwd, args)).toMatchObject({ code: 0 });
      expect(await readLines(cwd, 'done.jsonl')).toHaveLength(24);
    }));

  it('keeps what was done on Ctrl-C also without --resume, whole lines only', () =>
    inTemporaryFolder(async (cwd) => {
      const urls = Array.from({ length: 8 }, (_, n) => web.url(0, n < 4 ? n : `/_/hang?n=${n}`));
      const started = orcrawl(cwd, ['batch', '-', '--stream', '--monitor', 'none'], urls.join('\n'));
      await until(() => lines(started.stdout()).length >= 4, 'what is fast is written');
      started.signal('SIGINT');
      const { code, stdout, stderr } = await started.ended;
      expect(code).toBe(130);
      expect(
        items(stdout)
          .map(({ url }) => url)
          .sort(),
      ).toEqual(urls.slice(0, 4).sort());
      expect(stderr).toContain('--resume');
    }));

  it('ends with 3 when the disk is full, and --resume finishes the rest', () =>
    inTemporaryFolder(async (cwd) => {
      const urls = Array.from({ length: 40 }, (_, page) => web.url(page % 2, page));
      await writeFile(path.join(cwd, 'urls.txt'), urls.join('\n'));
      const args = ['batch', 'urls.txt', '--resume', 'done.jsonl', '--monitor', 'none'];
      const full = await startNode([MAIN, ...args], { cwd, maxFileKb: 64 }).ended;
      expect([full.code, full.stdout]).toEqual([3, '']);
      expect(full.stderr).toContain('STORAGE_FULL');
      expect(full.stderr).toContain('--resume done.jsonl');
      const { code } = await here(cwd, args);
      expect(code).toBe(0);
      const all = await readLines(cwd, 'done.jsonl');
      expect(all.map(({ url }) => url).sort()).toEqual([...urls].sort());
    }));

  it('asks for nothing that robots.txt forbids with --respect-robots', () =>
    inTemporaryFolder(async (cwd) => {
      const { code, stdout } = await here(cwd, ['batch', web.url(0, 1), '--respect-robots', '--monitor', 'none']);
      expect(code).toBe(0);
      expect(items(stdout)).toHaveLength(1);
      expect(web.served()).toBeGreaterThanOrEqual(2);
    }));

  it('ends with 1 and one line for wrong usage, before anything is asked', () =>
    inTemporaryFolder(async (cwd) => {
      web.reset();
      const wrong = [
        ['batch', web.url(0), '--fields', 'urls'],
        ['batch', 'no-such-file'],
        ['batch', 'no-such-list.txt'],
        ['batch', web.url(0), '--cache', 'sometimes'],
        ['batch', web.url(0), '--delay', '3-1'],
        ['batch', web.url(0), '--resume', 'x.jsonl', '--format', 'csv'],
        ['batch', web.url(0), '--wait-for', '#main'],
        ['batch', web.url(0), '--raw-csv'],
        ['batch', web.url(0), '--format', 'fit', '--fields', 'url'],
        ['batch', web.url(0), '--allow-private', '--refuse-private'],
      ];
      for (const args of wrong) {
        const { code, stdout, stderr } = await here(cwd, args);
        expect([args.join(' '), code, stdout, lines(stderr).length]).toEqual([args.join(' '), 1, '', 1]);
      }
      expect(web.served()).toBe(0);
    }));
});

describe('orcrawl cache', () => {
  it('shows, gives, prunes and clears what batches stored', () =>
    inTemporaryFolder(async (cwd) => {
      expect((await here(cwd, ['cache', 'stats'])).stderr).toContain('no page cache');
      const urls = [web.url(0, 1), web.url(0, 2)];
      await here(cwd, ['batch', ...urls, '--cache', 'enabled', '--monitor', 'none']);
      web.reset();
      const again = await here(cwd, ['batch', ...urls, '--cache', 'read_only', '--monitor', 'none']);
      expect(items(again.stdout).map(({ cacheStatus }) => cacheStatus)).toEqual(['hit', 'hit']);
      expect(web.served()).toBe(0);
      expect((await run(cwd, ['cache', 'stats'])).stdout).toMatch(/^2 pages, /);
      expect(lines((await here(cwd, ['cache', 'list'])).stdout)).toHaveLength(2);
      expect((await here(cwd, ['cache', 'get', urls[0]!])).stdout).toContain('<title>');
      expect((await here(cwd, ['cache', 'get', web.url(0, 9)])).code).toBe(2);
      expect((await here(cwd, ['cache', 'prune', '--older-than', '1h'])).stdout).toBe('removed 0 pages\n');
      expect((await here(cwd, ['cache', 'prune', '--older-than', 'long'])).code).toBe(1);
      expect((await here(cwd, ['cache', 'clear'])).stdout).toBe('removed 2 pages\n');
    }));
});
