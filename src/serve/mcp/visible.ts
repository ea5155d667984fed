// A page as a reader sees it: what is hidden from people is hidden from models, too.
// Promise: linear; text behind styles, size, colour, position, aria-hidden, comments and invisible characters is left out.
import type { AnyNode } from 'domhandler';
import { AS_WRITTEN } from '../../crawl/page/clean-page.js';
import { toMarkdown } from '../../crawl/page/extraction.js';
import { withoutComments } from '../../extract/shown/style-rules.js';
import { loadDocument } from '../../handle/document.js';
import { eachNode, type EditedNode, keepChildren } from '../../handle/tree-edits.js';
import { limitReached, LIMITS } from '../../limits.js';

const HIDING = [
  /display\s*:\s*none/,
  /visibility\s*:\s*(?:hidden|collapse)/,
  /(?:^|[;{\s])opacity\s*:\s*0?\.?0+\s*(?:[;!}]|$)/,
  /font-size\s*:\s*(?:0|0?\.\d+|1)(?:px|pt|em|rem|%)?\s*(?:[;!}]|$)/,
  /(?:^|[;{\s])color\s*:\s*(?:transparent|rgba\([^)]{0,40},\s*0?\.?0+\s*\))/,
  /(?:left|top|right|text-indent|margin-left)\s*:\s*-\d{3,}/,
  /clip(?:-path)?\s*:\s*(?:rect\(0|inset\((?:50|100)%)/,
  /transform\s*:[^;}]{0,80}scale\(0\)/,
  /(?:^|[;{\s])(?:width|height|max-height)\s*:\s*0(?:px)?\s*;[^}]{0,200}overflow\s*:\s*hidden/,
];
const SIMPLE_RULE = /([^{}@]{1,300})\{([^{}]{0,2000})\}/g;
const MAX_RULES = 5_000;
const MAX_STYLE = 500_000;
const MAX_SELECTORS = 500;
/** States, and combinators over siblings: a page could make one selector take hours. */
const COSTLY = /[:~+]/;
/** Zero-width characters, directions, soft hyphens, and the tag characters that spell text nobody sees. */
const INVISIBLE =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]|[\u{e0000}-\u{e0fff}]/gu;

/** The markdown of what a page shows. */
export function visibleMarkdown(html: string, url: string, onlyMainContent: boolean): string {
  const markdown = toMarkdown(visibleHtml(html), { url });
  const text = onlyMainContent ? markdown.fit || markdown.raw : markdown.raw;
  return withoutInvisible(text);
}

export function visibleHtml(html: string): string {
  const $ = loadDocument(html);
  const sheet = $('style').text().slice(0, MAX_STYLE).toLowerCase();
  const selectors = withinReach(hiddenSelectors(sheet), () => $('*').length);
  // All at once: a walk over the page for each would take minutes.
  const hidden = new Set<AnyNode>(selectors.length > 0 ? $(selectors.join(', ')).toArray() : []);
  const isShown = (node: EditedNode): boolean =>
    node.type !== 'comment' && !hidden.has(node as AnyNode) && !hidesItself(node as AnyNode);
  eachNode($.root()[0], (node) => {
    keepChildren(node, isShown);
    return true;
  });
  return $.html($.root().toArray(), AS_WRITTEN);
}

const NEVER_SHOWN = new Set(['template', 'noscript', 'script', 'style']);

function hidesItself(node: AnyNode): boolean {
  if (!('attribs' in node)) return false;
  const { name, attribs } = node;
  if (NEVER_SHOWN.has(name)) return true;
  if (attribs.hidden !== undefined || attribs['aria-hidden']?.toLowerCase() === 'true') return true;
  if (name === 'input' && attribs.type?.toLowerCase() === 'hidden') return true;
  if (attribs.style === undefined && name !== 'font') return false;
  const style = (attribs.style ?? '').toLowerCase().slice(0, 2_000);
  return isHiding(style) || isSameColour(style);
}

export const withoutInvisible = (text: string): string => text.replace(INVISIBLE, '');

const isHiding = (style: string): boolean => HIDING.some((pattern) => pattern.test(style));

/** Text in the colour of its own background, or white where no background is named. */
function isSameColour(style: string): boolean {
  const colour = /(?:^|[;\s])color\s*:\s*([^;!]{1,60})/.exec(style)?.[1]?.trim();
  if (colour === undefined) return false;
  const ground = /background(?:-color)?\s*:\s*([^;!]{1,60})/.exec(style)?.[1]?.trim();
  return ground === undefined ? WHITES.has(colour.replaceAll(' ', '')) : plainColour(ground) === plainColour(colour);
}

const WHITES = new Set(['white', '#fff', '#ffffff', 'rgb(255,255,255)', '#fefefe', '#fdfdfd']);
const plainColour = (text: string): string =>
  WHITES.has(text.replaceAll(' ', '')) ? 'white' : text.replaceAll(' ', '');

/** Rules of a page's own styles that hide what they name; of rules for other media nothing is known. */
function hiddenSelectors(sheet: string): string[] {
  const found: string[] = [];
  let rules = 0;
  for (const [, selectors, body] of withoutComments(sheet).matchAll(SIMPLE_RULE)) {
    if (++rules > MAX_RULES) break;
    if (isHiding(body!) || isSameColour(body!)) {
      found.push(
        ...selectors!
          .split(',')
          .map((one) => one.trim())
          .filter((one) => one !== '' && !COSTLY.test(one)),
      );
    }
  }
  return [...new Set(found)].slice(0, MAX_SELECTORS);
}

/** Those that can be read here, and no more than the page has room for. */
function withinReach(selectors: readonly string[], countElements: () => number): string[] {
  if (selectors.length === 0) return [];
  const empty = loadDocument('');
  const valid = selectors.filter((selector) => {
    try {
      empty(selector);
      return true;
    } catch {
      return false;
    }
  });
  const most = Math.floor(LIMITS.hidingSteps.max / Math.max(1, countElements()));
  if (valid.length > most) limitReached('hidingSteps');
  return valid.slice(0, most);
}
