// The checker of the fault tests finds what is planted: a page lost, stored twice, requested early, a hang, damage.
// It shares no code with src/, so it is tried on files made by hand.
import { mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CaseFacts, checkCase, type RunFacts } from './suite/case.js';

const PORT = 8000;
const url = (page: number) => `http://127.77.0.1:${PORT}${page === 0 ? '/' : `/p/${page}`}`;
const title = (page: number) => `Page ${page} of host 0`;
const END: RunFacts = { name: 'run', code: 0, end: 'itself', stdout: 'nothing is left to crawl', stderr: '' };

interface Planted {
  readonly items?: readonly string[];
  readonly pages?: readonly number[];
  readonly index?: readonly number[];
  readonly requests?: readonly (readonly [at: number, end: number])[];
  readonly run?: Partial<RunFacts>;
  readonly mayBeIncomplete?: boolean;
}

const item = (page: number, text = title(page)) => JSON.stringify({ url: url(page), title: text });

async function verdictOf(planted: Planted) {
  const folder = mkdtempSync(join(tmpdir(), 'orcrawl-checker-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const data = join(folder, 'ssd1');
  mkdirSync(join(data, 'content'), { recursive: true });
  mkdirSync(join(folder, 'items'));
  writeFileSync(
    join(folder, 'items', 'a.jsonl'),
    (planted.items ?? [0, 1, 2].map((page) => item(page))).map((line) => `${line}\n`).join(''),
  );
  const stored = planted.pages ?? [0, 1, 2];
  const members = stored.map((page) => gzipSync(record(page)));
  const offsets = members.map((_, n) => members.slice(0, n).reduce((sum, { length }) => sum + length, 0));
  writeFileSync(join(data, 'content', '1.warc.wet.gz'), Buffer.concat(members));
  const lines = (planted.index ?? stored.map((_, n) => n)).map(
    (n) =>
      `x 2026 ${JSON.stringify({ url: url(stored[n]!), offset: String(offsets[n]), length: String(members[n]!.length) })}\n`,
  );
  writeFileSync(join(data, 'content', '1.warc.wet.cdxj'), lines.join(''));
  const requests = planted.requests ?? [0, 1, 2].map((n) => [n * 200, n * 200 + 50] as const);
  writeFileSync(
    join(folder, 'log'),
    requests
      .map(([at, end], n) => `${JSON.stringify({ host: 0, path: url(n % 3).slice(21), at, end, how: 'sent' })}\n`)
      .join(''),
  );
  const facts: CaseFacts = {
    plan: { shape: 'tree', hosts: 1, pages: 3 },
    port: PORT,
    logFile: join(folder, 'log'),
    delayMs: 100,
    stores: [
      { kind: 'items', paths: [join(folder, 'items')] },
      { kind: 'content', paths: [data] },
    ],
    runs: [{ ...END, ...planted.run }],
    excused: [],
    mayBeIncomplete: planted.mayBeIncomplete ?? false,
  };
  return checkCase(folder, facts);
}

function record(page: number): string {
  const text = `${title(page)} and more`;
  const head = `WARC/1.1\r\nWARC-Type: conversion\r\nWARC-Target-URI: ${url(page)}\r\nContent-Length: ${text.length}`;
  return `${head}\r\n\r\n${text}\r\n\r\n`;
}

const NOTHING = { lost: 0, doubled: 0, early: 0, hung: 0, unsaid: 0, damaged: 0 };

describe('the checker', () => {
  it('has nothing to say of a good crawl', async () => {
    expect(await verdictOf({})).toMatchObject({ ...NOTHING, pages: 3, stored: 3 });
  });

  it.each([
    ['a lost item', { items: [item(0), item(2)] }, { lost: 1, unsaid: 1 }],
    ['a lost text', { pages: [0, 1] }, { lost: 1, unsaid: 1 }],
    ['an item twice', { items: [0, 1, 2, 1].map((page) => item(page)) }, { doubled: 1 }],
    ['a text twice', { pages: [0, 1, 2, 2] }, { doubled: 1 }],
    ['an item of another page', { items: [item(0), item(1, title(2)), item(2)] }, { damaged: 1 }],
    ['a torn line', { items: [item(0), item(1), item(2), '{"url'] }, { damaged: 1 }],
    ['a record without an index line', { index: [0, 1] }, { damaged: 1 }],
    ['an index line without a record', { index: [0, 1, 2, 2] }, { damaged: 1 }],
    [
      'a request too early',
      {
        requests: [
          [0, 50],
          [149, 160],
          [400, 410],
        ],
      },
      { early: 0 },
    ],
    [
      'a request too early',
      {
        requests: [
          [0, 50],
          [140, 160],
          [400, 410],
        ],
      },
      { early: 1 },
    ],
    [
      'two requests at once',
      {
        requests: [
          [0, 50],
          [20, 30],
          [400, 410],
        ],
      },
      { early: 1 },
    ],
    ['a hang', { run: { end: 'hung', code: null } }, { hung: 1 }],
    [
      'a loss that may be, and is said',
      { pages: [0, 1], mayBeIncomplete: true, run: { code: 4, stderr: 'emptied' } },
      { saidMissing: 1 },
    ],
    ['a loss that may be, and is not said', { pages: [0, 1], mayBeIncomplete: true }, { lost: 1, unsaid: 1 }],
    ['a loss that may not be, and is said', { pages: [0, 1], run: { code: 4, stderr: 'emptied' } }, { lost: 1 }],
  ] satisfies [string, Planted, object][])('finds %s', async (_, planted, found) => {
    expect(await verdictOf(planted)).toMatchObject({ ...NOTHING, ...found });
  });

  it('and the server share no code with src/', () => {
    const web = new URL('./web/', import.meta.url);
    for (const file of readdirSync(web)) {
      const imports = readFileSync(new URL(file, web), 'utf8').matchAll(/from '([^']+)'/g);
      for (const [, from] of imports) expect(from, file).toMatch(/^node:|^\.\/[\w-]+\.mjs$/);
    }
  });
});
