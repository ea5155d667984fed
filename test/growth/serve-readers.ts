// The readers of the server and of what it is built on: what clients of the API send, and what they are told of pages.
import type { IncomingMessage } from 'node:http';
import { createResultContent } from '../../src/crawl/page/result-content.js';
import { ranked } from '../../src/crawl/map/rank.js';
import { createEnough } from '../../src/crawl/order/enough.js';
import { createQuery, startOf } from '../../src/crawl/order/query.js';
import { freshnessScorer, priorityOf, scorerOf } from '../../src/crawl/order/scorers.js';
import type { Capture } from '../../src/fetch/engine.js';
import { addressBytes, createAddressGuard, specialKind } from '../../src/fetch/http/guard.js';
import { confirmed, isThere, judge, textHashOf } from '../../src/fresh/change/judge.js';
import { isFurnitureLine } from '../../src/fresh/change/furniture-lines.js';
import { packNames, packVersion, unpackNames, unpackVersion } from '../../src/fresh/memory/names-row.js';
import { parseUrl } from '../../src/request/url.js';
import { batchBody, crawlBody, extractBody, mapBody, scrapeBody, searchBody } from '../../src/serve/api/schemas.js';
import { hintFor } from '../../src/serve/absent.js';
import { ApiError } from '../../src/serve/errors.js';
import { checked, parseJson } from '../../src/serve/http/body.js';
import { createGate } from '../../src/serve/http/gate.js';
import { oneToken } from '../../src/serve/http/tokens.js';
import { createLinkRule } from '../../src/serve/jobs/link-rules.js';
import { factsOf, joinRow, parseRow, rowText } from '../../src/serve/jobs/rows.js';
import { asResult, marked, pageOf, result } from '../../src/serve/mcp/results.js';
import { visibleMarkdown, withoutInvisible } from '../../src/serve/mcp/visible.js';
import { isTimeZone } from '../../src/serve/monitor/cron.js';
import { nextRun, resolveSchedule } from '../../src/serve/monitor/schedule.js';
import { nothingTaken } from '../../src/serve/pages/actions.js';
import { isAdHost } from '../../src/serve/pages/ads.js';
import { documentOf, pageSource, textOf } from '../../src/serve/pages/document.js';
import { pageWish } from '../../src/serve/pages/formats.js';
import { withoutInlineImages } from '../../src/serve/pages/inline-images.js';
import { createTargets } from '../../src/serve/targets.js';
import { cookiesFrom, joinedCookies, parseCookieFile } from '../../src/session/cookie-file.js';
import type { Reader } from './judge.js';

const PAGE = 'https://example.com/dir/page';

/** A refusal is an answer: its message is weighed, since clients and logs get it. */
function answered<T>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    const isRefusal = error instanceof ApiError || (error as Error).constructor === Error;
    if (isRefusal) return (error as Error).message;
    throw error;
  }
}

const gate = createGate({
  host: '0.0.0.0',
  publicHosts: ['crawler.example'],
  cors: ['https://console.example'],
  tokens: oneToken('a-token'),
});
const targets = createTargets(['10.0.0.0/8']);
const guard = createAddressGuard(['10.0.0.0/8']);
const follows = createLinkRule({
  url: PAGE,
  includePaths: ['^/dir/.*', '(a|aa)+b'],
  excludePaths: ['/private/'],
  regexOnFullURL: true,
});
const wish = pageWish(
  { formats: ['markdown', 'html', 'rawHtml', 'links', 'images'] },
  { browser: false, scripts: false, model: false },
);
const query = createQuery('boats and lakes');
const score = scorerOf({ keywords: 1, depth: 1, freshness: 1 }, query, () => 1_800_000_000_000);
const fresh = freshnessScorer(() => 1_800_000_000_000);

