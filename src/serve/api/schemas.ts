// What bodies of the API may say: one zod schema per body, which the OpenAPI document is made of, too.
// Promise: a wrong field is named; what passed is bounded in length and count.
import { z } from 'zod';
import { CRAWL_ORDERS } from '../../crawl/order/options.js';
import { CONTENT_CHOICES, type ContentOptions } from '../../extract/content-options.js';

export const aUrl = z
  .string()
  .min(1)
  .max(8_192)
  .describe('An http or https URL; https:// is added when the scheme is missing');
const selector = z.string().min(1).max(1_000);
const aSize = z.object({ width: z.int().min(16).max(4_096), height: z.int().min(16).max(4_096) });
const aJsonSchema = z.record(z.string(), z.unknown());
const aPrompt = z.string().min(1).max(10_000);

const screenshotOptions = {
  fullPage: z.boolean().optional(),
  quality: z.number().min(0).max(100).optional(),
  viewport: aSize.optional(),
};

export const FORMAT_NAMES = [
  'markdown',
  'html',
  'rawHtml',
  'links',
  'images',
  'screenshot',
  'screenshot@fullPage',
  'summary',
  'changeTracking',
  'json',
  'extract',
  'attributes',
] as const;

const aFormat = z.union([
  z.enum(FORMAT_NAMES),
  z.discriminatedUnion('type', [
    z.object({ type: z.enum(['markdown', 'html', 'rawHtml', 'links', 'images', 'summary']) }),
    z.object({ type: z.literal('screenshot'), ...screenshotOptions }),
    z.object({
      type: z.literal('json'),
      prompt: aPrompt.optional(),
      schema: aJsonSchema.optional(),
      systemPrompt: aPrompt.optional(),
    }),
    z.object({ type: z.literal('question'), question: aPrompt }),
    z.object({ type: z.literal('query'), prompt: aPrompt, mode: z.string().max(50).optional() }),
    z.object({ type: z.literal('highlights'), query: aPrompt }),
    z.object({
      type: z.literal('changeTracking'),
      modes: z.array(z.enum(['git-diff', 'json'])).optional(),
      schema: aJsonSchema.optional(),
      prompt: aPrompt.optional(),
      tag: z.string().max(200).nullish(),
    }),
    z.object({
      type: z.literal('attributes'),
      selectors: z.array(z.object({ selector, attribute: z.string().min(1).max(200) })).max(100),
    }),
  ]),
]);
export type Format = z.infer<typeof aFormat>;

const anAction = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('wait'),
    milliseconds: z.number().min(0).max(60_000).optional(),
    selector: selector.optional(),
  }),
  z.object({ type: z.literal('click'), selector, all: z.boolean().optional() }),
  z.object({ type: z.literal('write'), text: z.string().max(10_000) }),
  z.object({ type: z.literal('press'), key: z.string().min(1).max(100) }),
  z.object({
    type: z.literal('scroll'),
    direction: z.enum(['up', 'down']).default('down'),
    selector: selector.optional(),
  }),
  z.object({ type: z.literal('scrape') }),
  z.object({ type: z.literal('screenshot'), ...screenshotOptions }),
  z.object({ type: z.literal('executeJavascript'), script: z.string().max(100_000) }),
  z.object({
    type: z.literal('pdf'),
    format: z.string().max(20).optional(),
    landscape: z.boolean().optional(),
    scale: z.number().min(0.1).max(2).optional(),
  }),
]);
export type Action = z.infer<typeof anAction>;

/** Accepted from every client and of no effect. */
const ignored = {
  origin: z.string().max(200).optional(),
  integration: z.string().max(200).nullish(),
  zeroDataRetention: z.boolean().optional(),
};

/** Options of content that the API of others does not have. */
const aContent = z
  .strictObject(
    Object.fromEntries(
      Object.entries(CONTENT_CHOICES).map(([name, choices]) => [name, z.literal([...choices]).optional()]),
    ),
  )
  .transform((given) => given as ContentOptions)
  .describe('What of a page is its main content: favor, hidden, math, and parts that are kept or left out');

