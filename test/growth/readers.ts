// Every function that reads untrusted input: a page, a URL, a header, a robots.txt, a sitemap, a cookie, a text.
// readers.test.ts proves that they reach every exported function of the rooms that read such things.
import { comparedText } from '../../src/extract/page/compared-text.js';
import { percentDecoded } from '../../src/request/percent-decoded.js';
import { nestsDeeperThan } from '../../src/base/json-depth.js';
import {
  initialAgeSecs,
  isOtherVersion,
  policyResponse,
  storableHeaders,
  updatedHeaders,
  httpDateMs,
} from '../../src/crawl/navigate/cache-headers.js';
import {
  acceptsType,
  contentTypeOf,
  decodingHeader,
  encodingName,
  isJson,
  isXml,
} from '../../src/crawl/navigate/content-type.js';
import { createRenderingMemory, needsScripts } from '../../src/crawl/navigate/rendering.js';
import { documentOf } from '../../src/crawl/page/document.js';
import * as extraction from '../../src/crawl/page/extraction.js';
import { createResultContent } from '../../src/crawl/page/result-content.js';
import { followRule, forbidsFollowing, isNofollow } from '../../src/crawl/polite/nofollow.js';
import { readDocx } from '../../src/documents/formats/docx.js';
import { readEpub } from '../../src/documents/formats/epub.js';
import { readOdf } from '../../src/documents/formats/odf.js';
import { readPptx } from '../../src/documents/formats/pptx.js';
import { readXlsx } from '../../src/documents/formats/xlsx.js';
import { documentFormatOf } from '../../src/documents/format.js';
import { DocumentFailure } from '../../src/documents/model.js';
import { readCsv } from '../../src/documents/formats/csv.js';
import { wordsOf } from '../../src/documents/parts/html.js';
import { readFeed, readJsonFeed } from '../../src/documents/formats/feed.js';
import { readJson, readText } from '../../src/documents/formats/plain.js';
import { isLlmsTxt, isTooLongToList, readLlmsTxt } from '../../src/politeness/sitemaps/llms.js';
import { readMarkdownText } from '../../src/documents/formats/markdown.js';
import { readBlocks } from '../../src/documents/pdf/pdf.js';
import { interpretPage } from '../../src/documents/pdf/interpret.js';
import { readPageLines } from '../../src/documents/pdf/layout.js';
import { readRtf } from '../../src/documents/formats/rtf.js';
import { readXml, textBelow } from '../../src/documents/parts/xml.js';
import type { ExtractSchema } from '../../src/extract/fields/fields.js';
import { parseXPath } from '../../src/extract/fields/xpath.js';
import { chunkMarkdown } from '../../src/extract/markdown/chunks.js';
import { keepLead, leaveLastHeadings } from '../../src/extract/choose/edges.js';
import { lookTwice } from '../../src/extract/choose/main-content.js';
import { readTrainingPage } from '../../src/extract/model/training.js';
import type { Capture } from '../../src/fetch/engine.js';
import { contentCodings } from '../../src/fetch/http/body/body.js';
import { isLocalhostName, literalAddress } from '../../src/fetch/http/guard.js';
import { headerText, incomingHeaders, mergeCookies, outgoingHeaders } from '../../src/fetch/http/headers.js';
import { createRedirectTrail, isRedirect, nextHop, redirectTarget } from '../../src/fetch/http/redirect.js';
import { parseHosts } from '../../src/fetch/http/resolve.js';
import { withQuery } from '../../src/fetch/http/send-request.js';
import { loadDocument } from '../../src/handle/document.js';
import { absoluteUrls, selectLinks } from '../../src/handle/enqueue-links.js';
import { parseOpenGraph } from '../../src/handle/open-graph.js';
import { readableText } from '../../src/handle/readable-text.js';
import {
  emailsFromText,
  emailsFromUrls,
  parseHandlesFromHtml,
  phonesFromText,
  phonesFromUrls,
} from '../../src/handle/social.js';
import { extractUrls, URL_WITH_COMMAS_REGEX } from '../../src/handle/url-lists.js';
import { LIMITS } from '../../src/limits.js';
import { decodeBody, detectEncoding, toUtf8 } from '../../src/parse/encoding/encoding.js';
import { createLentContent, createPageContent, letGoOf, scannedPageOf } from '../../src/parse/page.js';
import { anchorUrlsOf } from '../../src/parse/scan/scanned-page.js';
import { visibleHtml } from '../../src/serve/mcp/visible.js';
import { forgetLogin, hideLogins, withoutLogin } from '../../src/request/login.js';
import { commentNodes, holdsPosts } from '../../src/extract/posts/comments.js';
import { scanLinks, scanPage } from '../../src/parse/scan/scan.js';
import { createDomainRules, toDomain } from '../../src/politeness/domain-rules.js';
import { createBudgets } from '../../src/politeness/budgets.js';
import { RobotsTxt } from '../../src/politeness/robots/robots.js';
import { createSitemapReader } from '../../src/politeness/sitemaps/reader.js';
import { createSameContent } from '../../src/politeness/traps/same-content.js';
import { hasSessionId, withoutSessionId } from '../../src/request/session-ids.js';
import { createTrapRules } from '../../src/politeness/traps/traps.js';
import { hostPartOf } from '../../src/politeness/url-host.js';
import { fingerprintOf } from '../../src/request/fingerprint.js';
import { createLinearRegExp } from '../../src/request/linear-regexp.js';
import { compileMixed, parsePattern } from '../../src/request/pattern.js';
import { keyInRecord, packRecord, unpackRecord } from '../../src/request/record.js';
import { toRequest } from '../../src/request/request.js';
import { createScope, staysWithin } from '../../src/request/scope.js';
import { urlKeyOf } from '../../src/request/url-key.js';
import { checkHttpUrl, domainOf, hostOf, isHostTooLong, normalizeUrl, parseHttpUrl } from '../../src/request/url.js';
import { createCookies } from '../../src/session/cookies.js';
import { indexLine, looksLikeIndexLine, parseIndexLine, surtOf, uriOf } from '../../src/store/content/cdxj.js';
import { oneWord, responseRecord } from '../../src/store/content/warc.js';
import { fieldDiff } from '../../src/fresh/change/json-diff.js';
import { lineDiff } from '../../src/fresh/change/line-diff.js';
import { normaliseContent } from '../../src/fresh/change/normalise.js';
import { distanceOf, simhashOf } from '../../src/fresh/duplicates/simhash.js';
import { createSiteCopies } from '../../src/fresh/duplicates/site-copies.js';
import { createSiteHints, freshUntilOf } from '../../src/fresh/hints/site-hints.js';
import { createPageMemory } from '../../src/fresh/memory/memory.js';
import { newPage } from '../../src/fresh/memory/new-page.js';
import { parseRecord, parseResponse } from '../../src/store/content/warc-reading.js';
import { CrawlError } from '../../src/errors.js';
import { zip } from '../support/zip.js';
import { DRAWINGS, OPERATIONS, operationsOf } from './drawings.js';
import type { Reader } from './judge.js';
import { SERVE_READERS } from './serve-readers.js';

