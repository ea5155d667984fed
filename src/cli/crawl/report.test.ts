import { describe, expect, it } from 'vitest';
import { CrawlError } from '../../errors.js';
import { exitCodeFor } from '../commands/crawl.js';
import { EXIT, exitCodeOf } from '../exit-codes.js';
import { createReasons, summaryLines, type CrawlReport } from './report.js';

const REPORT: CrawlReport = {
  orcrawl: '0.0.0',
  outcome: 'finished',
  urls: ['https://example.com/'],
  startedAt: '2026-01-01T00:00:00.000Z',
  endedAt: '2026-01-01T00:00:10.000Z',
  durationMs: 10_000,
  pagesThisRun: 1200,
  failedThisRun: 0,
  pagesPerSec: 120,
  pages: 1200,
  failed: 0,
  skipped: 0,
  pending: 0,
  errorPages: {},
  answers: { 200: 1200 },
  failures: [],
  leftOut: [],
  invalidLines: 0,
  folder: 'out',
  result: { path: 'out/pages.jsonl', bytes: 12_300_000 },
};

describe('the closing summary', () => {
  it('counts redirects apart from what was skipped', () => {
    const answers = { 200: 10, 301: 3, 302: 2, 404: 1 };
    expect(summaryLines({ ...REPORT, skipped: 7, answers })[1]).toBe(
      '  Pages     1,200 stored, 0 failed, 5 redirected, 2 skipped',
    );
  });

  it('gives a line of advice about a dead host, and about pages that need scripts', () => {
    const failures = [{ reason: 'CONNECT_REFUSED', count: 1, example: 'http://a.test/' }];
    const shells = { count: 2, example: 'http://a.test/app' };
    const lines = summaryLines({ ...REPORT, failed: 1, failures, shells }).join('\n');
    expect(lines).toContain('CONNECT_REFUSED: Does the server run');
    expect(lines).toMatch(/Scripts +2 pages with little .*a\.test\/app\n.*--auto/);
  });

  it('says what happened, where the data is and what to do next', () => {
    expect(summaryLines(REPORT)).toEqual([
      'Finished: 1,200 pages in 10 s, 120 per second.',
      '  Pages     1,200 stored, 0 failed',
      '  Answers   200 × 1,200',
      '  Data      out/pages.jsonl (12 MB)',
      '  Report    out/report.json',
      '  Next      head -n 1 out/pages.jsonl',
    ]);
  });

  it('shows how to look at a result that is not text', () => {
    const result = { path: 'my out/pages.parquet', bytes: 10 };
    expect(summaryLines({ ...REPORT, folder: 'my out', result }).at(-1)).toMatch(/ export 'my out' \| head -n 1$/);
  });

  it('tells how to go on after a limit and after an interruption', () => {
    const next = (outcome: CrawlReport['outcome']) => summaryLines({ ...REPORT, outcome, folder: 'my out' }).at(-1);
    expect(next('limit')).toContain("crawl --resume --out 'my out' --max-pages 2400");
    expect(next('interrupted')).toMatch(/crawl --resume --out 'my out'$/);
  });

  it('escapes what pages put into examples', () => {
    const failures = [{ reason: 'HTTP_STATUS', count: 2, example: 'x', message: 'a\u001b[2J\nb' }];
    const text = summaryLines({ ...REPORT, failed: 2, failures }).join('\n');
    expect(text).toContain('2 × HTTP_STATUS, such as a\\u001b[2J\\nb');
  });
});

describe('reasons', () => {
  it('are counted with their first case, the most frequent first, on top of earlier runs', () => {
    const reasons = createReasons([{ reason: 'depth', count: 3, example: 'https://a/' }]);
    for (const url of ['https://b/', 'https://c/', 'https://d/', 'https://e/']) reasons.add('filters', url);
    reasons.add('depth', 'https://f/');
    expect(reasons.list()).toEqual([
      { reason: 'depth', count: 4, example: 'https://a/' },
      { reason: 'filters', count: 4, example: 'https://b/' },
    ]);
  });
});

describe('exit codes', () => {
  it('tell how a crawl ended', () => {
    expect(exitCodeFor(REPORT)).toBe(EXIT.done);
    expect(exitCodeFor({ ...REPORT, failed: 1 })).toBe(2);
    expect(exitCodeFor({ ...REPORT, invalidLines: 1 })).toBe(2);
    expect(exitCodeFor({ ...REPORT, outcome: 'limit' })).toBe(0);
    expect(exitCodeFor({ ...REPORT, outcome: 'interrupted', failed: 1 })).toBe(130);
  });

  it('tell a full disk from every other error', () => {
    expect(exitCodeOf(new CrawlError('STORAGE_FULL'))).toBe(3);
    expect(exitCodeOf(new CrawlError('QUEUE_IN_USE'))).toBe(1);
    expect(exitCodeOf(new Error('any'))).toBe(1);
  });
});
