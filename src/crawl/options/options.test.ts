// Crawler options: the defaults, the checks across fields, and what Crawlee's users are told.
import { describe, expect, it } from 'vitest';
import { CrawlError } from '../../errors.js';
import { LIMITS } from '../../limits.js';
import { resolveOptions } from './options.js';
import type { CheerioCrawlerOptions, CrawlerKind, OptionsOfKind } from './options.js';
import { SHAPES } from './options-shapes.js';

function problemsOf<Kind extends CrawlerKind>(kind: Kind, given: unknown): string {
  try {
    resolveOptions(kind, given as OptionsOfKind[Kind]);
    return '';
  } catch (error) {
    expect(error).toBeInstanceOf(CrawlError);
    expect((error as CrawlError).code).toBe('OPTION_INVALID');
    return (error as CrawlError).message;
  }
}

describe('invalid options', () => {
  it('are all named in one error, with those that contradict each other', () => {
    const problems = problemsOf('cheerio', { minConcurrency: 10, maxConcurrency: 5, maxConcurency: 3, maxRetries: -1 });
    expect(problems).toMatch(/"maxConcurency"/);
    expect(problems).toMatch(/"maxRetries"/);
    expect(problems).toMatch(/"minConcurrency" \(10\) must not be above "maxConcurrency" \(5\)/);
  });
});

describe('the defaults', () => {
  it('are those of the documentation', () => {
    expect(resolveOptions('cheerio', {})).toMatchObject({
      kind: 'cheerio',
      owner: 'CheerioCrawler',
      maxRequestRetries: 3,
      maxSessionRotations: 10,
      retryDelayMs: 1_000,
      maxRetryDelayMs: 60_000,
      requestHandlerTimeoutMs: 60_000,
      navigationTimeoutMs: 30_000,
      maxRequestsPerCrawl: Infinity,
      maxCrawlDepth: Infinity,
      maxRequestsPerMinute: Infinity,
      minConcurrency: 1,
      maxConcurrency: 200,
      sameDomainDelayMs: 0,
      useSessionPool: true,
      persistCookiesPerSession: true,
      retryOnBlocked: false,
      blockedStatusCodes: [401, 403, 429],
      queueAccess: 'owner',
      keepAlive: false,
      ignoreSslErrors: false,
      allowPrivateAddresses: false,
      maxBodyBytes: 10 * 1024 * 1024,
      maxRedirects: 10,
      additionalMimeTypes: [],
      statusMessageLoggingIntervalMs: 10_000,
    });
    expect(resolveOptions('http').userAgent).toMatch(/^Mozilla\/5\.0 \(compatible; orcrawl\/\d+\.\d+\.\d+.*\)$/);
  });

  it('of FileDownload take any type up to the limit of downloads, and give a stream two minutes', () => {
    expect(resolveOptions('file', {})).toMatchObject({
      maxBodyBytes: LIMITS.downloadBytes.max,
      additionalMimeTypes: ['*/*'],
      requestHandlerTimeoutMs: 60_000,
    });
    const streaming = resolveOptions('file', { streamHandler() {} });
    expect(streaming).toMatchObject({ navigationTimeoutMs: 120_000, requestHandlerTimeoutMs: 120_000 });
  });

  it('follow from other options where they belong together', () => {
    expect(resolveOptions('http', { useSessionPool: false }).persistCookiesPerSession).toBe(false);
    expect(resolveOptions('http', { minConcurrency: 500 }).maxConcurrency).toBe(500);
    expect(resolveOptions('http', { maxRetryDelayMs: 10 }).retryDelayMs).toBe(10);
    expect(resolveOptions('http', { retryDelayMs: 90_000 }).maxRetryDelayMs).toBe(90_000);
    const pool = { minConcurrency: 2, maxConcurrency: 4, maxTasksPerMinute: 60 };
    expect(resolveOptions('http', { autoscaledPoolOptions: pool })).toMatchObject({
      minConcurrency: 2,
      maxConcurrency: 4,
      maxRequestsPerMinute: 60,
    });
    expect(resolveOptions('http', { autoscaledPoolOptions: pool, maxConcurrency: 3 }).maxConcurrency).toBe(3);
    expect(resolveOptions('http', { sessionPoolOptions: { blockedStatusCodes: [418] } }).blockedStatusCodes).toEqual([
      418,
    ]);
    expect(resolveOptions('http', { experiments: { requestLocking: true } }).queueAccess).toBe('shared');
  });

  it('turn seconds into milliseconds that a timer can hold', () => {
    expect(resolveOptions('http', { sameDomainDelaySecs: 1.5 }).sameDomainDelayMs).toBe(1_500);
    expect(resolveOptions('http', { requestHandlerTimeoutSecs: Infinity }).requestHandlerTimeoutMs).toBe(2 ** 31 - 1);
    expect(resolveOptions('http', { navigationTimeoutSecs: 1e9 }).navigationTimeoutMs).toBe(2 ** 31 - 1);
  });
});

