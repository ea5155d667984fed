// The extractor against real pages: the tree beside parse5's, markdown through CommonMark and back, and the score.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { parse } from 'parse5';
import { describe, expect, it } from 'vitest';
import { extractContent, viewPage } from '../../src/crawl/page/extraction.js';
import { TEXT } from '../../src/extract/page/elements.js';
import type { Counts, Node } from '../support/markdown-round-trip.js';
import { add, childrenOf, matched, roundTrip, squeeze, textOf } from '../support/markdown-round-trip.js';

const WCXB = new URL('../../../shared/data/wcxb/', import.meta.url);
const isHere = existsSync(new URL('truth.jsonl.gz', WCXB));
// eslint-disable-next-line no-console -- a skipped suite says so
if (!isHere) console.warn('../shared/data/wcxb is not here: the extractor is not checked against real pages');

interface TruePage {
  readonly id: string;
  readonly url: string;
  readonly main: string;
}

/** Every n-th page, so that a run stays short. */
function pages(every: number): (TruePage & { body: Buffer })[] {
  const lines = gunzipSync(readFileSync(new URL('truth.jsonl.gz', WCXB)))
    .toString('utf8')
    .trim()
    .split('\n');
  return lines
    .filter((_, k) => k % every === 0)
    .map((line) => JSON.parse(line) as TruePage)
    .map((page) => ({ ...page, body: gunzipSync(readFileSync(new URL(`html/${page.id}.html.gz`, WCXB))) }));
}

const tokens = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

function f1(found: string[], wanted: string[]): number {
  const [a, b]: [Counts, Counts] = [new Map(), new Map()];
  for (const word of found) add(a, word);
  for (const word of wanted) add(b, word);
  const [common] = matched(a, b);
  return found.length + wanted.length === 0 ? 1 : (2 * common) / (found.length + wanted.length);
}

describe.skipIf(!isHere)('extraction from real pages', () => {
  it('nests more than 98 % of the texts as parse5 does', () => {
    const skipped = new Set(['html', 'head', 'body', 'tbody']);
    let common = 0;
    let total = 0;
    for (const { body } of pages(12)) {
      const { tree } = viewPage(body, { contentType: 'text/html' });
      const ours: Counts = new Map();
      for (let node = 1; node < tree.count; node++) {
        if (tree.tag[node] !== TEXT) continue;
        const text = squeeze(tree.decode(tree.from[node]!, tree.to[node]!));
        const path: string[] = [];
        for (let up = tree.parent[node]!; up > 0; up = tree.parent[up]!)
          if (!skipped.has(tree.name(up))) path.push(tree.name(up));
        if (text !== '') add(ours, `${text.slice(0, 60)} in ${path.join(' ')}`);
      }
      const theirs: Counts = new Map();
      const visit = (node: Node, path: readonly string[]): void => {
        for (const child of childrenOf(node)) {
          if (child.nodeName === '#text') {
            const text = squeeze(textOf(child));
            if (text !== '' && !/^(?:script|style|iframe|noembed|noframes|xmp)$/.test(node.nodeName)) {
              add(theirs, `${text.slice(0, 60)} in ${path.join(' ')}`);
            }
          } else if (child.nodeName !== 'svg')
            visit(child, skipped.has(child.nodeName) ? path : [child.nodeName, ...path]);
        }
      };
      visit(parse(tree.bytes.toString('utf8'), { scriptingEnabled: false }), []);
      const [same, all] = matched(theirs, ours);
      common += same;
      total += all;
    }
    expect(total).toBeGreaterThan(10_000);
    expect(common / total).toBeGreaterThan(0.985);
  });

  it('keeps text, headings, lists, cells, code and links from HTML to markdown and back', () => {
    let common = 0;
    let total = 0;
    for (const { id, body } of pages(20)) {
      const { sameText, kept } = roundTrip(body);
      expect(sameText, id).toBe(true);
      for (const [same, all] of kept.values()) {
        common += same;
        total += all;
      }
    }
    expect(total).toBeGreaterThan(4_000);
    expect(common / total).toBeGreaterThanOrEqual(0.99);
  });

  it('scores no lower than when it was trained', () => {
    const scores = pages(8).map(({ body, url, main }) =>
      f1(tokens(extractContent(body, { url: url || null }).text), tokens(main)),
    );
    // 0.92 over all pages with these weights, which have seen them; the cross-validated figure is in bench/EXTRACTION.md.
    expect(scores.reduce((sum, score) => sum + score, 0) / scores.length).toBeGreaterThan(0.89);
  });

  it('gives something for every page of the other corpus', () => {
    const folder = new URL('../../../shared/data/pages/', import.meta.url);
    const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.html.gz')) : [];
    for (const file of files.slice(0, 40)) {
      const { text, html } = extractContent(gunzipSync(readFileSync(new URL(file, folder))));
      expect(text.length, file).toBeGreaterThan(0);
      expect(html, file).not.toMatch(/<script|javascript:/i);
    }
  });
});
