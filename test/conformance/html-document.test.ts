// The document of `$` on real pages beside that of htmlparser2, which Crawlee gives its handlers: node by node.
// Where they differ, the HTML standard says what ours says; the rules are listed, and every difference fits one.
import { describe, expect, it } from 'vitest';
import type { CheerioAPI } from 'cheerio';
import { documentOf } from '../../src/crawl/page/document.js';
import { loadDocument } from '../../src/handle/document.js';
import { detectEncoding, toUtf8 } from '../../src/parse/encoding/encoding.js';
import { scanLinks, scanPage } from '../../src/parse/scan/scan.js';
import { readPages } from './parse5-view.js';

/** One page in so many, so that CI takes seconds; all with ORCRAWL_ALL_PAGES=1. */
const STEP = process.env['ORCRAWL_ALL_PAGES'] ? 1 : 12;

interface AnyNode {
  readonly type: string;
  readonly name?: string;
  readonly data?: string;
  readonly attribs?: Readonly<Record<string, string>>;
  readonly children?: readonly AnyNode[];
}

// Rule 1: line ends are normalised, as the standard does before it reads anything.
const normal = (text: string): string => text.replace(/\r\n?/g, '\n');

function lines(root: AnyNode, out: string[] = []): string[] {
  for (const node of root.children!) {
    if (node.attribs === undefined) {
      out.push(`${node.type} ${normal(node.data ?? '')}`);
      continue;
    }
    const attributes = Object.entries(node.attribs).map(([name, value]) => `${name}=${normal(value)}`);
    out.push(`<${node.name} ${attributes.join('|')}`);
    lines(node, out);
    out.push(`/${node.name}`);
  }
  return out;
}

/** Rules under which the documents of a page may differ; the standard is ours in each. */
const RULES: Record<string, RegExp> = {
  // Rule 2: inside `<!--` of a script, `<script>` hides the next `</script>`.
  'a script hidden in a script': /<script[^>]*>(?:(?!<\/script)[^])*?<!--(?:(?!-->)[^])*?<script/i,
  // Rule 3: outside SVG and MathML, `<![CDATA[` is a comment up to the next `>`, not to `]]>`.
  'CDATA in HTML': /<!\[CDATA\[/,
};

function view($: CheerioAPI) {
  return {
    title: normal($('title').text()),
    hrefs: $('a[href]')
      .toArray()
      .map((node) => normal($(node).attr('href')!)),
    // A CR that ends one node and an LF that begins the next are two line ends, which joined would look like one.
    text: $('body')
      .text()
      .replace(/[\r\n]+/g, '\n'),
    names: $('*')
      .toArray()
      .map((node) => (node as unknown as AnyNode).name),
  };
}

for (const folder of ['pages/', 'wcxb/html/']) {
  const pages = readPages(folder);
  const chosen = pages.filter((_, index) => index % STEP === 0);
  const isHere = pages.length > 0;
  describe.skipIf(!isHere)(`${folder}${isHere ? '' : ' (skipped: ../shared/data is not here)'}`, () => {
    it('gives the document of htmlparser2, but for listed rules', () => {
      let explained = 0;
      for (const { name, bytes: body } of chosen) {
        const bytes = toUtf8(body, detectEncoding(body, 'text/html'));
        const [own, other] = [documentOf(bytes), loadDocument(bytes.toString('utf8'))];
        const found = lines(own.root()[0] as unknown as AnyNode);
        const expected = lines(other.root()[0] as unknown as AnyNode);
        const at = expected.findIndex((line, k) => line !== found[k]);
        if (at < 0 && found.length === expected.length) {
          expect(view(own), name).toEqual(view(other));
          continue;
        }
        explained++;
        const rule = Object.values(RULES).some((pattern) => pattern.test(bytes.toString('utf8')));
        expect(rule, `${name} differs at node ${at}: ${found[at]?.slice(0, 200)}`).toBe(true);
      }
      // Of 726 pages three differ.
      expect(explained).toBeLessThanOrEqual(2);
    }, 300_000);

    it('has the same links when only links are scanned', () => {
      const options = { url: 'https://example.com/dir/page?x=1' };
      for (const { name, bytes } of chosen) {
        const whole = scanPage(bytes, options);
        const { links, robots, canonical } = scanLinks(bytes, options);
        const expected = whole.links.map(({ url, rel, element }) => ({ url, rel, element }));
        expect(
          links.map(({ url, rel, element }) => ({ url, rel, element })),
          name,
        ).toEqual(expected);
        expect([robots, canonical], name).toEqual([whole.robots, whole.canonical]);
      }
    });
  });
}
