// What `orcrawl crawl` stores of a page: one flat item.
// Promise: every item has the same fields in the same order, so that it fits a table.
import { hideLogins } from '../../request/login.js';
import type { HttpCrawlingContext, LoadedRequest, Request } from '../../index.js';

export interface PageItem {
  readonly url: string;
  readonly loadedUrl: string;
  readonly status: number;
  readonly title: string | null;
  readonly description: string | null;
  readonly language: string | null;
  readonly contentType: string;
  /** Of the decoded body. */
  readonly bytes: number;
  readonly depth: number;
  readonly fetchedAt: string;
  readonly text: string;
  readonly links?: readonly string[];
  /** The main content; only when the crawl is asked for markdown. */
  readonly markdown?: string;
}

type Page = Pick<HttpCrawlingContext, 'response' | 'body' | 'contentType' | 'content'> & {
  request: LoadedRequest<Request>;
};

export function pageItem(page: Page, withLinks: boolean, withMarkdown = false): PageItem {
  const { request, response, contentType, body } = page;
  const isMarkup = /^(?:text\/html|application\/xhtml\+xml|(?:text|application)\/xml|.*\+xml)$/.test(contentType.type);
  const content = isMarkup ? page.content : undefined;
  const item: PageItem = {
    url: hideLogins(request.url),
    loadedUrl: hideLogins(request.loadedUrl),
    status: response.statusCode,
    title: content?.title || null,
    description: content?.metadata.description || null,
    language: content?.language ?? null,
    contentType: contentType.type,
    bytes: body.length,
    depth: request.crawlDepth,
    fetchedAt: new Date().toISOString(),
    text: content?.text ?? plainText(page),
  };
  const anchors = withLinks ? (content?.links.filter(({ element }) => element === 'a') ?? []) : [];
  return {
    ...item,
    ...(withLinks ? { links: [...new Set(anchors.map(({ url }) => url))] } : {}),
    ...(withMarkdown ? { markdown: content?.main().markdown ?? item.text } : {}),
  };
}

/** Text files and JSON as they are; of images, archives and the like there is none. */
function plainText({ contentType, body }: Page): string {
  const isText = contentType.type.startsWith('text/') || /[/+]json$/.test(contentType.type);
  if (!isText) return '';
  return typeof body === 'string' ? body : decoded(body, contentType.encoding);
}

function decoded(body: Buffer, encoding: string): string {
  try {
    return new TextDecoder(encoding).decode(body);
  } catch {
    return body.toString('utf8');
  }
}
