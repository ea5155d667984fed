import { expect, it } from 'vitest';
import type { Document } from './document.js';
import { finishDocument } from './finish.js';
import { pageWish } from './formats.js';

const URL = 'http://a.example/';
const kept = new Map<string, string>();
const versions = {
  peek: async (name: string) => kept.get(name),
  async swap(name: string, value: string) {
    const before = kept.get(name);
    kept.set(name, value);
    return before;
  },
};

/** What a job is told of the page, which has this text or status now. */
async function told(by: string | undefined, page: string | number, compared = String(page)): Promise<unknown> {
  const formats = [{ type: 'changeTracking' as const, modes: ['git-diff' as const] }];
  const wish = pageWish({ formats }, { browser: false, scripts: false, model: false }, by);
  const document: Document =
    typeof page === 'number' ? { markdown: 'no', metadata: { statusCode: page } } : { markdown: page, metadata: {} };
  await finishDocument(document, { url: URL, markdown: {} as never, compared }, wish, 'me', {
    model: undefined,
    versions,
  });
  return document.changeTracking?.changeStatus;
}

it('tells a job that does a page again the same as before, and the next job what changed since', async () => {
  expect([await told('one', 'first'), await told('one', 'first')]).toEqual(['new', 'new']);
  expect([await told('two', 'second'), await told('two', 'second'), await told('two', 'second')]).toEqual([
    'changed',
    'changed',
    'changed',
  ]);
  expect(await told('three', 'second')).toBe('same');
  expect([await told(undefined, 'third'), await told(undefined, 'third')]).toEqual(['changed', 'same']);
});

it('tells once that a page is gone, and does not take an error page for a version', async () => {
  await told('four', 'there');
  expect([await told('five', 503), await told('six', 'there')]).toEqual([undefined, 'same']);
  expect([await told('seven', 404), await told('seven', 404), await told('eight', 404)]).toEqual([
    'removed',
    'removed',
    undefined,
  ]);
  expect(await told('nine', 'there')).toBe('new');
});

it('compares what crawls that remember compare, and by the markdown what an older release kept', async () => {
  await told('ten', 'one thing', 'what the page says');
  expect(await told('eleven', 'another choice of the page', 'what the page says')).toBe('same');
  expect(await told('twelve', 'another choice of the page', 'what it says now')).toBe('changed');
  for (const [name, value] of kept) {
    const { contentHash: _, by: __, ...version } = JSON.parse(value) as Record<string, unknown>;
    kept.set(name, JSON.stringify(version));
  }
  expect(await told('13', 'another choice of the page', 'whatever')).toBe('same');
  expect(await told('14', 'another choice of the page', 'whatever else')).toBe('changed');
});
