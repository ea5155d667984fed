// The visit log on disk and its audit: rotation, several writers, violations that must be found; and the host store
// that processes share.
import { appendFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { auditVisits } from '../../src/politeness/audit.js';
import { freshHost, type HostRecord, packHost, unpackHost } from '../../src/politeness/hosts.js';
import { openVisitLog, type VisitLine } from '../../src/politeness/visit-log.js';
import { openLmdbHosts } from '../../src/store/hosts-lmdb.js';
import { temporaryFolder } from '../support/crawl.js';

const line = (startMs: number, endMs: number, more: Partial<VisitLine> = {}): VisitLine => ({
  startMs,
  endMs,
  domain: 'example.com',
  kind: 'page',
  status: 200,
  restMs: 1_000,
  alone: true,
  holder: 'h',
  ...more,
});

/** Writes each list by a writer of its own. */
async function logged(folder: string, ...writers: VisitLine[][]): Promise<void> {
  for (const lines of writers) {
    const log = await openVisitLog({ folder, bootId: 'boot' });
    for (const one of lines) log.write(one);
    await log.close();
  }
}

describe('the visit log', () => {
  it('is audited over all its writers', async () => {
    const folder = await temporaryFolder();
    await logged(
      path.join(folder, 'default'),
      [line(0, 10, { kind: 'robots' }), line(2_020, 2_030), line(6_030, 6_040, { domain: 'other.com' })],
      [line(1_010, 1_020), line(3_030.5, 3_050, { status: 'FETCH_TIMEOUT', restMs: 4_000 }), line(7_050, 7_060)],
    );
    const audit = await auditVisits(folder);
    expect(audit).toMatchObject({ files: 2, requests: 6, violationCount: 0, missingFiles: 0, missingLines: 0 });
    expect(audit.statuses).toEqual({ 200: 5, FETCH_TIMEOUT: 1 });
    expect(audit.domains[0]).toMatchObject({
      queue: 'default',
      domain: 'example.com',
      requests: 5,
      robotsRequests: 1,
      smallestGapMs: 1_000,
      requiredMs: 1_000,
    });
  });

  it('shows requests that came too early, that overlapped, and that did not wait as asked', async () => {
    const folder = await temporaryFolder();
    await logged(
      folder,
      [line(0, 10), line(5_000, 5_010, { restMs: 3_000 })],
      [line(1_009, 1_020), line(1_015, 1_030), line(7_000, 7_010)],
    );
    const { violations, violationCount, domains } = await auditVisits(folder);
    expect(violationCount).toBe(3);
    expect(violations.map(({ gapMs, requiredMs }) => [Math.round(gapMs), Math.round(requiredMs)])).toEqual([
      [999, 1_000],
      [-5, 1_000],
      [1_990, 3_000],
    ]);
    expect(domains[0]!.violations).toBe(3);
  });

  it('does not hold a domain without a delay to rests it did not know of, nor compare queues', async () => {
    const folder = await temporaryFolder();
    await logged(path.join(folder, 'a'), [line(0, 10, { alone: false }), line(5, 20, { alone: false })]);
    await logged(path.join(folder, 'b'), [line(15, 30)]);
    expect((await auditVisits(folder)).violationCount).toBe(0);
  });

  it('is rotated by size, and the audit says what is gone', async () => {
    const folder = await temporaryFolder();
    const log = await openVisitLog({ folder, bootId: '', maxFileBytes: 2_000, maxFiles: 3 });
    for (let i = 0; i < 10; i++) {
      for (let n = 0; n < 1_000; n++) log.write(line((i * 1_000 + n) * 2_000, (i * 1_000 + n) * 2_000 + 5));
      log.count('skipped robotsTxt');
      await log.flush();
    }
    await log.close();
    const files = (await readdir(folder)).filter((name) => name.endsWith('.tsv'));
    expect(files.length).toBe(3);
    const audit = await auditVisits(folder);
    expect(audit.missingFiles).toBe(7);
    expect(audit.violationCount).toBe(0);
    expect(audit.decisions).toEqual({ 'skipped robotsTxt': 10 });
  });

  it('is read as far as it can be: half a line and foreign files are left out', async () => {
    const folder = await temporaryFolder();
    await logged(folder, [line(0, 10)]);
    const [file] = (await readdir(folder)).filter((name) => name.endsWith('.tsv'));
    await appendFile(path.join(folder, file!), '17.2\t18');
    await writeFile(path.join(folder, 'notes.tsv'), 'x');
    expect(await auditVisits(folder)).toMatchObject({ files: 1, requests: 1, missingLines: 1, violationCount: 0 });
  });
});

describe('hosts on disk', () => {
  const open = (folder: string, more: { shared?: boolean; maxBytes?: number; bootId?: string } = {}) =>
    openLmdbHosts({ folder, shared: false, bootId: 'this boot', pack: packHost, unpack: unpackHost, ...more });
  const withRules = (rules: string): HostRecord => ({ ...freshHost('bot'), rules, readAtMs: 7 });

  it('are kept, and at hand before they are written', async () => {
    const folder = path.join(await temporaryFolder(), 'hosts');
    for (const shared of [false, true]) {
      const hosts = open(folder, { shared });
      const name = `https://${shared}.example`;
      hosts.put(name, withRules('User-agent: *\nDisallow: /'));
      expect(await hosts.get(name)).toEqual(withRules('User-agent: *\nDisallow: /'));
      expect(await hosts.get('https://unknown.example')).toBeUndefined();
      await hosts.close();
      const again = open(folder, { shared });
      expect(await again.get(name)).toEqual(withRules('User-agent: *\nDisallow: /'));
      await again.close();
    }
  });

  it('forget the oldest beyond their bytes', async () => {
    const folder = path.join(await temporaryFolder(), 'hosts');
    const hosts = open(folder, { maxBytes: 50_000 });
    for (let i = 0; i < 1_000; i++) hosts.put(`https://h${i}`, withRules('x'.repeat(1_000)));
    hosts.put('https://h0', withRules('again'));
    await hosts.close();
    const again = open(folder);
    const kept: string[] = [];
    for (let i = 0; i < 1_000; i++) if (await again.get(`https://h${i}`)) kept.push(`h${i}`);
    await again.close();
    expect(kept.length).toBeGreaterThan(20);
    expect(kept.length).toBeLessThan(50);
    expect(kept).toContain('h999');
    expect(kept).not.toContain('h1');
  });

  it('are claimed by one of all who have them open', async () => {
    const folder = path.join(await temporaryFolder(), 'hosts');
    const hosts = open(folder, { shared: true });
    expect(await hosts.claim('a', 60_000)).toBe(true);
    expect(await hosts.claim('a', 60_000)).toBe(false);
    expect(await hosts.claim('b', 60_000)).toBe(true);
    hosts.put('a', freshHost('bot'));
    await hosts.close();
    const again = open(folder, { shared: true });
    expect(await again.claim('a', 60_000)).toBe(true);
    expect(await again.claim('b', 60_000)).toBe(false);
    await again.close();
  });

  it('do not outlive the boot in which they were not flushed', async () => {
    const folder = path.join(await temporaryFolder(), 'hosts');
    for (const [bootId, isKept] of [
      ['first', false],
      ['first', true],
      ['second', false],
    ] as const) {
      const hosts = open(folder, { bootId });
      expect((await hosts.get('a')) !== undefined).toBe(isKept);
      hosts.put('a', freshHost('bot'));
      await hosts.close();
    }
  });

  it('are made anew when their file is none', async () => {
    const folder = path.join(await temporaryFolder(), 'hosts');
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, 'data.mdb'), Buffer.alloc(8_192, 7));
    const hosts = open(folder);
    hosts.put('a', freshHost('bot'));
    await hosts.close();
    const again = open(folder);
    expect(await again.get('a')).toEqual(freshHost('bot'));
    await again.close();
  });
});
