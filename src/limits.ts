// Every bound on what a page, a host or a link can cost, in one list: docs/limits.md shows it, and a test compares them.
// Promise: whoever reaches a limit is counted under its name, in the metric `orcrawl_limits_reached_total`.
import type { ErrorCode } from './errors.js';

export interface Limit {
  readonly max: number;
  readonly unit: string;
  /** The code of the failure; without one the reader goes on with what it has. */
  readonly code?: ErrorCode;
  /** What happens beyond it. */
  readonly beyond: string;
}

export const LIMITS = {
  // Links and requests
  urlCharacters: {
    max: 65_536,
    unit: 'characters of a URL',
    code: 'URL_INVALID',
    beyond: 'It is not a URL; no key is computed of it. Links are skipped as `invalid`.',
  },
  hostCharacters: { max: 255, unit: 'characters of a host name', code: 'URL_INVALID', beyond: 'It is not a URL.' },
  redirectVisits: {
    max: 2,
    unit: 'visits of one URL in a chain of redirects',
    code: 'REDIRECT_LIMIT',
    beyond: 'The request fails.',
  },
  pageLinks: {
    max: 100_000,
    unit: 'links that one visit may add',
    code: 'HANDLER_FAILED',
    beyond: 'The call that adds more fails.',
  },
  globCharacters: { max: 4_096, unit: 'characters of a glob', code: 'OPTION_INVALID', beyond: 'It is not a glob.' },
  // Each that is not closed is looked for to the end of the glob.
  globClasses: { max: 32, unit: '`[` in a glob', code: 'OPTION_INVALID', beyond: 'It is not a glob.' },
  globReadings: {
    max: 1_000,
    unit: 'globs that the braces of one stand for',
    code: 'OPTION_INVALID',
    beyond: 'It is not a glob.',
  },
  // The answer
  bodyBytes: {
    max: 10 * 1024 * 1024,
    unit: 'bytes of a body, on the wire, decoded, or of the DOM in a browser',
    code: 'BODY_TOO_LARGE',
    beyond: 'The request fails. `maxBodyBytes` changes it.',
  },
  downloadBytes: {
    max: 1024 ** 3,
    unit: 'bytes of a file of FileDownload',
    code: 'BODY_TOO_LARGE',
    beyond: 'The request fails. `maxBodyBytes` changes it.',
  },
  listBytes: {
    max: 256 * 1024 * 1024,
    unit: 'bytes of a list that downloadListOfUrls reads',
    code: 'BODY_TOO_LARGE',
    beyond: 'The call fails.',
  },
  headerBytes: {
    max: 64 * 1024,
    unit: 'bytes of the headers of a response',
    code: 'HTTP_MALFORMED',
    beyond: 'The request fails.',
  },
  framingBytes: {
    max: 1024 * 1024,
    unit: 'bytes that a response spends on its status line and on extensions of chunks',
    code: 'HTTP_MALFORMED',
    beyond: 'The request fails.',
  },
  interimResponses: {
    max: 32,
    unit: 'responses of 1xx before the one that counts',
    code: 'HTTP_MALFORMED',
    beyond: 'The request fails.',
  },
  contentCodings: { max: 3, unit: 'codings of one body', code: 'BODY_DECODE', beyond: 'The request fails.' },
  tunnelAnswerBytes: {
    max: 16 * 1024,
    unit: 'bytes of a proxy’s answer to CONNECT',
    code: 'PROXY_FAILED',
    beyond: 'The request fails.',
  },
  // Cookies
  cookieLineCharacters: { max: 8_192, unit: 'characters of a Set-Cookie line', beyond: 'The cookie is dropped.' },
  cookieCharacters: { max: 4_096, unit: 'characters of a cookie’s name and value', beyond: 'The cookie is dropped.' },
  cookiesPerResponse: { max: 200, unit: 'Set-Cookie lines of one response', beyond: 'The rest is dropped.' },
  cookiesPerDomain: { max: 180, unit: 'cookies of one domain in a session', beyond: 'The oldest 30 are dropped.' },
  cookiesPerSession: { max: 3_000, unit: 'cookies of a session', beyond: 'The oldest 300 are dropped.' },
  // Robots and sitemaps
  robotsBytes: { max: 500 * 1024, unit: 'bytes of a robots.txt', beyond: 'The rest is not read.' },
  robotsPackBytes: {
    max: 16 * 1024,
    unit: 'bytes of rules kept of a host',
    beyond: 'Rules are shortened so that they forbid more, never less.',
  },
  robotsSteps: {
    max: 4_000_000,
    unit: 'characters compared to decide about one URL',
    beyond: 'The URL is not allowed.',
  },
  sitemapNesting: {
    max: 64,
    unit: 'levels of elements in a sitemap',
    code: 'SITEMAP_INVALID',
    beyond: 'The file ends there.',
  },
  sitemapAttributes: {
    max: 256,
    unit: 'attributes of an element in a sitemap',
    code: 'SITEMAP_INVALID',
    beyond: 'The file ends there.',
  },
  sitemapUrls: {
    max: 1_000_000,
    unit: 'URLs that `Sitemap.load` holds',
    code: 'SITEMAP_LIMIT',
    beyond: 'The rest is not read. `maxUrls` changes it.',
  },
  sitemapCharacters: {
    max: 64 * 1024 * 1024,
    unit: 'characters of URLs that `Sitemap.load` holds',
    code: 'SITEMAP_LIMIT',
    beyond: 'The rest is not read. `maxCharacters` changes it.',
  },
  listedUrlCharacters: {
    // V8 hashes longer strings than 16,383 characters by their length alone: as keys, thousands of one length take minutes.
    max: 8_192,
    unit: 'characters of a URL that `map` takes, from an llms.txt, a sitemap or a page',
    beyond: 'It is left out.',
  },
  llmsBytes: {
    max: 10 * 1024 * 1024,
    unit: 'bytes of llms.txt or llms-full.txt',
    beyond: 'The file is not read.',
  },
  llmsPages: { max: 50_000, unit: 'pages of an llms.txt', beyond: 'The rest is not read.' },
  llmsCharacters: {
    max: 64 * 1024 * 1024,
    unit: 'characters of URLs of an llms.txt',
    beyond: 'The rest is not read.',
  },
  sitemapProblems: { max: 1_000, unit: 'problems that `Sitemap.load` lists', beyond: 'The rest is not listed.' },
  // A page as bytes and as a tree
  encodingLabelCharacters: { max: 32, unit: 'characters of an encoding’s name', beyond: 'It is not an encoding.' },
  baseBytes: { max: 2_048, unit: 'bytes of `<base href>`', beyond: 'The page has no base.' },
  baseRepeats: {
    max: 8,
    unit: 'characters by which its base makes the links of a page, list or document longer, per byte of it',
    beyond: 'Relative links have no address.',
  },
  treeDepth: { max: 512, unit: 'levels of elements', beyond: 'Elements are not nested any deeper.' },
  treeNodes: { max: 1_000_000, unit: 'nodes of a page', beyond: 'The page ends there.' },
  markupDepth: {
    max: 2_000,
    unit: 'levels of elements in XML, and in HTML given as text to `$`',
    beyond: 'The document ends there.',
  },
  streamedParts: { max: 10_000, unit: 'parts that a page streams', beyond: 'The rest stays where it is.' },
  jsonDepth: {
    max: 100,
    unit: 'levels of JSON in a page',
    beyond: 'The block is left out: no vocabulary nests deeper, and writing it would fail.',
  },
  jsonLdBytes: { max: 1_000_000, unit: 'bytes of JSON-LD', beyond: 'The rest is left out.' },
  // What is read of a page
  queryCharacters: {
    max: 200_000,
    unit: 'characters of a page that are compared with the `query` of a crawl',
    beyond: 'The rest is not compared.',
  },
  answerWords: {
    max: 200_000,
    unit: 'words near those of a `query` that a crawl remembers, to tell when it has found `enough`',
    beyond: 'Further words count as new on every page, so the crawl ends later.',
  },
  markdownContainers: {
    max: 32,
    unit: 'levels of lists and quotes in markdown',
    beyond: 'They are not indented any further.',
  },
  styleBytes: {
    max: 1024 * 1024,
    unit: "bytes of a page's own style sheets read to find hidden text",
    beyond: 'The rest is not read.',
  },
  styleRules: { max: 20_000, unit: "rules of a page's own style sheets", beyond: 'The rest is not read.' },
  hiddenTexts: { max: 1_000, unit: 'hidden texts that `hiddenText` lists', beyond: 'The rest is not listed.' },
  contentBlocks: {
    max: 50_000,
    unit: 'blocks of text among which the main content is looked for',
    beyond: 'All of the page is its content, with a confidence of 0.',
  },
  tableColumns: { max: 200, unit: 'columns of a table', beyond: 'The rest is left out.' },
  tablePlaces: {
    max: 8,
    unit: 'places in the rows and columns of a table, per element of it',
    beyond: 'Spans end, and rows are not filled up.',
  },
  cellSpan: { max: 100, unit: 'rows or columns of a cell', beyond: 'It spans no more.' },
  contentUrlCharacters: {
    max: 4_096,
    unit: 'characters of an address in markdown and inventories',
    beyond: 'The link has no address.',
  },
  diffEdits: {
    max: 1_000,
    unit: 'lines that a difference of two versions of a page removes or adds',
    beyond: 'The part that differs is shown as replaced.',
  },
  contentImages: { max: 1_000, unit: 'images of the content', beyond: 'The rest is left out.' },
  inventoryEntries: { max: 20_000, unit: 'links or media of an inventory', beyond: 'The rest is left out.' },
  metaTags: { max: 500, unit: '`meta` elements', beyond: 'The rest is left out.' },
  linkedEntities: { max: 500, unit: 'things of JSON-LD that metadata is read from', beyond: 'The rest is left out.' },
  structuredItems: { max: 5_000, unit: 'items and properties of microdata', beyond: 'The rest is left out.' },
  structuredRepeats: {
    max: 4,
    unit: 'times that properties of microdata may repeat the page',
    beyond: 'The rest is left out.',
  },
  embeddedDataBytes: { max: 4_000_000, unit: 'bytes of data for scripts', beyond: 'The rest is left out.' },
  embeddedDataValues: { max: 200_000, unit: 'values of data for scripts', beyond: 'The rest is left out.' },
  standInPosts: { max: 1_000, unit: 'posts of data that stand in for a page’s text', beyond: 'The rest is left out.' },
  standInCharacters: {
    max: 1_000_000,
    unit: 'characters of data that stand in for a page’s text',
    beyond: 'The rest is left out.',
  },
  fieldSteps: {
    max: 6,
    unit: 'times that fields may look through a page, per field',
    beyond: 'Items end there; fields are null.',
  },
  fieldMatches: { max: 10_000, unit: 'matches of a field’s pattern', beyond: 'The rest is left out.' },
  xpathSteps: { max: 100, unit: 'times that XPaths may look through a page', beyond: 'Results end there.' },
  digestedCharacters: {
    max: 65_536,
    unit: 'characters that decide whether two pages are the same',
    beyond: 'The rest is not compared.',
  },
  // Documents
  documentMs: {
    max: 30_000,
    unit: 'milliseconds of work on one document',
    code: 'DOCUMENT_LIMIT',
    beyond: 'The request fails.',
  },
  documentHeapMegabytes: {
    max: 512,
    unit: 'MB of heap for one document',
    code: 'DOCUMENT_LIMIT',
    beyond: 'The request fails.',
  },
  documentBufferBytes: {
    max: 256 * 1024 * 1024,
    unit: 'bytes that a PDF may have unpacked at once',
    code: 'DOCUMENT_LIMIT',
    beyond: 'The request fails.',
  },
  documentUnpackedBytes: {
    max: 100 * 1024 * 1024,
    unit: 'bytes that the archive of a document unpacks to',
    code: 'DOCUMENT_LIMIT',
    beyond: 'The request fails.',
  },
  documentEntries: {
    max: 10_000,
    unit: 'files in the archive of a document, or entries of a feed',
    code: 'DOCUMENT_LIMIT',
    beyond: 'An archive fails; of a feed the rest is left out.',
  },
  documentPages: { max: 2_000, unit: 'pages of a PDF', beyond: 'The rest is left out.' },
  documentPageItems: {
    max: 200_000,
    unit: 'pieces of text or lines on a page of a PDF',
    beyond: 'The rest is left out.',
  },
  documentCharacters: {
    max: 20_000_000,
    unit: 'characters of HTML that a document becomes',
    beyond: 'The document ends there.',
  },
  documentDepth: { max: 256, unit: 'levels of elements in a document', beyond: 'Elements are not nested any deeper.' },
  documentNodes: { max: 2_000_000, unit: 'nodes of XML in one part of a document', beyond: 'The part ends there.' },
  documentAttributes: {
    max: 256,
    unit: 'attributes of an element in a document',
    beyond: 'The rest is left out.',
  },
  documentCells: { max: 500_000, unit: 'filled cells of a document’s sheets', beyond: 'The rest is left out.' },
  // What is stored
  parquetColumns: {
    max: 4_096,
    unit: 'columns of a Parquet table',
    code: 'TABLE_TOO_WIDE',
    beyond: 'The export fails.',
  },
  // A browser
  consoleEntries: {
    max: 1_000,
    unit: 'console messages, or requests, noted of a page',
    beyond: 'The rest is not noted.',
  },
  consoleCharacters: { max: 10_000, unit: 'characters of a console message', beyond: 'The rest is cut.' },
  popups: { max: 5, unit: 'windows that a page opens', beyond: 'The rest is closed.' },
  // The jobs of a server and the console
  rowUrlCharacters: { max: 2_000, unit: 'characters of a URL in the console’s lists', beyond: 'The rest is cut.' },
  rowTitleCharacters: { max: 300, unit: 'characters of a title in the console’s lists', beyond: 'The rest is cut.' },
  rowErrorCharacters: { max: 500, unit: 'characters of an error in the console’s lists', beyond: 'The rest is cut.' },
  readingMs: {
    max: 3_000,
    unit: 'milliseconds in which selectors and patterns of a request to a server read a page',
    code: 'VISIT_BLOCKED_LOOP',
    beyond: 'The page fails.',
  },
  hidingSteps: {
    max: 5_000_000,
    unit: 'comparisons of an element with a rule of the page that hides it, by the MCP server',
    beyond: 'The last rules hide nothing.',
  },
  jobErrors: { max: 10_000, unit: 'errors of a job that its API lists', beyond: 'The rest is counted, not listed.' },
  monitors: { max: 100, unit: 'monitors of a server', beyond: 'Further ones are refused with 429.' },
  monitorChecks: { max: 30, unit: 'checks that are kept of a monitor', beyond: 'The oldest is removed.' },
  monitorPages: { max: 10_000, unit: 'pages of one check of a monitor', beyond: 'The rest is not checked.' },
  figureHosts: { max: 100_000, unit: 'domains that the console adds up', beyond: 'The rest counts as `other`.' },
  figureNames: {
    max: 200,
    unit: 'statuses, content types or error codes that the console adds up',
    beyond: 'The rest counts as `other`.',
  },
  searchedRows: {
    max: 50_000,
    unit: 'pages that one request of the console searches',
    beyond: 'The answer says where the search stopped; the next request goes on there.',
  },
  watcherBytes: {
    max: 2_000_000,
    unit: 'bytes that wait for a slow reader of the console',
    beyond: 'Changes are left out; the reader gets the whole state when it is back.',
  },
  watchers: { max: 500, unit: 'open streams of a server’s console', beyond: 'Further ones are refused with 429.' },
} satisfies Readonly<Record<string, Limit>>;

export type LimitName = keyof typeof LIMITS;

const reached = new Map<LimitName, number>();

/** Called where a limit is reached: once per page, answer or file. */
export function limitReached(name: LimitName): void {
  reached.set(name, (reached.get(name) ?? 0) + 1);
}

/** How often each limit was reached since the process began. */
export function limitsReached(name: LimitName): number {
  return reached.get(name) ?? 0;
}