describe('resolved options', () => {
  it('are frozen and no longer follow the objects they came from', () => {
    const given: CheerioCrawlerOptions = {
      preNavigationHooks: [() => {}],
      autoscaledPoolOptions: { maxConcurrency: 5 },
    };
    const resolved = resolveOptions('cheerio', given);
    (given.preNavigationHooks as unknown[]).push(() => {});
    given.maxRequestRetries = 9;
    expect(resolved.preNavigationHooks).toHaveLength(1);
    expect(resolved.maxRequestRetries).toBe(3);
    expect(() => Object.assign(resolved, { maxConcurrency: 1 })).toThrow(TypeError);
    expect(() => Object.assign(resolved.autoscaledPoolOptions, { maxConcurrency: 1 })).toThrow(TypeError);
    expect(() => (resolved.blockedStatusCodes as number[]).push(1)).toThrow(TypeError);
  });

  it('take a router as requestHandler or router', () => {
    const router = () => {};
    expect(resolveOptions('cheerio', { router }).requestHandler).toBe(router);
    expect(resolveOptions('cheerio', { requestHandler: router }).requestHandler).toBe(router);
    expect(resolveOptions('cheerio', {}).requestHandler).toBeUndefined();
  });

  it('hold content types in lower case without parameters', () => {
    const additionalMimeTypes = ['Image/PNG', 'text/csv; charset=utf-8', 'video/*'];
    expect(resolveOptions('http', { additionalMimeTypes }).additionalMimeTypes).toEqual([
      'image/png',
      'text/csv',
      'video/*',
    ]);
  });
});

describe('wrong options', () => {
  it.each<[CrawlerKind, unknown, string | RegExp]>([
    [
      'cheerio',
      { maxConcurrency: 'ten' },
      'CheerioCrawler option "maxConcurrency" must be a whole number from 1, got "ten"',
    ],
    [
      'cheerio',
      { maxRequestPerCrawl: 5 },
      'CheerioCrawler has no option "maxRequestPerCrawl", did you mean "maxRequestsPerCrawl"?',
    ],
    ['basic', { navigationTimeoutSecs: 5 }, /BasicCrawler has no option "navigationTimeoutSecs"/],
    ['http', { streamHandler() {} }, /HttpCrawler has no option "streamHandler"/],
    [
      'http',
      { handlePageFunction() {} },
      /"handlePageFunction" was replaced by "requestHandler" \(see docs\/from-crawlee.md\)/,
    ],
    ['cheerio', { pseudoUrls: [] }, /was replaced by "globs" and "regexps" of enqueueLinks/],
    ['cheerio', { headless: true }, /belongs to PlaywrightCrawler/],
    ['http', { requestHandler() {}, router() {} }, /"requestHandler" and "router" cannot be combined/],
    ['file', { streamHandler() {}, requestHandler() {} }, /"streamHandler" and "requestHandler" cannot be combined/],
    [
      'http',
      { minConcurrency: 5, maxConcurrency: 4 },
      /"minConcurrency" \(5\) must not be above "maxConcurrency" \(4\)/,
    ],
    ['http', { minConcurrency: 5, autoscaledPoolOptions: { maxConcurrency: 4 } }, /minConcurrency/],
    ['http', { retryDelayMs: 50, maxRetryDelayMs: 10 }, /"retryDelayMs" \(50\) must not be above/],
    ['http', { persistCookiesPerSession: true, useSessionPool: false }, /needs sessions/],
    ['http', { blockedStatusCodes: [1e3] }, /blockedStatusCodes/],
    ['http', { blockedStatusCodes: [403], sessionPoolOptions: { blockedStatusCodes: [403] } }, /give it once/],
    [
      'http',
      {
        requestManager: { fetchNextRequest() {}, markRequestHandled() {}, reclaimRequest() {} },
        requestList: { fetchNextRequest() {} },
      },
      /only source/,
    ],
    ['http', { userAgent: 'a\r\nX-Injected: 1' }, /userAgent.*printable/],
    ['http', { userAgent: '' }, /userAgent/],
    ['http', { forceResponseEncoding: 'klingon' }, /forceResponseEncoding/],
    ['http', { additionalMimeTypes: ['png'] }, /additionalMimeTypes/],
    ['http', { respectRobotsTxtFile: { agent: 'x' } }, /respectRobotsTxtFile/],
    ['http', { paceBy: 'ip' }, /"paceBy" must be/],
    ['http', { proxyConfiguration: { proxyUrls: [] } }, /a ProxyConfiguration/],
    ['http', { requestQueue: 'default' }, /a RequestQueue/],
    ['http', { log: console }, /a Log/],
    ['http', { maxRequestsPerCrawl: 0 }, /maxRequestsPerCrawl/],
    ['http', { maxRequestsPerMinute: -1 }, /maxRequestsPerMinute/],
    ['http', { requestHandlerTimeoutSecs: 0 }, /requestHandlerTimeoutSecs/],
    ['http', { preNavigationHooks: [1] }, /preNavigationHooks/],
    ['http', 'https://example.com', /must be an object/],
  ])('of %s: %j', (kind, given, message) => {
    const found = problemsOf(kind, given);
    if (typeof message === 'string') expect(found).toBe(message);
    else expect(found).toMatch(message);
  });

  it('are reported together', () => {
    const message = problemsOf('cheerio', { maxConcurrency: 0, requestHander() {}, handlePageFunction() {} });
    expect(message.split('; ')).toHaveLength(3);
  });
});

describe('options of Crawlee without effect', () => {
  it('are named in one warning each, once per process', () => {
    const warnings: string[] = [];
    const given = {
      fingerprintOptions: {},
      useFingerprints: true,
      experiments: { containerAwareMemory: true },
    } as never;
    for (let crawler = 0; crawler < 3; crawler++) resolveOptions('cheerio', given, (text) => warnings.push(text));
    expect(warnings).toHaveLength(3);
    expect(warnings.join()).toMatch(
      /"fingerprintOptions".*"useFingerprints".*"experiments\.containerAwareMemory".*docs\/from-crawlee\.md/,
    );
  });
});

describe('the shapes', () => {
  it('grow from one kind of crawler to the next', () => {
    const names = (kind: CrawlerKind) => Object.keys(SHAPES[kind]);
    expect(names('http')).toEqual(expect.arrayContaining(names('basic')));
    expect(names('cheerio')).toEqual(names('http'));
    expect(names('file')).toEqual(expect.arrayContaining(names('http')));
  });
});
