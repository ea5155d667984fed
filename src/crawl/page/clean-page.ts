// A page as clean HTML, without unreadable parts, and the part of a page that a config selects.
// Promise: linear in the page; no scripts are left, and nothing appears twice.
import type { CheerioAPI } from 'cheerio';
import { loadDocument } from '../../handle/document.js';
import { eachNode, type EditedNode, keepChildren, outermost, removeNodes } from '../../handle/tree-edits.js';

type Rendered = Parameters<CheerioAPI['html']>[0];
/** Letters as they are: written as numbers, those of most languages take six times the room, and the time to read them. */
export const AS_WRITTEN = { encodeEntities: 'utf8' } as Parameters<CheerioAPI['html']>[1];

/** What to leave of a page. */
export interface PageScope {
  readonly cssSelector?: string | undefined;
  readonly targetElements?: readonly string[] | undefined;
  readonly excludedTags?: readonly string[] | undefined;
  readonly excludedSelector?: string | undefined;
}

export function isScoped({ cssSelector, targetElements, excludedTags, excludedSelector }: PageScope): boolean {
  return [cssSelector, targetElements, excludedTags, excludedSelector].some((one) => one !== undefined);
}

/** Whether only elements that the scope names are left. */
export function isChosen({ cssSelector, targetElements }: PageScope): boolean {
  return cssSelector !== undefined || targetElements !== undefined;
}

/**
 * The page without what the scope excludes, or the outermost elements that it selects; besides, what it leaves without
 * its `targetElements`: from one document, which takes most of the time.
 */
export function scopedParts(html: string, xml: boolean, scope: PageScope): { scoped: string; untargeted: string } {
  if (!isScoped(scope)) return { scoped: html, untargeted: html };
  const $ = loadDocument(html, xml);
  const excluded = [...(scope.excludedTags ?? []), ...(scope.excludedSelector ? [scope.excludedSelector] : [])];
  for (const selector of excluded) removeNodes($(selector).toArray());
  const base = $('base[href]').first().toString();
  const { cssSelector, targetElements } = scope;
  const root = $.root()[0];
  const written = (parts: readonly unknown[]): string =>
    base + parts.map((one) => $.html(one as Rendered, AS_WRITTEN)).join('\n');
  const within = cssSelector === undefined ? [root] : outermost(root, new Set($(cssSelector)));
  // One set for all parts: there may be a hundred thousand of both.
  const targets = targetElements === undefined ? undefined : new Set($(targetElements.join(', ')));
  const untargeted = cssSelector === undefined ? $.html($.root().toArray(), AS_WRITTEN) : written(within);
  const scoped = targets === undefined ? untargeted : written(within.flatMap((part) => outermost(part, targets)));
  return { scoped, untargeted };
}

/** Elements that hold no content for a reader. */
const UNREAD = new Set('script style noscript template iframe object embed link meta svg canvas'.split(' '));
/** Attributes that say something about the content. */
const KEPT_ATTRIBUTES = new Set(['href', 'src', 'alt', 'title', 'colspan', 'rowspan', 'datetime', 'lang', 'dir']);
/** Of those, the ones that are read by people and not followed. */
const WORDS = new Set(['alt', 'title']);

export function cleanHtml(html: string): string {
  const $ = loadDocument(html);
  eachNode($.root()[0], (node) => {
    keepChildren(node, isRead);
    const element = node as EditedNode & { attribs?: Record<string, string> };
    if (element.attribs !== undefined) element.attribs = keptAttributes(element.attribs);
    return true;
  });
  const body = $('body').first();
  return withoutEmptyLines($.html((body.length > 0 ? body.contents() : $.root()).toArray(), AS_WRITTEN)).trim();
}

function isRead(node: EditedNode): boolean {
  return node.type !== 'comment' && !UNREAD.has((node as { name?: string }).name ?? '');
}

function keptAttributes(attributes: Readonly<Record<string, string>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of KEPT_ATTRIBUTES) {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    if (value !== undefined && (WORDS.has(name) || !RUNS.test(schemeOf(value)))) kept[name] = value;
  }
  return kept;
}

const RUNS = /^(?:javascript|vbscript|data):/i;
const LONGEST_SCHEME = 'javascript:'.length;
const SPACE = 0x20;

/** The beginning of an address as a browser reads it: without controls before it, without tabs and line breaks in it. */
function schemeOf(address: string): string {
  let scheme = '';
  for (let at = 0; at < address.length && scheme.length < LONGEST_SCHEME; at++) {
    const code = address.charCodeAt(at);
    if (code === 9 || code === 10 || code === 13) continue;
    if (scheme === '' && (code <= SPACE || address[at]!.trim() === '')) continue;
    scheme += address[at];
  }
  return scheme;
}

/** Spaces that hold several line breaks become one. */
function withoutEmptyLines(text: string): string {
  return text.replace(/\s+/g, (spaces) => {
    const first = spaces.indexOf('\n');
    const last = spaces.lastIndexOf('\n');
    if (first === last) return spaces;
    let from = first;
    while (from > 0 && (spaces[from - 1] === ' ' || spaces[from - 1] === '\t')) from--;
    return `${spaces.slice(0, from)}\n${spaces.slice(last + 1)}`;
  });
}
