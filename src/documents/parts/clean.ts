// HTML of strangers inside of documents (chapters of books, entries of feeds), written again from a list of what is allowed.
// Promise: no script, style, handler or unsafe address comes through; whatever else is left out, its words stay.
import { LIMITS } from '../../limits.js';
import { escapeAttribute, type HtmlWriter } from './html.js';
import { attributeNamed, isElement, type XmlElement } from './xml.js';

const KEPT = new Set(
  (
    'h1 h2 h3 h4 h5 h6 p ul ol li dl dt dd table caption thead tbody tfoot tr th td blockquote pre code kbd samp em strong ' +
    'b i u s del ins sub sup small mark q cite abbr br hr figure figcaption section article aside details summary ruby rt rp ' +
    'div span time math mi mo mn ms mtext mrow mfrac msqrt mroot msup msub msubsup munder mover munderover mtable mtr mtd'
  ).split(' '),
);
const DROPPED = new Set(
  'script style head template noscript iframe object embed form svg audio video canvas link meta'.split(' '),
);
const EMPTY = new Set(['br', 'hr']);
const SPANS = ['colspan', 'rowspan'];

/** The URL of a reference, if it has one. */
type Resolve = (reference: string) => URL | undefined;

/** Writes the children of an element; addresses without a URL are left out. */
export function writeClean(parent: XmlElement, resolve: Resolve, out: HtmlWriter): void {
  for (const child of parent.children) {
    if (isElement(child)) writeElement(child, resolve, out);
    else out.text(child);
  }
}

function writeElement(element: XmlElement, resolve: Resolve, out: HtmlWriter): void {
  const name = element.local.toLowerCase();
  if (DROPPED.has(name)) return;
  if (name === 'img') return writeImage(element, resolve, out);
  const href = name === 'a' ? addressOf(attributeNamed(element, 'href'), resolve) : undefined;
  const isKept = KEPT.has(name) || href !== undefined;
  if (isKept) {
    const link = href === undefined ? '' : ` href="${escapeAttribute(href)}"`;
    const spans = SPANS.map((span) => {
      const count = Number(attributeNamed(element, span));
      return Number.isInteger(count) && count > 1 && (name === 'td' || name === 'th') ? ` ${span}="${count}"` : '';
    });
    out.tag(`<${name}${link}${spans.join('')}>`);
  }
  writeClean(element, resolve, out);
  if (isKept && !EMPTY.has(name)) out.tag(`</${name}>`);
}

function writeImage(image: XmlElement, resolve: Resolve, out: HtmlWriter): void {
  const src = addressOf(attributeNamed(image, 'src'), resolve);
  if (src === undefined) return;
  out.tag(
    `<img src="${escapeAttribute(src)}" alt="${escapeAttribute((attributeNamed(image, 'alt') ?? '').slice(0, 1000))}">`,
  );
}

function addressOf(reference: string | undefined, resolve: Resolve): string | undefined {
  const trimmed = reference?.trim();
  if (!trimmed || trimmed.length > LIMITS.contentUrlCharacters.max) return undefined;
  const url = resolve(trimmed);
  return url && /^(?:https?|mailto):$/.test(url.protocol) ? url.href : undefined;
}
