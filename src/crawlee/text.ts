// Crawlee's `htmlToText`: the text of a page as a reader sees it.
import type { CheerioAPI } from 'cheerio';
import { loadDocument } from '../handle/document.js';
import { readableText, type TextRules } from '../handle/readable-text.js';

/** What stands on lines of its own, by what it is. */
const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];
const PASSAGES = ['address', 'blockquote', 'div', 'p', 'pre'];
const LISTS = ['dl', 'li', 'ol', 'ul'];
const FORMS = ['fieldset', 'form', 'option', 'select'];
const TABLES = ['table', 'tr'];

const RULES: TextRules = {
  blocks: new Set([HEADINGS, PASSAGES, LISTS, FORMS, TABLES].flat()),
  cells: new Set(['td']),
  isStrictPre: true,
};

/**
 * The readable text of HTML, or of a loaded Cheerio document: blocks on lines of their own, no scripts or styles.
 *
 * @example
 * htmlToText('<h1>Title</h1><p>Some <b>text</b></p>'); // 'Title\nSome text'
 */
export function htmlToText(page: string | CheerioAPI): string {
  const $ = typeof page === 'string' ? loadDocument(page) : page;
  const [root] = $ ? [...$('body'), ...$.root()] : [];
  return root ? readableText(root, RULES).text : '';
}
