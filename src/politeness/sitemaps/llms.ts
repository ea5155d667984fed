// llms.txt and llms-full.txt: what a site lists for readers that are models, as a sitemap with titles.
// Promise: linear, one page per line, bounded in lines and characters; what is not an http address is left out.
import { limitReached, LIMITS } from '../../limits.js';
import { createRelativeUrls } from '../../request/url.js';

/** A page that an llms.txt names. */
export interface ListedPage {
  readonly url: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
}

/** Where such files stand, by convention. */
export const LLMS_FILES = ['llms.txt', 'llms-full.txt'] as const;

const MAX_LINE = 5_000;
/** `- [Title](address): what it is about`; a heading may be a link, too. */
const ITEM =
  /^\s{0,8}(?:[-*+]|\d{1,3}[.)]|#{1,6})\s{1,4}\[([^\]]{1,500})\]\(\s?<?([^\s()<>]{1,3000})>?\)(?:\s?[:\u2013\u2014-]\s?(.*))?/;
/** How llms-full.txt names the page that a part of it came from. */
const SOURCE = /^(?:source|url|canonical):\s{0,4}<?(https?:\/\/[^\s<>]{1,3000})/i;

/**
 * The pages that the text of an llms.txt names, in its order; addresses are relative to `base`.
 *
 * @example
 * readLlmsTxt('- [Prices](/prices.md): what it costs', 'https://example.com/llms.txt');
 */
export function readLlmsTxt(text: string, base: string): ListedPage[] {
  const pages = new Map<string, ListedPage>();
  const urls = createRelativeUrls(text.length);
  let characters = 0;
  for (const line of linesOf(text)) {
    const item = ITEM.exec(line);
    const address = item?.[2] ?? SOURCE.exec(line)?.[1];
    const url = address === undefined ? undefined : urls.resolve(address, base);
    if (!url || !/^https?:$/.test(url.protocol)) continue;
    url.hash = '';
    if (isTooLongToList(url.href) || pages.has(url.href)) continue;
    if (pages.size >= LIMITS.llmsPages.max) {
      limitReached('llmsPages');
      break;
    }
    // A redirect may give the file a long address, and each relative one repeats it.
    characters += url.href.length;
    if (characters > LIMITS.llmsCharacters.max) {
      limitReached('llmsCharacters');
      break;
    }
    const [title, description] = [item?.[1]?.trim(), item?.[3]?.trim().slice(0, 500)];
    pages.set(url.href, { url: url.href, ...(title && { title }), ...(description && { description }) });
  }
  return [...pages.values()];
}

/** Whether a URL that a site lists is too long to be taken. */
export function isTooLongToList(url: string): boolean {
  if (url.length <= LIMITS.listedUrlCharacters.max) return false;
  limitReached('listedUrlCharacters');
  return true;
}

function* linesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length;) {
    const end = text.indexOf('\n', from);
    const to = end < 0 ? text.length : end;
    yield text.slice(from, Math.min(to, from + MAX_LINE)).trimEnd();
    from = to + 1;
  }
}

/** Whether a body is such a file: many sites answer every address with a page. */
export function isLlmsTxt(text: string, contentType: string): boolean {
  return !/html|xml|json/i.test(contentType) && !/^\s*</.test(text.slice(0, 200));
}