const PAGE = 'https://example.com/dir/page';
const HTML = 'text/html; charset=utf-8';
const AGENT = 'TestBot/1.0';

function captured(body: string, headers: Record<string, string | string[]> = { 'content-type': HTML }): Capture {
  return {
    url: PAGE,
    loadedUrl: PAGE,
    statusCode: 200,
    headers,
    body: Buffer.from(body),
    redirectChain: [],
  } as unknown as Capture;
}

const FIELDS = {
  name: { selector: '.name' },
  price: { selector: 'p', type: 'number' },
  links: { selector: 'a', attribute: 'href', type: 'url', many: true },
  html: { selector: 'p', type: 'html' },
  day: { selector: 'time', type: 'date' },
  words: { selector: 'li', pattern: '\\w+', many: true },
  parts: { selector: 'div', many: true, fields: { text: { selector: 'p' }, has: { selector: 'b', type: 'exists' } } },
} as const satisfies ExtractSchema['fields'];
const CSS: ExtractSchema = { engine: 'css', items: '.item, article, li, div', fields: FIELDS };
const CSS_PAGE: ExtractSchema = { engine: 'css', fields: FIELDS };
const XPATH: ExtractSchema = {
  engine: 'xpath',
  items: '//div | //li',
  fields: {
    text: { selector: './/p' },
    first: { selector: './/a[1]/@href' },
    named: { selector: './/*[contains(@class, "name")]' },
  },
};
const REGEX: ExtractSchema = { engine: 'regex', fields: { numbers: { pattern: '\\d+', many: true, type: 'number' } } };

const config = {} as Parameters<typeof createResultContent>[1];
const scopedConfig = {
  cssSelector: 'body, div, p',
  excludedTags: ['nav'],
  targetElements: ['p', 'li'],
  wordCountThreshold: 2,
} as unknown as typeof config;

/** A refusal of a reader of documents becomes a CrawlError at the process that asked. */
function refusing<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof DocumentFailure ? new CrawlError(error.code, error.message) : error;
  }
}

/** Not packed: that took most of the time, and it is no part of reading. */
function archiveOf(files: Readonly<Record<string, string>>): Buffer {
  return zip(Object.entries(files).map(([name, data]) => ({ name, data, isStored: true })));
}

function prepared<T>(prepare: (text: string) => T, read: (made: T) => unknown): Pick<Reader, 'prepare' | 'read'> {
  return { prepare, read: read as (made: unknown) => unknown };
}

