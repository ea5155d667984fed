// Compares the scanner with a parse5 tree on every real page there is: links, link texts, titles, text.
// The rules by which the two may differ are listed here; anything else is a failure.
import { describe, expect, it } from 'vitest';
import { decodeBody, detectEncoding } from '../../src/parse/encoding/encoding.js';
import { scanPage } from '../../src/parse/scan/scan.js';
import { collapse, readPages, treeView } from './parse5-view.js';

const URL_OF_PAGE = 'https://example.com/dir/page?x=1';
/**
 * Rules by which the scanner may differ from the tree:
 * 1. Clones: where `a` is misnested (`<a><p></a></p>`), a tree holds copies of it; the scanner reports the tag once, with
 *    the text of all its copies. Copies are counted and must stay under 0.1 % of the links.
 */
const MAX_CLONE_SHARE = 0.001;
let links = 0;
let clones = 0;

for (const folder of ['pages/', 'wcxb/html/']) {
  const pages = readPages(folder);
  describe.skipIf(pages.length === 0)(
    `${folder}${pages.length === 0 ? ' (skipped: ../shared/data is not here)' : ''}`,
    () => {
      it('gives the links, link texts, titles and text of a parse5 tree', { timeout: 300_000 }, () => {
        const wrongLinks: unknown[] = [];
        const wrongTitles: unknown[] = [];
        const wrongTexts: unknown[] = [];
        for (const { name, bytes } of pages) {
          const tree = treeView(decodeBody(bytes, detectEncoding(bytes)), URL_OF_PAGE);
          const page = scanPage(bytes, { url: URL_OF_PAGE });
          links += tree.links.length;
          clones += tree.clones;
          // The label of `area` is its `alt`, which is no text of the tree.
          const scanned = page.links.map(({ url, element, text }) => ({
            url,
            element,
            text: element === 'area' ? '' : text,
          }));
          const differing = scanned.findIndex((link, k) => JSON.stringify(link) !== JSON.stringify(tree.links[k]));
          if (differing >= 0 || scanned.length !== tree.links.length) {
            wrongLinks.push({ name, scanned: scanned[differing], tree: tree.links[differing] });
          }
          if (page.title !== tree.title) wrongTitles.push({ name, scanned: page.title, tree: tree.title });
          if (collapse(page.text) !== tree.text) wrongTexts.push(name);
        }
        expect(wrongLinks).toEqual([]);
        expect(wrongTitles).toEqual([]);
        expect(wrongTexts).toEqual([]);
        expect(links).toBeGreaterThan(pages.length);
        expect(clones / links).toBeLessThan(MAX_CLONE_SHARE * 1.2);
      });
    },
  );
}

it('differs from the tree only by clones of misnested links, fewer than one in a thousand', () => {
  expect(clones).toBeLessThanOrEqual(links * MAX_CLONE_SHARE);
});
