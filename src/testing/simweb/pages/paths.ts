// The special paths that every synthetic host serves under `/_/…`, one for each thing a test wants to provoke.
// Data only, so that it can be listed without loading the server; the answers are typed by these names.

/** By the first part of the path after `/_/`; arguments are in capitals. */
const SPECIAL_PATHS = {
  status: { usage: '/_/status/CODE', does: 'answers with this status (200–599) and a small page' },
  delay: { usage: '/_/delay/MS', does: 'waits before the status line' },
  'delay-body': { usage: '/_/delay-body/MS', does: 'sends headers and half the page at once, the rest after the wait' },
  429: {
    usage: '/_/429[/KEY]?after=SECS[&date=1]',
    does: '429 with Retry-After until SECS have passed since the first request; then 200',
  },
  503: { usage: '/_/503[/KEY]?after=SECS[&date=1]', does: 'the same with 503' },
  flaky: {
    usage: '/_/flaky/N/KEY[?status=CODE]',
    does: 'fails (500, or CODE) the first N times for this key and host, then 200',
  },
  redirect: { usage: '/_/redirect/N[?status=CODE]', does: 'N redirects in a row, then a page' },
  'redirect-to': {
    usage: '/_/redirect-to?url=URL[&status=CODE]',
    does: 'redirects to this URL, absolute or relative, as given',
  },
  'redirect-host': {
    usage: '/_/redirect-host/HOST[?status=CODE]',
    does: 'redirects to the home page of another host of this web',
  },
  'redirect-loop': { usage: '/_/redirect-loop', does: 'two URLs that redirect to each other' },
  'redirect-self': {
    usage: '/_/redirect-self',
    does: 'without its cookie: a redirect to the same URL that sets it; with it: a page',
  },
  echo: { usage: '/_/echo', does: 'JSON of method, url, headers and body of the request' },
  cookies: {
    usage: '/_/cookies, /_/cookies/set?NAME=VALUE…, /_/cookies/delete?NAME…',
    does: 'JSON of the request’s cookies; sets or deletes cookies and redirects there',
  },
  login: {
    usage: '/_/login (GET a form, POST it), /_/members',
    does: 'POST user=NAME sets a session cookie and redirects (303) to /_/members, which answers 401 without it',
  },
  members: { usage: '/_/members', does: 'a page for those who logged in, else 401' },
  auth: {
    usage: '/_/auth/USER/PASSWORD',
    does: 'basic authentication: 401 with a challenge, 200 with the right header',
  },
  etag: { usage: '/_/etag[/VALUE]', does: 'a page with this ETag; 304 when If-None-Match names it' },
  'last-modified': {
    usage: '/_/last-modified',
    does: 'a page with Last-Modified of 2025-06-01; 304 when If-Modified-Since is not before it',
  },
  headers: { usage: '/_/headers?NAME=VALUE…', does: 'a page with these response headers, for example X-Robots-Tag' },
  'header-bytes': { usage: '/_/header-bytes/N', does: 'a page with one header of N bytes (at most 1 MB)' },
  page: { usage: '/_/page?title=TEXT&href=HREF…', does: 'a page with this title and exactly these links' },
  html: { usage: '/_/html?body=HTML', does: 'exactly this HTML' },
  'meta-robots': {
    usage: '/_/meta-robots/CONTENT',
    does: 'a page with <meta name=robots content=CONTENT> and a link home',
  },
  base: { usage: '/_/base?href=HREF', does: 'a page with <base href> and the relative link "relative"' },
  list: { usage: '/_/list', does: 'a list whose next page a script shows when #next is clicked (needs a browser)' },
  scroll: { usage: '/_/scroll', does: 'a list that grows to 40 items while it is scrolled (needs a browser)' },
  shell: { usage: '/_/shell', does: 'an empty page that a script fills after 200 ms (needs a browser)' },
  json: { usage: '/_/json', does: 'a small JSON document' },
  xml: { usage: '/_/xml', does: 'a small XML document' },
  text: { usage: '/_/text', does: 'plain text' },
  pdf: { usage: '/_/pdf', does: 'a small PDF (binary type)' },
  image: { usage: '/_/image', does: 'a PNG of one pixel' },
  download: {
    usage: '/_/download/NAME?bytes=N',
    does: 'a file as an attachment (at most 100 MB here; see /_/bytes for more)',
  },
  empty: { usage: '/_/empty', does: '200 text/html without a byte of body' },
  'no-type': { usage: '/_/no-type', does: 'HTML without a Content-Type' },
  encoded: { usage: '/_/encoded/gzip|br|deflate', does: 'a page with this Content-Encoding, asked for or not' },
  charset: {
    usage: '/_/charset/LABEL[?declare=header|meta|both|none|wrong]',
    does: 'a page in this encoding, declared as asked; unknown labels are sent as UTF-8 under that label',
  },
  bytes: { usage: '/_/bytes/N[?type=TYPE]', does: 'N bytes with an honest Content-Length, streamed' },
  endless: { usage: '/_/endless', does: 'a chunked page that never ends' },
  drip: { usage: '/_/drip/BYTES/BYTES_PER_SEC', does: 'a body that comes slowly, some bytes every 50 ms' },
  'lying-length': {
    usage: '/_/lying-length[?claim=N&send=M]',
    does: 'Content-Length N (10000) but M (5000, at most 60000) bytes, then the connection closes',
  },
  'close-mid-body': { usage: '/_/close-mid-body', does: 'half a chunked page, then the connection is cut' },
  'gzip-bomb': {
    usage: '/_/gzip-bomb[?mb=N]',
    does: 'one gzip body of about N KB that unpacks to N MiB (1000) of spaces',
  },
  'bad-gzip': {
    usage: '/_/bad-gzip[?how=garbage|truncated|checksum]',
    does: 'a body labelled gzip that does not unpack',
  },
  'wrong-charset': { usage: '/_/wrong-charset', does: 'windows-1251 labelled UTF-8' },
  garbage: { usage: '/_/garbage', does: 'bytes that are not HTTP' },
  reset: { usage: '/_/reset', does: 'resets the connection instead of answering' },
  close: { usage: '/_/close', does: 'closes the connection instead of answering' },
  hang: { usage: '/_/hang', does: 'never answers and keeps the connection' },
} as const;

export type SpecialName = keyof typeof SPECIAL_PATHS;

export interface SpecialPath {
  /** How the path is written. */
  readonly usage: string;
  readonly does: string;
}

/**
 * Every special path: how it is written and what it does.
 *
 * @example
 * for (const { usage } of SIMWEB_PATHS) console.log(usage);
 */
export const SIMWEB_PATHS: readonly SpecialPath[] = Object.freeze(Object.values(SPECIAL_PATHS));