const RELATION = (id: string, type: string, to: string) => `<Relationship Id="${id}" Type="x/${type}" Target="${to}"/>`;
const OFFICE: readonly [
  name: string,
  read: (bytes: Uint8Array) => unknown,
  files: (text: string) => Record<string, string>,
][] = [
  [
    'docx#readDocx',
    readDocx,
    (text) => ({
      'word/document.xml': `<w:document><w:body>${text}<w:p><w:pPr><w:pStyle w:val="a"/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t>${text}</w:t></w:r></w:p></w:body></w:document>`,
      'word/_rels/document.xml.rels': `<Relationships>${RELATION('s', 'styles', 'styles.xml')}${text}</Relationships>`,
      'word/styles.xml': `<w:styles><w:style w:styleId="a"><w:pPr>${text}</w:pPr></w:style></w:styles>`,
      'docProps/core.xml': `<p><dc:title>${text}</dc:title></p>`,
    }),
  ],
  [
    'xlsx#readXlsx',
    readXlsx,
    (text) => ({
      'xl/workbook.xml': '<workbook><sheets><sheet name="a" r:id="a"/></sheets></workbook>',
      'xl/_rels/workbook.xml.rels': `<Relationships>${RELATION('a', 'worksheet', 's.xml')}${RELATION('b', 'sharedStrings', 't.xml')}${RELATION('c', 'styles', 'u.xml')}</Relationships>`,
      'xl/s.xml': `<worksheet><sheetData><row><c t="s"><v>0</v></c><c t="inlineStr"><is><t>${text}</t></is></c></row>${text}</sheetData><mergeCells>${text}</mergeCells></worksheet>`,
      'xl/t.xml': `<sst><si><t>${text}</t></si>${text}</sst>`,
      'xl/u.xml': `<styleSheet><numFmts>${text}</numFmts><cellXfs>${text}</cellXfs></styleSheet>`,
    }),
  ],
  [
    'pptx#readPptx',
    readPptx,
    (text) => ({
      'ppt/presentation.xml': '<p:presentation><p:sldIdLst><p:sldId r:id="a"/></p:sldIdLst></p:presentation>',
      'ppt/_rels/presentation.xml.rels': `<Relationships>${RELATION('a', 'slide', 's.xml')}</Relationships>`,
      'ppt/s.xml': `<p:sld><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p>${text}</p:txBody></p:sp>${text}</p:spTree></p:cSld></p:sld>`,
    }),
  ],
  [
    'odf#readOdf',
    readOdf,
    (text) => ({
      'content.xml': `<office:document-content><office:automatic-styles>${text}</office:automatic-styles><office:body><office:text><text:p>${text}</text:p>${text}<table:table><table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>${text}</text:p></table:table-cell></table:table-row></table:table></office:text></office:body></office:document-content>`,
    }),
  ],
  [
    'epub#readEpub',
    readEpub,
    (text) => ({
      'META-INF/container.xml': '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>',
      'b.opf': `<package><metadata>${text}</metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>${text}</manifest><spine><itemref idref="a"/>${text}</spine></package>`,
      'a.xhtml': `<html><body>${text}</body></html>`,
    }),
  ],
];

const DOCUMENT_READERS: readonly Reader[] = [
  ...OFFICE.map(([name, read, files]): Reader => ({
    name: `documents/formats/${name}`,
    of: 'page',
    read: (text) => refusing(() => read(archiveOf(files(text)))),
  })),
  {
    name: 'documents/formats/feed#readJsonFeed',
    of: 'page',
    read: (text) => {
      const feed = { title: text, items: [{ title: text, url: text, content_html: text }] };
      return wordsOf(refusing(() => readJsonFeed(feed, PAGE)).body);
    },
  },
  {
    name: 'documents/format#documentFormatOf',
    of: 'page',
    read: (text) => documentFormatOf({ type: 'text/plain', url: PAGE }, Buffer.from(text)),
  },
  {
    name: 'documents/formats/rtf#readRtf',
    of: 'page',
    read: (text) => readRtf(Buffer.from(text.replaceAll('<', '{\\b '))),
  },
  {
    name: 'documents/formats/csv#readCsv',
    of: 'page',
    factor: 300,
    read: (text) => readCsv(text.replaceAll('<', '","')),
  },
  { name: 'documents/formats/plain#readText', of: 'page', read: (text) => readText(text) },
  {
    name: 'documents/formats/plain#readJson',
    of: 'page',
    read: (text) => readJson(JSON.stringify({ title: text }), PAGE),
  },
  {
    name: 'documents/formats/feed#readFeed',
    of: 'page',
    read: (text) =>
      readFeed(`<rss><channel><item><description>${text}</description></item>${text}</channel></rss>`, PAGE),
  },
  { name: 'documents/parts/xml#readXml', of: 'page', read: (text) => textBelow(readXml(text)) },
  {
    name: 'documents/formats/markdown#readMarkdownText',
    of: 'text',
    factor: 60,
    read: (text) => [
      readMarkdownText(text, PAGE),
      readMarkdownText(`# ${text}\n\n- [a](${text})\n\n| ${text} |\n| - |\n`, PAGE),
    ],
  },
  {
    name: 'politeness/sitemaps/llms#readLlmsTxt',
    of: 'text',
    read: (text) => [
      readLlmsTxt(text, PAGE),
      readLlmsTxt(`- [${text}](${text}): ${text}\n`.repeat(2), PAGE),
      isLlmsTxt(text, text),
      isTooLongToList(text),
    ],
    factor: 60,
  },
  {
    name: 'documents/pdf/interpret#interpretPage',
    of: 'text',
    factor: 150,
    ...prepared(operationsOf, (page) => {
      const drawing = interpretPage(page, OPERATIONS);
      return [drawing, readBlocks([readPageLines(drawing)], 'growth')];
    }),
  },
  ...Object.entries(DRAWINGS).map(([name, draw]): Reader => ({
    name: `documents/pdf/pdf#readBlocks of ${name}`,
    of: 'text',
    ...prepared(draw, (drawing) => readBlocks([readPageLines(drawing)], 'growth')),
  })),
];
/** Something of each thing that hides, marks or writes formulas. */
const SIGNS =
  '<style>.x{display:none}.x.y{display:block}</style><h1 class=x>Title</h1><h2>One<a href="#o">#</a>' +
  '<span class="mw-editsection">edit</span></h2><span class=lineno>1</span><div id=toc><a href=#o>One</a></div>' +
  '<div style="visibility:hidden">a<p style="color:#fff;background:#fff">b</p></div><p style="color:white">c</p>' +
  '<h3 id=p><a href=#p>Part</a></h3><noscript>Please enable JavaScript.</noscript><ol start=3><li value=4>x</ol><cite>[1]</cite>' +
  '<p class=x aria-labelledby=o>d</p><p style="opacity:0;transition:all 1s">e</p>c<sup>2</sup> <math><mi>x</mi></math> \u{e0041}<p>';