export const SERVE_READERS: readonly Reader[] = [
  {
    name: 'serve/http/body#checked',
    of: 'json',
    read: (text) => [
      answered(() => checked(scrapeBody, parseJson(text))),
      answered(() => checked(crawlBody, parseJson(text))),
      answered(() => checked(batchBody, parseJson(text))),
    ],
  },
  {
    name: 'serve/http/body#checked of long values',
    of: 'text',
    read: (text) => [
      answered(() => checked(scrapeBody, { url: text, headers: { [text]: text }, formats: [text], [text]: text })),
      answered(() => checked(crawlBody, { url: text, includePaths: [text], query: text, webhook: text })),
      answered(() => checked(batchBody, { urls: text.split('\n') })),
      answered(() => checked(mapBody, { url: text, search: text })),
      answered(() => checked(searchBody, { query: text })),
      answered(() => checked(extractBody, { urls: [text], prompt: text })),
    ],
  },
  {
    name: 'serve/http/gate#createGate',
    of: 'header',
    read: (text) => {
      const asks = [
        { host: text, origin: text },
        { host: '127.0.0.1', origin: text, authorization: text },
        { host: 'crawler.example', authorization: `Bearer ${text}`, 'sec-websocket-protocol': text },
        { host: 'crawler.example', 'sec-websocket-protocol': text },
      ].map((headers) => ({ headers }) as unknown as IncomingMessage);
      return asks.map((ask) => [
        answered(() => gate.checkWay(ask)),
        answered(() => gate.tokenOf(ask).name),
        answered(() => gate.corsHeaders(ask)),
      ]);
    },
  },
  {
    name: 'serve/targets#createTargets',
    of: 'url',
    read: (text) => [answered(() => targets.check(text, 'url')), hintFor(text), hintFor(`/v1/scrape/${text}`)],
  },
  {
    name: 'fetch/http/guard#createAddressGuard',
    of: 'text',
    read: (text) => [addressBytes(text)?.length, specialKind(text), guard.refusal('example.com', text), isAdHost(text)],
  },
  { name: 'serve/jobs/link-rules#createLinkRule', of: 'url', read: (text) => follows(text) },
  {
    name: 'serve/jobs/link-rules#linkPatterns',
    of: 'text',
    // As long as the schema lets through.
    read: (text) => {
      const rule = answered(() => createLinkRule({ url: PAGE, includePaths: [text.slice(0, 500)] }));
      return typeof rule === 'string' ? rule : rule(`https://example.com/dir/${text}`);
    },
  },
  {
    name: 'serve/jobs/rows#rowText',
    of: 'text',
    read: (text) => {
      const facts = factsOf({ statusCode: 200, title: text, contentType: text }, { bytes: 1, ms: 1 });
      const outcomes = [
        { kind: 'document', url: text, facts },
        { kind: 'error', error: { url: text, code: 'FETCH_FAILED', error: text }, facts },
        { kind: 'robots', url: text },
      ] as unknown as Parameters<typeof rowText>[0][];
      return outcomes.map((outcome) => parseRow(joinRow(1, rowText(outcome, 0))));
    },
  },
  {
    name: 'serve/monitor/schedule#resolveSchedule',
    of: 'text',
    read: (text) => [
      answered(() => nextRun(resolveSchedule({ text }), 0)),
      answered(() => nextRun(resolveSchedule({ cron: text }), 0)),
      answered(() => nextRun({ cron: text, timezone: 'UTC' }, 0)),
      answered(() => nextRun(resolveSchedule({ cron: `${text} * * * *` }), 0)),
      answered(() => resolveSchedule({ text: 'daily', timezone: text })),
      isTimeZone(text),
    ],
  },
  {
    name: 'serve/mcp/results#pageOf',
    of: 'text',
    read: (text) => {
      void asResult(async () => result({}, marked(text, text)));
      return [pageOf(text, 1, 1_000), result({ text }), marked(text, text)];
    },
  },
  {
    name: 'serve/mcp/visible#visibleMarkdown',
    of: 'page',
    read: (text) => withoutInvisible(visibleMarkdown(text, PAGE, true)),
  },
  { name: 'serve/pages/inline-images#withoutInlineImages', of: 'text', read: (text) => withoutInlineImages(text) },
  {
    name: 'serve/pages/inline-images of many',
    of: 'text',
    read: (text) => withoutInlineImages(text.replaceAll(/.{8}/g, '![$&](data:image/$&')),
  },
  {
    name: 'serve/pages/document#documentOf',
    of: 'page',
    factor: 200,
    read: (text) => {
      const headers = { 'content-type': 'text/html; charset=utf-8' };
      const capture = { url: PAGE, loadedUrl: PAGE, statusCode: 200, headers, body: Buffer.from(text) };
      const content = createResultContent({ ...capture, redirectChain: [] } as unknown as Capture, {});
      const page = { ...content, ...capture } as unknown as Parameters<typeof documentOf>[0];
      return [documentOf(page, wish, nothingTaken()), textOf(page, wish)];
    },
  },
  {
    name: 'serve/pages/document#pageSource',
    of: 'page',
    factor: 100,
    read: (text) => {
      const fetched = { url: PAGE, loadedUrl: PAGE, statusCode: 200, contentType: 'text/html', body: text };
      return documentOf(pageSource(fetched, wish), wish, nothingTaken()).markdown;
    },
  },
  {
    name: 'crawl/map/rank#ranked',
    of: 'text',
    read: (text) => {
      const links = [
        { url: PAGE, title: text, description: text },
        { url: `https://example.com/${text}`, title: 'boats' },
      ];
      return [ranked(links, 'boats a', new Map([[PAGE, text]])), ranked(links, text.slice(0, 2_000), new Map())];
    },
  },
  {
    name: 'crawl/order/scorers#scorerOf',
    of: 'url',
    read: (text) => {
      // Links that are no URLs are not weighed.
      if (!parseUrl(text)) return undefined;
      const link = { url: text, text, page: { relevance: 0.5 } } as unknown as Parameters<typeof score>[0];
      return [priorityOf(score(link)), fresh(link)];
    },
  },
  {
    name: 'crawl/order/enough#createEnough',
    of: 'text',
    read: (text) => {
      const enough = createEnough(query, { window: 2, gain: 0.1, coverage: 0.5 });
      const about = `boats ${text} lakes`;
      return [enough.see(text, text), enough.see(text, about), enough.see(about, about), enough.figures, startOf(text)];
    },
  },
  {
    name: 'crawl/order/query#createQuery',
    of: 'text',
    // As long as the schema lets through.
    read: (text) => createQuery(text.slice(0, 1_000)).share(text),
  },
  {
    name: 'fresh/change/judge#judge',
    of: 'text',
    read: (text) => {
      const page = (words: string) => ({
        statusCode: 200,
        bytes: Buffer.from(words),
        mainText: () => words,
        wholeText: () => words,
      });
      const first = judge(undefined, page(text), 1).page;
      const again = judge({ page: first, names: { url: PAGE } }, page(`${text}!`), 2).page;
      return [again, isThere(again), confirmed(again, 3), textHashOf(text), isFurnitureLine(text)];
    },
  },
  {
    name: 'fresh/change/furniture-lines#isFurnitureLine',
    of: 'text',
    read: (text) => text.match(/.{1,80}/gs)?.map((line) => isFurnitureLine(line)),
  },
  {
    name: 'fresh/memory/names-row#packNames',
    of: 'text',
    read: (text) => {
      const names = { url: text, etag: text, lastModified: text, freshUntil: 1 };
      const version = { markdown: text } as unknown as Parameters<typeof packVersion>[0];
      const bytes = Buffer.from(text);
      return [
        unpackNames(Buffer.from(packNames(names))),
        unpackNames(bytes),
        unpackVersion(packVersion(version)),
        unpackVersion(bytes),
      ];
    },
  },
  {
    name: 'session/cookie-file#parseCookieFile',
    of: 'text',
    read: (text) => [
      parseCookieFile(`example.com\tTRUE\t/\tFALSE\t0\t${text.replaceAll(/[\t\r\n]/g, ' ')}\t${text}`),
      cookiesFrom([{ name: text, value: text, domain: 'example.com' }]).header(PAGE),
      joinedCookies(text, text),
    ],
  },
  { name: 'session/cookie-file of anything', of: 'json', read: (text) => parseCookieFile(text) },
];