const scrapeFields = {
  formats: z.array(aFormat).max(20).optional(),
  onlyMainContent: z.boolean().optional(),
  content: aContent.optional(),
  includeTags: z.array(selector).max(100).optional(),
  excludeTags: z.array(selector).max(100).optional(),
  headers: z.record(z.string().max(200), z.string().max(8_192)).optional(),
  waitFor: z.number().min(0).max(60_000).optional(),
  timeout: z.number().min(1).max(300_000).nullish(),
  mobile: z.boolean().optional(),
  actions: z.array(anAction).max(50).optional(),
  parsers: z
    .array(z.union([z.literal('pdf'), z.looseObject({ type: z.literal('pdf') })]))
    .max(5)
    .optional()
    .describe('Which files are read as pages. Default pdf, with Office and other documents; []: none'),
  parsePDF: z.boolean().optional(),
  proxy: z.string().max(50).optional(),
  maxAge: z.number().min(0).optional(),
  minAge: z
    .number()
    .min(0)
    .optional()
    .describe('Answer from the cache only, with a page at least this many milliseconds old; 404 if there is none'),
  storeInCache: z.boolean().optional(),
  location: z
    .looseObject({ country: z.string().max(10).optional(), languages: z.array(z.string().max(35)).max(20).optional() })
    .nullish(),
  skipTlsVerification: z.boolean().optional(),
  removeBase64Images: z.boolean().optional(),
  blockAds: z.boolean().optional().describe('Leave out advertisements and cookie notices'),
  fastMode: z.boolean().optional().describe('Never use a browser unless something else in the request needs one'),
  /** Of version 1. */
  jsonOptions: z
    .object({ prompt: aPrompt.optional(), schema: aJsonSchema.optional(), systemPrompt: aPrompt.optional() })
    .loose()
    .optional(),
  extract: z
    .object({ prompt: aPrompt.optional(), schema: aJsonSchema.optional(), systemPrompt: aPrompt.optional() })
    .loose()
    .optional(),
  changeTrackingOptions: z
    .object({ modes: z.array(z.enum(['git-diff', 'json'])).optional(), tag: z.string().max(200).nullish() })
    .loose()
    .optional(),
};

export const scrapeOptionsBody = z.strictObject({ ...scrapeFields, ...ignored });
export type ScrapeOptions = z.infer<typeof scrapeOptionsBody>;

export const scrapeBody = z.strictObject({ url: aUrl, ...scrapeFields, ...ignored });

const webhook = z.union([
  aUrl,
  z.object({
    url: aUrl,
    headers: z.record(z.string().max(200), z.string().max(8_192)).optional(),
    metadata: z.record(z.string().max(200), z.unknown()).optional(),
    events: z.array(z.enum(['started', 'page', 'completed', 'failed'])).optional(),
  }),
]);
export type WebhookWish = z.infer<typeof webhook>;

const paths = z.array(z.string().max(500)).max(100).optional();

const duplicates = z
  .enum(['keep', 'mark', 'skip'])
  .optional()
  .describe(
    'Near copies of pages that came before: mark names that page in metadata.duplicateOf, skip leaves them out',
  );

const weight = z.number().min(0).max(1_000).optional();