/** So surely an article that the third look is asked, whatever follows. */
const ARTICLE = `<html lang=en><head><title>A long day at the lake</title><meta property="og:type" content="article">
<meta property="article:published_time" content="2026-01-02T03:04:05Z"><meta name="author" content="A. Writer">
<script type="application/ld+json">{"@type":"NewsArticle","headline":"A long day at the lake"}</script></head>
<body><article><h1>A long day at the lake</h1><p class="byline">By A. Writer</p>${`<p>${'The water was calm, and the boats came home one after the other before it was dark. '.repeat(4)}</p>\n`.repeat(6)}`;

const PAGE_READERS: readonly Reader[] = [
  ...DOCUMENT_READERS,
  {
    name: 'extract/page/compared-text#comparedText',
    of: 'page',
    read: (text) => [
      comparedText(extraction.viewPage(text, { url: PAGE })),
      // Names that are read again: they call an element an advert, or a banner of consent.
      comparedText(
        extraction.viewPage(
          `<p class="ad ${text}">a</p><p class="cookie ${text}">b</p><p class="account form ${text}">c</p>`,
          { url: PAGE },
        ),
      ),
      extraction.viewPage(text, { url: PAGE }, true).main.confidence,
      extraction.documentExtraction,
    ],
  },
  {
    name: 'extract/choose/roles#applyRoles',
    of: 'page',
    read: (text) =>
      extraction.extractContent(SIGNS + text, {
        url: PAGE,
        title: true,
        byline: true,
        captions: true,
        comments: true,
        contents: true,
        math: 'text',
      }),
    factor: 300,
  },
  {
    name: 'extract/choose/main-content#lookAgain',
    of: 'page',
    read: (text) =>
      extraction.extractContent(ARTICLE + text, { url: 'https://news.test/2026/01/02/a-long-day-at-the-lake' }),
  },
  {
    name: 'extract/choose/edges#keepLead',
    of: 'page',
    read: (text) => {
      const { segments } = extraction.viewPage(`<h1>Tables</h1>${text}<p>End.</p>`);
      const chosen = new Uint8Array(segments.count);
      chosen[segments.count - 1] = 1;
      keepLead(segments, new Float32Array(segments.count), chosen);
      leaveLastHeadings(segments, chosen.fill(1));
    },
  },
  {
    name: 'extract/choose/main-content#lookTwice',
    of: 'page',
    read: (text) => {
      const { segments, head } = extraction.viewPage(text);
      if (segments.count > LIMITS.contentBlocks.max) return [];
      return [...lookTwice(segments, head, PAGE).second];
    },
  },
  {
    name: 'parse/scan/scan#scanPage',
    of: 'page',
    read: (text) => scanPage(Buffer.from(text), { url: PAGE, images: true }),
  },
  { name: 'parse/scan/scan#scanLinks', of: 'page', read: (text) => scanLinks(Buffer.from(text), { url: PAGE }).links },
  {
    name: 'parse/page#createPageContent',
    of: 'page',
    read: (text) => {
      const {
        title,
        text: words,
        links,
        metadata,
      } = createPageContent(Buffer.from(text), PAGE, HTML, extraction.pageExtraction);
      return { title, words, links, metadata };
    },
  },
  {
    name: 'parse/page#createLentContent',
    of: 'page',
    read: (text) => {
      const bytes = Buffer.from(text);
      const content = createLentContent({ bytes, keep: () => bytes }, PAGE, HTML, extraction.pageExtraction);
      const urls = anchorUrlsOf(scannedPageOf(content), () => true);
      letGoOf(content);
      return urls;
    },
  },
  {
    name: 'serve/mcp/visible#visibleHtml',
    of: 'page',
    read: (text) => [visibleHtml(text), visibleHtml(`<style>${text}</style><p>${text}`)],
  },
  {
    name: 'extract/posts/comments#holdsPosts',
    of: 'page',
    read: (text) => {
      const { segments } = extraction.viewPage(text);
      return [commentNodes(segments) !== null, holdsPosts(segments, new Uint8Array(segments.tree.count).fill(1))];
    },
  },
  {
    name: 'parse/encoding/encoding#detectEncoding',
    of: 'page',
    read: (text) => {
      const body = Buffer.from(text);
      const found = detectEncoding(body, null);
      return [
        found,
        decodeBody(body, found),
        toUtf8(body, 'windows-1251'),
        decodeBody(body, 'euc-kr'),
        decodeBody(body, 'gb18030'),
      ];
    },
  },
  {
    name: 'crawl/page/extraction#extractContent',
    of: 'page',
    read: (text) => extraction.extractContent(text, { url: PAGE }),
    // A base of 2,000 characters is repeated by every link.
    factor: 300,
  },
  {
    name: 'crawl/page/extraction#toMarkdown',
    of: 'page',
    read: (text) => ({ ...extraction.toMarkdown(text, { url: PAGE }) }),
  },
  {
    name: 'extract/choose/filters#applyFilter',
    of: 'page',
    read: (text) => [
      extraction.toMarkdown(text, { url: PAGE, contentFilter: { kind: 'bm25', query: 'text of words' } }).fit,
      extraction.toMarkdown(text, { url: PAGE, contentFilter: { kind: 'pruning' } }).fit,
    ],
  },
  { name: 'crawl/page/extraction#extractTables', of: 'page', read: (text) => extraction.extractTables(text) },
  { name: 'crawl/page/extraction#extractStructured', of: 'page', read: (text) => extraction.extractStructured(text) },
  {
    name: 'crawl/page/extraction#extractMetadata',
    of: 'page',
    read: (text) => extraction.extractMetadata(text, { url: PAGE }),
  },
  {
    name: 'crawl/page/extraction#extractLinks',
    of: 'page',
    read: (text) => extraction.extractLinks(text, { url: PAGE }),
  },
  {
    name: 'crawl/page/extraction#extractMedia',
    of: 'page',
    read: (text) => extraction.extractMedia(text, { url: PAGE }),
  },
  { name: 'extract/fields by CSS', of: 'page', read: (text) => extraction.extractFields(text, CSS, { url: PAGE }) },
  {
    name: 'extract/fields by CSS of nested items',
    of: 'page',
    // Each holds those in it, and all of them this page.
    read: (text) => extraction.extractFields(`${'<div><p>a'.repeat(30)}${text}`, CSS, { url: PAGE }),
  },
  {
    name: 'extract/fields by CSS of the page',
    of: 'page',
    factor: 300,
    read: (text) => extraction.extractFields(text, CSS_PAGE, { url: PAGE }),
  },
  { name: 'extract/fields by XPath', of: 'page', read: (text) => extraction.extractFields(text, XPATH, { url: PAGE }) },
  { name: 'extract/fields by patterns', of: 'page', read: (text) => extraction.extractFields(text, REGEX) },
  {
    name: 'extract/model/training#readTrainingPage',
    of: 'page',
    read: (text) => readTrainingPage(extraction.viewPage(text, { url: PAGE }).tree, PAGE).texts,
  },
  {
    name: 'crawl/page/result-content#cleanedHtml',
    of: 'page',
    read: (text) => createResultContent(captured(text), config).cleanedHtml,
  },
  {
    name: 'crawl/page/result-content of a part',
    of: 'page',
    read: (text) => {
      const { cleanedHtml, text: words, links } = createResultContent(captured(text), scopedConfig);
      return { cleanedHtml, words, links };
    },
  },
  {
    name: 'handle/readable-text#readableText',
    of: 'page',
    read: (text) => readableText(documentOf(Buffer.from(text)).root()[0]),
  },
  {
    name: 'handle/document#loadDocument',
    of: 'page',
    read: (text) => {
      const $ = loadDocument(text);
      return [$('a').length, $.root().text(), $.html()];
    },
  },
  {
    name: 'crawl/page/document#documentOf',
    of: 'page',
    read: (text) => {
      const $ = documentOf(Buffer.from(text));
      return [$('a').length, $('p').text(), $.html()];
    },
  },
  { name: 'handle/open-graph#parseOpenGraph', of: 'page', read: (text) => parseOpenGraph(text) },
  { name: 'handle/social#parseHandlesFromHtml', of: 'page', read: (text) => parseHandlesFromHtml(text) },
  {
    name: 'crawl/navigate/rendering#needsScripts',
    of: 'page',
    read: (text) => needsScripts(Buffer.from(text), PAGE, HTML),
  },
];

