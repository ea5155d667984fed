// The standalone `enqueueLinks`: adds URLs to a queue at once.
import { CrawlError } from '../../errors.js';
import {
  absoluteUrls,
  type BatchAddRequestsResult,
  checkEnqueueLinksOptions,
  type EnqueueLinksOptions,
  type RequestSink,
  selectLinks,
  type SkipReason,
} from '../../handle/enqueue-links.js';

/**
 * Filters URLs and adds them to a queue. In handlers use the context's `enqueueLinks`, which knows the page.
 *
 * @example
 * await enqueueLinks({ urls, requestQueue, baseUrl: 'https://example.com', globs: ['https://example.com/shop/**'] });
 */
export async function enqueueLinks(
  options: EnqueueLinksOptions & { urls: readonly string[]; requestQueue: RequestSink },
): Promise<BatchAddRequestsResult> {
  if (!options?.urls || !options.requestQueue) {
    throw new CrawlError(
      'OPTION_INVALID',
      'enqueueLinks needs "urls" and "requestQueue"; in a handler use the context\'s',
    );
  }
  checkEnqueueLinksOptions(options);
  const { waitForAllRequestsToBeAdded } = options;
  const skipped: { url: string; reason: SkipReason }[] = [];
  const skip = (url: string, reason: SkipReason) => void skipped.push({ url, reason });
  const found = absoluteUrls(options.urls, options.baseUrl, skip);
  const page = { url: undefined, loadedUrl: undefined, crawlDepth: -1 };
  const links = selectLinks(found, options, page, { maxCrawlDepth: undefined, skip });
  const { addedRequests } = await options.requestQueue.addRequestsBatched(
    links.slice(0, options.limit ?? Infinity).map((link) => link.toRequest()),
    {
      forefront: options.forefront,
      seeded: false,
      ...(waitForAllRequestsToBeAdded === undefined ? {} : { waitForAllRequestsToBeAdded }),
    },
  );
  for (const one of skipped) await options.onSkippedRequest?.(one);
  return { processedRequests: addedRequests, unprocessedRequests: [] };
}
