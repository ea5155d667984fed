// A source of requests that is a URL: a text to download and search for URLs.
// This stage has no network; the crawl layer fetches the text.
import { CrawlError } from '../../errors.js';
import { finderOf } from '../../request/found.js';
import { Request, type RequestOptions } from '../../request/request.js';

/** A list of URLs to download; each request gets the other properties. */
export interface UrlListSource extends Omit<RequestOptions, 'url'> {
  /** The address of a text with URLs in it, fetched when the list is opened. */
  requestsFromUrl: string;
  /** Matches a URL in the text. */
  regex?: RegExp;
}

let downloadUrls: ((list: UrlListSource) => Promise<string[]>) | undefined;

export function fetchUrlListsWith(download: (list: UrlListSource) => Promise<string[]>): void {
  downloadUrls = download;
}

export function isUrlList(source: unknown): source is UrlListSource {
  return typeof source === 'object' && source !== null && 'requestsFromUrl' in source;
}

export async function downloadRequests(list: UrlListSource): Promise<Request[]> {
  if (!downloadUrls) throw new CrawlError('REQUEST_INVALID', 'requestsFromUrl needs a crawler to fetch the list');
  const { requestsFromUrl: _url, regex: _regex, ...options } = list;
  const urls = await downloadUrls(list);
  const asFound = finderOf(urls) ?? ((request: Request) => request);
  return urls.map((url) => asFound(new Request({ ...options, url })));
}
