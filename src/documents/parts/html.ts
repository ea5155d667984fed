// Writes the HTML that a document becomes, so that one reading of pages serves documents too.
// Promise: everything that came from the file is escaped; the output is bounded, and ends where the limit is.
import { limitReached, LIMITS } from '../../limits.js';
import type { DocumentFacts, DocumentParts } from '../model.js';

/** Thrown by a writer that is full; whoever started it keeps what there is. */
class Full extends Error {}

export class HtmlWriter {
  readonly #pieces: string[] = [];
  #room: number = LIMITS.documentCharacters.max;

  /** Markup of our own. */
  tag(html: string): this {
    this.#room -= html.length;
    if (this.#room < 0) throw new Full();
    this.#pieces.push(html);
    return this;
  }

  text(text: string): this {
    return this.tag(escapeText(text));
  }

  /** An element with text alone. */
  element(name: string, text: string, attributes = ''): this {
    return this.tag(`<${name}${attributes}>`).text(text).tag(`</${name}>`);
  }

  get html(): string {
    return this.#pieces.join('');
  }
}

/** What `write` writes; as much of it as fits. */
export function writtenHtml(write: (out: HtmlWriter) => void): string {
  const out = new HtmlWriter();
  try {
    write(out);
  } catch (error) {
    if (!(error instanceof Full)) throw error;
    limitReached('documentCharacters');
  }
  return out.html;
}

// Characters that no XML or HTML may hold are left out.
const UNPRINTABLE = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;
const TO_ESCAPE = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff&<>]/;
/** `replace` keeps some 100 bytes per match until it is done with a text: a long one is escaped in parts of this length. */
const PART = 8_192;

export function escapeText(text: string): string {
  if (!TO_ESCAPE.test(text)) return text;
  if (text.length <= PART) return escapePart(text);
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += PART) parts.push(escapePart(text.slice(at, at + PART)));
  return parts.join('');
}

function escapePart(text: string): string {
  return text.replace(UNPRINTABLE, '').replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

export function escapeAttribute(text: string): string {
  return escapeText(text).replace(/"/g, '&quot;');
}

/** The words of HTML that was written here. */
export function wordsOf(html: string): string {
  const pieces = html.split('<');
  const text =
    pieces[0]! +
    pieces
      .slice(1)
      .map((piece) => piece.slice(piece.indexOf('>') + 1))
      .join('');
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** The start of a link, or nothing where the address leads nowhere that a reader could follow. */
export function linkStart(href: string | undefined): string | undefined {
  const address = href?.trim();
  if (!address || address.length > LIMITS.contentUrlCharacters.max) return undefined;
  return /^(?:https?:\/\/|mailto:)/i.test(address) ? `<a href="${escapeAttribute(address)}">` : undefined;
}

/** The whole page of a document. */
export function pageOf({ body }: DocumentParts, facts: DocumentFacts): string {
  const meta = (name: string, value: string | null, key = 'name') =>
    value ? `<meta ${key}="${name}" content="${escapeAttribute(value)}">` : '';
  return [
    `<!DOCTYPE html><html${facts.language ? ` lang="${escapeAttribute(facts.language)}"` : ''}><head>`,
    '<meta charset="utf-8">',
    `<title>${escapeText(facts.title ?? '')}</title>`,
    meta('author', facts.author),
    meta('description', facts.description),
    meta('keywords', facts.keywords),
    meta('article:published_time', facts.createdAt, 'property'),
    meta('article:modified_time', facts.modifiedAt, 'property'),
    '</head><body>',
    body,
    '</body></html>',
  ].join('');
}