const trapsOf = createTrapRules({
  refuseSessionIds: true,
  maxUrlLength: 1e9,
  maxPathDepth: 1e9,
  maxQueryParameters: 1e9,
  maxSegmentRepeats: 1e9,
});
const domainRules = createDomainRules({ exclude: ['bad.example'] });
const budgets = createBudgets({ maxPerHost: 1e9, maxPerDomain: 1e9 });
const sameContent = createSameContent();
const rendering = createRenderingMemory();
const scope = createScope(
  {
    strategy: 'same-domain',
    globs: ['https://*.example.com/**/*.html', 'http?(s)://**/{a,b}*/[a-z]?'],
    exclude: [/\/private\//],
  },
  { baseUrl: PAGE },
);
const robots = RobotsTxt.parse('User-agent: *\nDisallow: /a*b*c$\nAllow: /*x*y\nDisallow: /%C3%A9\nDisallow: /p');
const linkPage = { url: PAGE, loadedUrl: PAGE, crawlDepth: 0 };

const URL_READERS: readonly Reader[] = [
  {
    name: 'request/login#hideLogins',
    of: 'url',
    read: (text) => [withoutLogin(text), hideLogins(text), forgetLogin(text, 'https://a:b@host/')],
  },
  { name: 'request/percent-decoded', of: 'url', read: (text) => percentDecoded(text) },
  { name: 'request/url#normalizeUrl', of: 'url', read: (text) => [normalizeUrl(text), normalizeUrl(text, true)] },
  { name: 'request/url-key#urlKeyOf', of: 'url', read: (text) => urlKeyOf(text) },
  {
    name: 'request/url#parseHttpUrl',
    of: 'url',
    read: (text) => {
      checkHttpUrl(text);
      return [parseHttpUrl(text).href, isHostTooLong(text)];
    },
  },
  { name: 'request/url#domainOf', of: 'url', read: (text) => [domainOf(text), domainOf(text, 'host'), hostOf(text)] },
  {
    name: 'request/request#toRequest',
    of: 'url',
    read: (text) => {
      const request = toRequest(text);
      const record = packRecord({ url: request.url }, undefined);
      return [
        request.uniqueKey,
        request.id,
        unpackRecord(record),
        keyInRecord(record),
        fingerprintOf(request.uniqueKey),
      ];
    },
  },
  {
    name: 'request/scope#createScope',
    of: 'url',
    read: (text) => [scope.decide(text), staysWithin('same-domain', PAGE, text)],
  },
  {
    name: 'politeness/traps/traps#createTrapRules',
    of: 'url',
    read: (text) => [trapsOf(text), hasSessionId(text, text), withoutSessionId(text)],
  },
  {
    name: 'politeness/traps/same-content#createSameContent',
    of: 'url',
    read: (text) => [sameContent.see(text, text), sameContent.refusal(text)],
  },
  {
    name: 'politeness/domain-rules#createDomainRules',
    of: 'url',
    read: (text) => [domainRules.refusal(text), domainRules.overrideFor(text), toDomain(text)],
  },
  {
    name: 'politeness/budgets#createBudgets',
    of: 'url',
    read: (text) => {
      const taken = budgets.take(text);
      budgets.giveBack(text);
      return taken;
    },
  },
  {
    name: 'fresh/duplicates/site-copies#createSiteCopies',
    of: 'url',
    read: (text) => {
      const copies = createSiteCopies();
      for (const version of ['?print=1', '/print/', '']) {
        copies.see(`https://example.com/${text}${version}`, `https://example.com/${text}`);
        copies.see(`https://example.org/${text}`, `https://example.com/${text}${version}`);
      }
      // The longest that is looked at.
      const long = text.replace(/^https?:\/\/[^/]*\//, '').slice(0, 2_000);
      copies.see(`https://example.com/${long}/print`, `https://example.com/${long}`);
      return [copies.isCopy(text), copies.list()];
    },
  },
  {
    name: 'fresh/hints/site-hints#createSiteHints',
    of: 'url',
    read: (text) => {
      const hints = createSiteHints(createPageMemory(), () => 1_800_000_000);
      const key = fingerprintOf(text);
      const known = { page: { ...newPage(1_790_000_000, 200), visits: 1 }, names: { url: text } };
      hints.list(key, new Date(text));
      hints.list(key, new Date(1_795_000_000_000));
      hints.judged(key, known, true);
      const fresh = { ...known, names: { url: text, freshUntil: 1_900_000_000 } };
      const other = fingerprintOf(`${text}x`);
      return [hints.isUrgent(key, known), hints.isLeftAlone(key, known), hints.isLeftAlone(other, fresh)];
    },
  },
  { name: 'politeness/url-host#hostPartOf', of: 'url', read: (text) => hostPartOf(text) },
  { name: 'politeness/robots/robots#isAllowed', of: 'url', read: (text) => robots.isAllowed(text, AGENT) },
  {
    name: 'handle/enqueue-links#selectLinks',
    of: 'url',
    read: (text) => {
      const urls = absoluteUrls([text], PAGE, () => {});
      const links = selectLinks(urls, { strategy: 'all' }, linkPage, { maxCrawlDepth: undefined, skip: () => {} });
      return links.map((link) => [link.url, link.uniqueKey, link.fingerprint, link.toRequest().id]);
    },
  },
  {
    name: 'fetch/http/redirect#redirectTarget',
    of: 'url',
    read: (text) => {
      const from = new URL(PAGE);
      if (!isRedirect(301, text)) return undefined;
      const target = redirectTarget(from, text);
      const trail = createRedirectTrail(from, 5);
      trail.step(from, target);
      const hop = nextHop({ url: from, method: 'GET', headers: {} }, 301, target);
      return [trail.chain, outgoingHeaders(hop, 'a=b', 'gzip'), withQuery(target.href, { a: 1 })];
    },
  },
  {
    name: 'fetch/http/guard#literalAddress',
    of: 'url',
    read: (text) => [literalAddress(hostOf(text)), isLocalhostName(hostOf(text))],
  },
  {
    name: 'crawl/navigate/rendering#createRenderingMemory',
    of: 'url',
    read: (text) => {
      rendering.learn(text, 'static');
      return rendering.expected(text);
    },
  },
  {
    name: 'store/content/cdxj#indexLine',
    of: 'url',
    read: (text) => {
      const entry = {
        url: text,
        uniqueKey: text,
        contentType: text,
        statusCode: 200,
        digest: 'x',
        depth: 0,
        fetchedAtMs: 0,
      } as never;
      const line = indexLine(entry);
      const read = [parseIndexLine(line), looksLikeIndexLine(Buffer.from(line))];
      return [surtOf(text), line, ...read, oneWord(text), uriOf(entry)];
    },
  },
  {
    name: 'extract of a page at the URL',
    of: 'url',
    read: (text) => extraction.extractContent('<p>Words of a page.</p><a href=x>y</a>', { url: text }),
    factor: 60,
  },
];

const HEADER_READERS: readonly Reader[] = [
  {
    name: 'crawl/navigate/content-type#contentTypeOf',
    of: 'header',
    read: (text) => {
      const capture = captured('<p>x', { 'content-type': text });
      const { type } = contentTypeOf(capture);
      return [
        type,
        acceptsType(type, ['image/*']),
        isJson(type),
        isXml(type),
        decodingHeader(capture, {}),
        encodingName(capture.body, text),
      ];
    },
  },
  {
    name: 'parse/encoding/encoding#detectEncoding by header',
    of: 'header',
    read: (text) => detectEncoding(Buffer.from('<p>é'), text),
  },
  {
    name: 'crawl/navigate/cache-headers#policyResponse',
    of: 'header',
    read: (text) => {
      const headers = {
        'cache-control': text,
        age: text,
        date: text,
        expires: text,
        etag: text,
        connection: text,
        'last-modified': text,
        vary: text,
      };
      return [
        policyResponse({ statusCode: 200, headers }, 0),
        initialAgeSecs(headers, 0),
        storableHeaders(headers),
        isOtherVersion(headers, { etag: `${text}x`, 'last-modified': text }),
        updatedHeaders(headers, { etag: text }),
        httpDateMs(text),
      ];
    },
  },
  {
    name: 'crawl/polite/nofollow#forbidsFollowing',
    of: 'header',
    read: (text) => [
      forbidsFollowing(captured('', { 'x-robots-tag': text }), null, AGENT),
      forbidsFollowing(captured('', { 'x-robots-tag': [text, text] }), text, undefined),
      followRule(captured('', { 'x-robots-tag': text }), text, AGENT, () => {}),
      isNofollow(text),
    ],
  },
  {
    name: 'fresh/hints/site-hints#freshUntilOf',
    of: 'header',
    read: (text) => [
      freshUntilOf({ 'cache-control': text, expires: text }, 0),
      freshUntilOf({ 'cache-control': text.split(','), expires: [text, text] }, 0),
    ],
  },
  { name: 'fetch/http/body/body#contentCodings', of: 'header', read: (text) => contentCodings(text, 'example.com') },
  {
    name: 'fetch/http/headers#incomingHeaders',
    of: 'header',
    read: (text) => {
      const pairs = text.split(';').map((value, index) => [`x-${index}`, value]);
      const headers = incomingHeaders(Object.fromEntries(pairs) as Record<string, string>);
      return [headers, headerText(headers, 'x-0'), mergeCookies(text, text)];
    },
  },
  {
    name: 'session/cookies#createCookies',
    of: 'header',
    read: (text) => {
      const cookies = createCookies();
      return [
        cookies.setLine(text, PAGE),
        cookies.setLine(`a=b; ${text}`, PAGE),
        cookies.header(PAGE),
        cookies.list(PAGE),
      ];
    },
  },
  {
    name: 'session/cookies of many lines',
    of: 'header',
    read: (text) => {
      const cookies = createCookies();
      // As many as a response may set; a domain that is full has to make room for each.
      for (let index = 0; index < 180; index++) cookies.setLine(`full${index}=1; Path=/`, PAGE);
      const parts = text.split(/[;,\n]/, LIMITS.cookiesPerResponse.max);
      for (const part of parts) cookies.setLine(`${part.trim()}=1; Path=/`, PAGE);
      return [cookies.header(PAGE), cookies.list(PAGE), cookies.serialize()];
    },
    factor: 200,
  },
  {
    name: 'store/content/warc#responseRecord',
    of: 'header',
    read: (text) =>
      responseRecord({
        url: PAGE,
        dateMs: 0,
        response: { statusCode: 200, statusText: text, headers: { a: text, b: [text, text] }, body: Buffer.from('x') },
      } as never).bytes,
  },
];

const OTHER_READERS: readonly Reader[] = [
  {
    name: 'fresh/change/line-diff#lineDiff',
    of: 'text',
    read: (text) => {
      // In lines, some of which differ: their number has a limit of its own.
      const lines = [...text.slice(0, 200_000)].join('\n').split('\n');
      const every = Math.ceil(lines.length / 20);
      const other = lines.map((line, at) => (at % every === 0 ? `${line}!` : line));
      return [lineDiff(text, text.toUpperCase()), lineDiff(lines.join('\n'), other.join('\n')).text];
    },
  },
  {
    name: 'fresh/change and duplicates',
    of: 'text',
    read: (text) => {
      const hash = simhashOf(text);
      const content = normaliseContent(text);
      return [content, distanceOf(hash, simhashOf(content)), fieldDiff({ a: text }, { a: content, b: { c: text } })];
    },
  },
  {
    name: 'store/content/warc-reading#parseRecord',
    of: 'header',
    read: (text) => {
      const block = Buffer.from(`HTTP/1.1 200 OK\r\na: ${text}\r\nset-cookie: ${text}\r\nset-cookie: b\r\n\r\nbody`);
      const start = `WARC/1.1\r\nWARC-Type: response\r\nx: ${text}\r\nContent-Length: ${block.length}\r\n\r\n`;
      const record = parseRecord(Buffer.concat([Buffer.from(start), block, Buffer.from('\r\n\r\n')]));
      return [record?.type, record && parseResponse(record.block)?.headers, parseRecord(Buffer.from(text))?.type];
    },
  },
  {
    name: 'politeness/robots/robots#RobotsTxt',
    of: 'robots',
    read: (text) => {
      const rules = RobotsTxt.parse(text);
      const pack = rules.packFor(AGENT, 16 * 1024);
      const google = RobotsTxt.parse(Buffer.from(text), { mode: 'google' });
      return [
        rules.isAllowed('https://example.com/a/b?c=d%C3%A9', AGENT),
        rules.crawlDelay(AGENT),
        rules.sitemaps,
        pack,
        RobotsTxt.parse(pack).isAllowed(PAGE, AGENT),
        google.isAllowed(PAGE, 'TestBot'),
      ];
    },
  },
  {
    name: 'politeness/robots/robots#isAllowed of a long URL',
    of: 'robots',
    read: (text) => {
      const rules = RobotsTxt.parse(RobotsTxt.parse(text).packFor(AGENT, 16 * 1024));
      return rules.isAllowed(`https://example.com/${text.slice(0, 65_000)}`, AGENT);
    },
  },
  { name: 'politeness/robots by agent', of: 'header', read: (text) => robots.isAllowed(PAGE, text) },
  {
    name: 'politeness/sitemaps/reader#createSitemapReader',
    of: 'sitemap',
    read: (text) => {
      const reader = createSitemapReader(PAGE);
      const entries = [];
      for (let at = 0; at < text.length; at += 4_096) entries.push(...reader.read(text.slice(at, at + 4_096)));
      entries.push(...reader.read(null));
      return entries;
    },
  },
  {
    name: 'handle/social of a text',
    of: 'text',
    read: (text) => [
      emailsFromText(text),
      phonesFromText(text),
      emailsFromUrls([`mailto:${text}`]),
      phonesFromUrls([`tel:${text}`]),
    ],
  },
  {
    name: 'handle/url-lists#extractUrls',
    of: 'text',
    read: (text) => [extractUrls({ string: text }), extractUrls({ string: text, urlRegExp: URL_WITH_COMMAS_REGEX })],
  },
  { name: 'extract/markdown/chunks#chunkMarkdown', of: 'text', read: (text) => chunkMarkdown(text) },
  {
    name: 'extract/markdown/chunks of a page',
    of: 'page',
    read: (text) => chunkMarkdown(extraction.toMarkdown(text, { url: PAGE }).raw),
  },
  { name: 'base/json-depth#nestsDeeperThan', of: 'json', read: (text) => nestsDeeperThan(text, 100) },
  {
    name: 'request/pattern#compileMixed',
    of: 'text',
    read: (text) =>
      compileMixed('globs', [text.slice(0, 2_000)]).map((glob) => glob.matches(`https://example.com/${text}`)),
  },
  {
    name: 'request/linear-regexp#createLinearRegExp',
    of: 'text',
    read: (text) => {
      const patterns = ['(a+)+$', '(.|..)*!', '\\b(?:\\w?/?){9}(?!.)'].map((source) => createLinearRegExp(source));
      return patterns.map((pattern) => 'test' in pattern && pattern.test(text));
    },
  },
  { name: 'request/pattern#parsePattern', of: 'text', read: (text) => typeof parsePattern(text) },
  { name: 'extract/fields/xpath#parseXPath', of: 'text', read: (text) => parseXPath(text) },
  { name: 'fetch/http/resolve#parseHosts', of: 'text', read: (text) => parseHosts(text) },
  {
    name: 'crawl/page/result-content of a text file',
    of: 'text',
    read: (text) => ({ ...createResultContent(captured(text, { 'content-type': 'text/plain' }), config) }),
  },
];

export const READERS: readonly Reader[] = [
  ...PAGE_READERS,
  ...URL_READERS,
  ...HEADER_READERS,
  ...OTHER_READERS,
  ...SERVE_READERS,
];
