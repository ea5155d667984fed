// What `html`, `meta`, `base`, `link` and JSON-LD scripts say about a page, noted while it is scanned.
// Promise: the first of its kind wins (robots directives add up); values stay positions in the bytes until used.
import { nestsDeeperThan } from '../../base/json-depth.js';
import { limitReached, LIMITS } from '../../limits.js';
import type { AttributeList } from '../tokens/attributes.js';
import {
  CLASS,
  IS_SPACE,
  SEMICOLON,
  ascii,
  equalsIgnoringCase,
  startsIgnoringCase,
  sliceUtf8,
} from '../../base/bytes.js';
import type { ValueDecoder } from '../tokens/values.js';
import { collapseSpace } from '../tokens/values.js';

const NAME = ascii('name');
const PROPERTY = ascii('property');
const HTTP_EQUIV = ascii('http-equiv');
const CONTENT = ascii('content');
const LANG = ascii('lang');
const HREF = ascii('href');
const TYPE = ascii('type');
const ROBOTS = ascii('robots');
const DESCRIPTION = ascii('description');
const CONTENT_LANGUAGE = ascii('content-language');
const CANONICAL = ascii('canonical');
const JSON_LD = ascii('application/ld+json');
/** The vocabularies of the Open Graph protocol. */
const OPEN_GRAPH_PREFIXES = ['og:', 'article:', 'book:', 'profile:', 'video:', 'music:', 'product:', 'fb:'].map(ascii);
/** Every relative link is appended to the base: a longer one would let a small page ask for gigabytes of URLs. */
export const MAX_BASE_BYTES = LIMITS.baseBytes.max;

/** A range of the page's bytes. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The facts of one page, as found. */
export class PageMetadata {
  title: Range | null = null;
  base: Range | null = null;
  canonical: Range | null = null;
  description: Range | null = null;
  language: Range | null = null;
  languageHeader: Range | null = null;
  readonly robots: Range[] = [];
  readonly openGraph: { readonly property: Range; readonly content: Range }[] = [];
  readonly jsonLd: Range[] = [];

  takeHtml(bytes: Buffer, attributes: AttributeList): void {
    this.language ??= valueOf(bytes, attributes, LANG);
  }

  takeBase(bytes: Buffer, attributes: AttributeList): void {
    if (this.base !== null) return;
    const href = valueOf(bytes, attributes, HREF);
    if (href === null) return;
    if (href.to - href.from <= MAX_BASE_BYTES) this.base = href;
    else limitReached('baseBytes');
  }

  /** Notes a `link` that has an `href`. */
  takeLink(bytes: Buffer, href: Range, relFrom: number, relTo: number): void {
    if (this.canonical === null && hasToken(bytes, relFrom, relTo, CANONICAL)) this.canonical = href;
  }

  takeMeta(bytes: Buffer, attributes: AttributeList): void {
    const content = valueOf(bytes, attributes, CONTENT);
    if (content === null) return;
    const name = valueOf(bytes, attributes, NAME);
    if (name !== null) {
      if (equalsIgnoringCase(bytes, name.from, name.to, ROBOTS)) this.robots.push(content);
      else if (equalsIgnoringCase(bytes, name.from, name.to, DESCRIPTION)) this.description ??= content;
    }
    // Many pages write `name="og:title"`; readers of Open Graph accept it.
    const property = valueOf(bytes, attributes, PROPERTY) ?? name;
    if (
      property !== null &&
      OPEN_GRAPH_PREFIXES.some((p) => startsIgnoringCase(bytes, property.from, property.to, p))
    ) {
      this.openGraph.push({ property, content });
    }
    const equivalent = valueOf(bytes, attributes, HTTP_EQUIV);
    if (equivalent !== null && equalsIgnoringCase(bytes, equivalent.from, equivalent.to, CONTENT_LANGUAGE)) {
      this.languageHeader ??= content;
    }
  }
}

/** True for `<script type="application/ld+json">`, parameters aside. */
export function isJsonLd(bytes: Buffer, attributes: AttributeList): boolean {
  const type = valueOf(bytes, attributes, TYPE);
  if (type === null) return false;
  const { to } = type;
  let { from } = type;
  while (from < to && (CLASS[bytes[from]!]! & IS_SPACE) !== 0) from++;
  if (!startsIgnoringCase(bytes, from, to, JSON_LD)) return false;
  const after = from + JSON_LD.length;
  return after === to || bytes[after] === SEMICOLON || (CLASS[bytes[after]!]! & IS_SPACE) !== 0;
}

/** The range of an attribute's value, or `null` when the tag does not have it. */
export function valueOf(bytes: Buffer, attributes: AttributeList, name: Uint8Array): Range | null {
  const index = attributes.find(bytes, name);
  return index < 0 ? null : { from: attributes.valueFrom(index), to: attributes.valueTo(index) };
}

/** True when the space-separated list in `[from, to)` contains `token`. */
function hasToken(bytes: Buffer, from: number, to: number, token: Uint8Array): boolean {
  for (let i = from; i < to; i++) {
    if ((CLASS[bytes[i]!]! & IS_SPACE) !== 0) continue;
    const start = i;
    while (i < to && (CLASS[bytes[i]!]! & IS_SPACE) === 0) i++;
    if (equalsIgnoringCase(bytes, start, i, token)) return true;
  }
  return false;
}

/** The Open Graph properties under their full names (`og:title`); of several equal ones the first counts. */
export function readOpenGraph(bytes: Buffer, metadata: PageMetadata, values: ValueDecoder): Record<string, string> {
  // Page-given keys: a null prototype keeps `__proto__` an ordinary key.
  const properties = Object.create(null) as Record<string, string>;
  for (const { property, content } of metadata.openGraph) {
    const key = values.decode(bytes, property.from, property.to, true).trim().toLowerCase();
    properties[key] ??= collapseSpace(values.decode(bytes, content.from, content.to, true));
  }
  return properties;
}

/** The JSON-LD blocks that parse; one that does not is left out, as every reader of JSON-LD does. */
export function readJsonLd(bytes: Buffer, metadata: PageMetadata): unknown[] {
  const blocks: unknown[] = [];
  for (const { from, to } of metadata.jsonLd) {
    const text = sliceUtf8(bytes, from, to);
    if (nestsDeeperThan(text, LIMITS.jsonDepth.max)) {
      limitReached('jsonDepth');
      continue;
    }
    try {
      blocks.push(JSON.parse(text, hasSurrogateEscape(text) ? wellFormed : undefined));
    } catch {
      continue;
    }
  }
  return blocks;
}

function hasSurrogateEscape(json: string): boolean {
  return json.includes('\\ud') || json.includes('\\uD');
}

/** JSON can escape half a surrogate pair; what we hand out is valid Unicode. */
function wellFormed(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return repair(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (Object.keys(value).every((key) => repair(key) === key)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [repair(key), inner]));
}

function repair(value: string): string {
  return value.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
}
