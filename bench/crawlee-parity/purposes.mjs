// Where orcrawl differs from Crawlee on purpose: the scenario, and the reason as in docs/from-crawlee.md.
const FILTERS = 'options of `getData` that Crawlee ignores outside of its cloud are honoured';
export const PURPOSES = {
  'request: unknown methods and options': 'unknown options and methods are errors, all named at once',
  'request: own id': 'the id of a request follows from its unique key',
  'proxy: no proxies at all': 'a proxy configuration without proxies is an error',
  'cheerio: latin1 by header': '`contentType.encoding` is the encoding of the response, not of the decoded text',
  'cheerio: extract with a map': 'a newer Cheerio, which has `$.extract`',
  'links: onSkippedRequest of the call': 'links that a pattern excludes are reported, too',
  'utils: extractUrls': 'URLs of IP addresses and of short names are found, too',
  'dataset: fields': FILTERS,
  'dataset: clean, skipHidden and skipEmpty': FILTERS,
  'kvs: file names': 'a record `a.png` is the file `a.png.png`: two keys are two files',
  'cheerio: a page without content type': 'a page without content type is handled as HTML',
  'request: not a URL': 'a request without a valid URL is an error at once',
  'playwright: downloads without acceptDownloads':
    'downloads need `acceptDownloads: true`: a page must not fill the disk',
  'sample: a table of items with different keys':
    'CSV has the keys of all items, not of the first only, and `true` as `true`',
  'config: purgeOnStart': '`purgeOnStart` is `finished`: what was interrupted goes on',
};
