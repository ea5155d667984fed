// Options of content: each of them, at every place where users can give it, against what extractContent makes of it.
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { pageItem } from '../../src/cli/crawl/page-item.js';
import { contentOf } from '../../src/cli/flags/content.js';
import { runConfigOf, type RunFlags } from '../../src/cli/flags/page.js';
import { addPageFlags } from '../../src/cli/flags/table.js';
import { resolveRunConfig } from '../../src/crawl/batch/run-config.js';
import { pageExtraction } from '../../src/crawl/page/extraction.js';
import { createResultContent } from '../../src/crawl/page/result-content.js';
import { CONTENT_CHOICES, CONTENT_PARTS, type ContentOptions } from '../../src/extract/content-options.js';
import { extractContent, toMarkdown } from '../../src/index.js';
import { createPageContent } from '../../src/parse/page.js';
import { scrapeOptionsBody } from '../../src/serve/api/schemas.js';
import { nothingTaken } from '../../src/serve/pages/actions.js';
import { documentOf, pageSource } from '../../src/serve/pages/document.js';
import { pageWish } from '../../src/serve/pages/formats.js';

const SENTENCE = 'Orcas hunt in pods and share what they catch, which takes years to learn. ';
const paragraph = (n: number) => `<p>${n}. ${SENTENCE.repeat(4)}</p>`;
const PAGE = `<!doctype html><html lang="en"><head><title>How orcas hunt - Sea News</title></head><body>
<nav><a href="/">Home</a> <a href="/news">News</a></nav>
<article><h1>How orcas hunt</h1><p class="byline author">By Ada Marsh, 3 May 2024</p>
<div id="toc" class="toc"><h2>Contents</h2><ul><li><a href="#a">Packs</a></li><li><a href="#b">Prey</a></li></ul></div>
${paragraph(1)}<figure><img src="/orca.jpg" alt="An orca"><figcaption>An orca at the coast of Norway in winter</figcaption></figure>
<h2 id="a">Packs</h2>${paragraph(2)}${paragraph(3)}<p style="display:none">Secret words for machines that nobody reads here.</p>
<h2 id="b">Prey</h2><p>Its speed is <math><mfrac><mn>1</mn><mn>2</mn></mfrac></math> of a boat's, say those who measured it for years.</p>${paragraph(4)}
<p>Read also: <a href="/seals">how seals escape from orcas</a></p></article>
<section id="comments" class="comments"><h2>Comments</h2><div class="comment"><p>I saw one last week near the harbour with my whole family, and it was great to watch it for an hour.</p></div>
<div class="comment"><p>So did I, and it was not afraid of us at all, though we came rather close to it with our boat.</p></div></section>
<footer>All rights reserved. <a href="/imprint">Imprint</a></footer></body></html>`;
const URL_ = 'https://news.example/orcas';
const HTML = 'text/html; charset=utf-8';
const BODY = Buffer.from(PAGE);
const CAPTURE = {
  url: URL_,
  loadedUrl: URL_,
  statusCode: 200,
  headers: { 'content-type': HTML },
  redirectChain: [],
  body: BODY,
  wireBytes: BODY.length,
  timings: { startedAtMs: 0, headersMs: 0, totalMs: 0 },
};

function typed(options: ContentOptions): RunFlags {
  const args = Object.entries(options).flatMap(([name, value]) =>
    typeof value === 'boolean' ? [value ? '--keep' : '--leave-out', name] : [`--${name}`, value as string],
  );
  return addPageFlags(new Command(), 'scrape', {}).exitOverride().parse(args, { from: 'user' }).opts();
}

/** Each gives the main content as markdown. */
const PLACES: Record<string, (options: ContentOptions) => string | Promise<string | undefined> | undefined> = {
  'content.main()': (options) => createPageContent(BODY, URL_, HTML, pageExtraction).main(options).markdown,
  toMarkdown: (options) => toMarkdown(BODY, { url: URL_, contentType: HTML, ...options }).fit,
  'a document’s extractContent': async (options) =>
    (await extractContent(BODY, { url: URL_, contentType: HTML, ...options, documents: true })).markdown,
  'the config of a run': (content) => createResultContent(CAPTURE, resolveRunConfig({ content })).markdown.fit,
  'flags of scrape and batch': (options) => createResultContent(CAPTURE, runConfigOf(typed(options))).markdown.fit,
  'flags of crawl': async (options) => {
    const page = { ...CAPTURE, depth: 0, contentType: 'text/html', encoding: 'utf-8', engine: 'http' as const };
    const content = createPageContent(BODY, URL_, HTML, pageExtraction);
    return (await pageItem({ ...page, content }, { markdown: true, ...contentOf(typed(options)) })).markdown;
  },
  'a scrape of the API': (content) => {
    const wish = pageWish(scrapeOptionsBody.parse({ content }), { browser: false, scripts: false, model: false });
    return documentOf(pageSource({ ...CAPTURE, contentType: HTML }, wish), wish, nothingTaken()).markdown;
  },
};

const CHOICES = Object.entries(CONTENT_CHOICES).flatMap(([name, values]) =>
  values.map((value): ContentOptions => ({ [name]: value })),
);

describe('the options of content', () => {
  it.each(Object.keys(PLACES))('mean the same in %s as in extractContent', async (place) => {
    for (const options of [{}, ...CHOICES, { favor: 'recall', title: true, comments: true } as const]) {
      const expected = extractContent(BODY, { url: URL_, contentType: HTML, ...options }).markdown;
      expect([options, await PLACES[place]!(options)]).toEqual([options, expected]);
    }
  });

  it('each change what is kept of the page', () => {
    for (const [name, values] of Object.entries(CONTENT_CHOICES)) {
      if (name === 'favor') continue;
      const made = values.map((value) => extractContent(BODY, { url: URL_, [name]: value }).markdown);
      expect([name, new Set(made).size]).toEqual([name, values.length]);
    }
  });

  it('are refused by name where they are wrong', () => {
    const content = createPageContent(BODY, URL_, HTML, pageExtraction);
    expect(() => content.main({ favor: 'speed' as never })).toThrow(/content\.main .*"favor".*"precision"/);
    expect(() => content.main({ captoins: true } as never)).toThrow('captoins');
    expect(() => resolveRunConfig({ content: { math: 'tex' as never } })).toThrow(/content .*"math"/);
    expect(() => typed({ headings: true } as never)).toThrow('"headings" is not a part');
    expect(() => contentOf({ keep: ['title'], leaveOut: [...CONTENT_PARTS] })).toThrow('both name "title"');
    expect(scrapeOptionsBody.safeParse({ content: { hidden: 'yes' } }).success).toBe(false);
  });

  it('are worked out once per choice', () => {
    const content = createPageContent(BODY, URL_, HTML, pageExtraction);
    expect(content.main({ favor: 'recall' })).toBe(content.main({ favor: 'recall' }));
    expect(content.main()).not.toBe(content.main({ favor: 'recall' }));
    expect(content.markdown({ hidden: 'keep' })).toContain('Secret words');
    expect(content.markdown()).not.toContain('Secret words');
  });
});