export const crawlBody = z.strictObject({
  url: aUrl,
  prompt: aPrompt.optional(),
  order: z
    .enum(CRAWL_ORDERS)
    .optional()
    .describe('Which pages are visited first. Default bfs; best-first with a query or scorers'),
  query: z
    .string()
    .max(1_000)
    .regex(/[\p{L}\p{N}]/u)
    .optional()
    .describe('What the crawl looks for: pages about it come first'),
  scorers: z
    .strictObject({ keywords: weight, depth: weight, freshness: weight })
    .optional()
    .describe('What decides in a best-first crawl, with weights. Default keywords with a query, else depth'),
  enough: z
    .union([
      z.boolean(),
      z.strictObject({
        window: z.int().min(1).max(10_000).optional(),
        gain: z.number().min(0).max(1).optional(),
        coverage: z.number().min(0).max(1).optional(),
      }),
    ])
    .optional()
    .describe('Ends the crawl when new pages add nothing to what the query asks for'),
  limit: z.int().min(1).max(1_000_000).optional(),
  includePaths: paths,
  excludePaths: paths,
  regexOnFullURL: z.boolean().optional(),
  maxDiscoveryDepth: z.int().min(0).max(1_000).nullish(),
  maxDepth: z.int().min(0).max(1_000).nullish(),
  sitemap: z.enum(['skip', 'include', 'only']).optional(),
  ignoreSitemap: z.boolean().optional(),
  sitemapOnly: z.boolean().optional(),
  ignoreQueryParameters: z.boolean().optional(),
  deduplicateSimilarURLs: z.boolean().optional(),
  duplicates,
  ignoreRobotsTxt: z.boolean().optional(),
  robotsUserAgent: z.string().max(200).optional(),
  crawlEntireDomain: z.boolean().optional(),
  allowBackwardLinks: z.boolean().optional(),
  allowExternalLinks: z.boolean().optional(),
  allowSubdomains: z.boolean().optional(),
  delay: z.number().min(0).max(3_600).optional(),
  maxConcurrency: z.int().min(1).max(1_000).optional(),
  webhook: webhook.optional(),
  scrapeOptions: scrapeOptionsBody.optional(),
  ...ignored,
});
export type CrawlRequest = z.infer<typeof crawlBody>;

export const MAX_BATCH_URLS = 10_000;

export const batchBody = z.strictObject({
  urls: z
    .array(z.string().max(8_192))
    .min(1)
    .max(MAX_BATCH_URLS, `at most ${MAX_BATCH_URLS}; send more as JSON lines (Content-Type: application/x-ndjson)`),
  ignoreInvalidURLs: z.boolean().optional(),
  appendToId: z.string().max(100).optional(),
  maxConcurrency: z.int().min(1).max(1_000).optional(),
  duplicates,
  webhook: webhook.optional(),
  ...scrapeFields,
  ...ignored,
});
/** Without its list; `respectRobots` is for those who start batches otherwise than by a body. */
export type BatchRequest = Omit<z.infer<typeof batchBody>, 'urls'> & { respectRobots?: boolean | undefined };

export const mapBody = z.strictObject({
  url: aUrl,
  search: z.string().max(1_000).optional(),
  sitemap: z.enum(['skip', 'include', 'only']).optional(),
  ignoreSitemap: z.boolean().optional(),
  sitemapOnly: z.boolean().optional(),
  includeSubdomains: z.boolean().optional(),
  ignoreQueryParameters: z.boolean().optional(),
  limit: z.int().min(1).max(100_000).optional(),
  timeout: z.number().min(1).max(300_000).optional(),
  location: z.looseObject({}).optional(),
  ...ignored,
});

export const searchBody = z.strictObject({
  query: z.string().min(1).max(1_000),
  limit: z.int().min(1).max(100).optional(),
  sources: z.array(z.union([z.string(), z.looseObject({ type: z.string() })])).optional(),
  categories: z.array(z.union([z.string(), z.looseObject({ type: z.string() })])).optional(),
  includeDomains: z.array(z.string().max(255)).max(50).optional(),
  excludeDomains: z.array(z.string().max(255)).max(50).optional(),
  tbs: z.string().max(100).optional(),
  location: z.string().max(200).optional(),
  country: z.string().max(10).optional(),
  lang: z.string().max(10).optional(),
  timeout: z.number().min(1).max(300_000).optional(),
  ignoreInvalidURLs: z.boolean().optional(),
  scrapeOptions: scrapeOptionsBody.optional(),
  ...ignored,
});

export const extractBody = z.strictObject({
  urls: z.array(z.string().max(8_192)).min(1).max(100),
  prompt: aPrompt.optional(),
  schema: aJsonSchema.optional(),
  systemPrompt: aPrompt.optional(),
  allowExternalLinks: z.boolean().optional(),
  includeSubdomains: z.boolean().optional(),
  enableWebSearch: z.boolean().optional(),
  showSources: z.boolean().optional(),
  ignoreInvalidURLs: z.boolean().optional(),
  scrapeOptions: scrapeOptionsBody.optional(),
  webhook: webhook.optional(),
  ...ignored,
});
export type ExtractRequest = z.infer<typeof extractBody>;

export const previewBody = z.strictObject({ url: aUrl, prompt: aPrompt, ...ignored });
