// Data that a page carries for machines: JSON-LD, microdata, Open Graph, and its other metadata.
// Promise: read from the tree once; keys given by the page live in objects without a prototype; sizes are bounded.
import { limitReached, LIMITS } from '../../limits.js';
import { elementSet, elementNumber } from '../page/elements.js';
import { nodeText } from '../page/node-text.js';
import type { FactSources } from './facts.js';
import type { PageHead } from './metadata.js';
import type { PageView } from '../page/page-view.js';

/** One microdata item. */
export interface MicrodataItem {
  /** The URLs of `itemtype`. */
  readonly type: readonly string[];
  /** `itemid`, a global name of the thing; null without one. */
  readonly id: string | null;
  /** Values by property, each a list: a text, an address, or a nested item. */
  readonly properties: Readonly<Record<string, readonly (string | MicrodataItem)[]>>;
}

/** The structured data of a page. */
export interface StructuredData {
  /** Every JSON-LD block that can be read. */
  readonly jsonLd: readonly unknown[];
  /** The items at the top. */
  readonly microdata: readonly MicrodataItem[];
  /** Open Graph properties under their full names; the first of equal ones. */
  readonly openGraph: Readonly<Record<string, string>>;
}

/** What a page says of itself; null where it says nothing. */
export interface PageMetadata {
  /** The `<title>`, or what stands for it. */
  readonly title: string | null;
  /** What the page says of itself in a sentence. */
  readonly description: string | null;
  /** A tag such as `en`. */
  readonly language: string | null;
  /** Who wrote it. */
  readonly author: string | null;
  /** ISO 8601. */
  readonly publishedAt: string | null;
  /** ISO 8601. */
  readonly modifiedAt: string | null;
  /** The name of the site. */
  readonly siteName: string | null;
  /** The address of the page's licence, or its words where it gives no address. */
  readonly license: string | null;
  /** What says author, dates and language. */
  readonly sources: FactSources;
  /** The address that the page calls its own, absolute. */
  readonly canonical: string | null;
  /** What it tells crawlers, such as `noindex`. */
  readonly robots: string | null;
  /** Its keywords, one each. */
  readonly keywords: readonly string[];
  /** The picture that stands for the page. */
  readonly image: string | null;
  /** The pictures that stand for the page, with the sizes that it states. */
  readonly images: readonly MetadataImage[];
  /** Every `meta` by its lower-case name. */
  readonly meta: Readonly<Record<string, string>>;
}

/** A picture that a page names in its head. */
export interface MetadataImage {
  /** Absolute. */
  readonly url: string;
  /** In pixels. */
  readonly width: number | null;
  /** In pixels. */
  readonly height: number | null;
}

const MAX_ITEMS = LIMITS.structuredItems.max;
const OPEN_GRAPH = /^(?:og|article|book|profile|video|music|product|fb):/;
const ADDRESS = elementSet('a area link audio video embed iframe img source track object');
const META = elementNumber('meta');
const TIME = elementNumber('time');

export function readStructured(view: PageView): StructuredData {
  const openGraph = Object.create(null) as Record<string, string>;
  for (const [name, content] of view.head.meta) if (OPEN_GRAPH.test(name)) openGraph[name] = content;
  return { jsonLd: view.head.jsonLd, microdata: readMicrodata(view), openGraph };
}

export function readPageMetadata(view: PageView): PageMetadata {
  const { head, facts, urls } = view;
  const image = head.meta.get('og:image') ?? head.meta.get('twitter:image');
  return {
    title: facts.title,
    description: facts.description,
    language: facts.language,
    author: facts.byline,
    publishedAt: facts.publishedAt,
    modifiedAt: facts.modifiedAt,
    siteName: facts.siteName,
    license: licenseOf(view),
    sources: facts.sources,
    canonical: head.canonical === null ? null : urls.resolve(head.canonical),
    robots: head.meta.get('robots') ?? null,
    keywords: (head.meta.get('keywords') ?? '')
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== '')
      .slice(0, 100),
    image: image === undefined ? null : urls.resolve(image),
    images: imagesOf(view),
    meta: Object.assign(Object.create(null) as Record<string, string>, Object.fromEntries(head.meta)),
  };
}

const A = elementNumber('a');
const MAX_TEXT = 2_000;
const MAX_IMAGES = 20;

/** What a link, JSON-LD or a `meta` says, in that order. */
function licenseOf({ tree, head, urls }: PageView): string | null {
  if (head.license !== null) return urls.resolve(head.license) ?? head.license.slice(0, MAX_TEXT);
  for (let node = 1; node < tree.count; node++) {
    if (tree.tag[node] !== A || tree.attributeRange(node, 'rel') === null) continue;
    if (!/(?:^|\s)license(?:\s|$)/i.test((tree.attribute(node, 'rel') ?? '').slice(0, 200))) continue;
    const url = urls.read(node, 'href');
    if (url !== null) return url;
  }
  const stated = head.entities.map(({ license }) => addressIn(license)).find((one) => one !== null);
  const { meta } = head;
  const text = stated ?? meta.get('dcterms.license') ?? meta.get('dc.rights') ?? meta.get('dcterms.rights');
  return text === undefined ? null : text.slice(0, MAX_TEXT);
}

/** An address in JSON-LD: itself, or that of an object. */
function addressIn(value: unknown): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim();
  if (typeof value !== 'object' || value === null) return null;
  const { url, contentUrl, '@id': id } = value as Readonly<Record<string, unknown>>;
  const found = [url, contentUrl, id].find((one) => typeof one === 'string' && one !== '');
  return (found as string | undefined) ?? null;
}

function imagesOf({ head, urls }: PageView): MetadataImage[] {
  const { meta } = head;
  const found = new Map<string, MetadataImage>();
  const add = (address: string | null | undefined, width: unknown, height: unknown): void => {
    const url = address ? urls.resolve(address) : null;
    if (url === null || found.has(url) || found.size >= MAX_IMAGES) return;
    found.set(url, { url, width: pixels(width), height: pixels(height) });
  };
  add(
    meta.get('og:image') ?? meta.get('og:image:url') ?? meta.get('og:image:secure_url'),
    meta.get('og:image:width'),
    meta.get('og:image:height'),
  );
  for (const value of linkedImages(head)) {
    const { width, height } = (typeof value === 'object' ? value : {}) as Readonly<Record<string, unknown>>;
    add(addressIn(value), width, height);
  }
  add(meta.get('twitter:image') ?? meta.get('twitter:image:src'), null, null);
  return [...found.values()];
}

function linkedImages({ entities }: PageHead): unknown[] {
  return entities
    .flatMap(({ image }): unknown[] => (Array.isArray(image) ? image.slice(0, MAX_IMAGES) : [image]))
    .filter((image) => image !== undefined && image !== null)
    .slice(0, MAX_IMAGES * 2);
}

/** `1200`, `"1200"`, `"1200px"`, or JSON-LD's `{ value: 1200 }`. */
function pixels(value: unknown): number | null {
  const given = typeof value === 'object' && value !== null ? (value as { value?: unknown }).value : value;
  const size = typeof given === 'number' ? given : typeof given === 'string' ? Number.parseInt(given, 10) : NaN;
  return Number.isFinite(size) && size > 0 && size < 1e6 ? Math.round(size) : null;
}

/** An item in the making, with the row at which it ends. */
interface OpenItem {
  readonly end: number;
  readonly item: MicrodataItem & { readonly properties: Record<string, (string | MicrodataItem)[]> };
}

/** Small pages may repeat themselves as if they were this large. */
const FREE_CHARACTERS = 10_000;

/** Items by nesting; `itemref` is not followed. */
function readMicrodata(view: PageView): MicrodataItem[] {
  const { tree } = view;
  const top: MicrodataItem[] = [];
  const open: OpenItem[] = [];
  let made = 0;
  // Properties that hold each other repeat their text.
  let characters = LIMITS.structuredRepeats.max * tree.bytes.length + FREE_CHARACTERS;
  for (let node = 1; node < tree.count && made < MAX_ITEMS && characters > 0; node++) {
    while (open.length > 0 && node >= open.at(-1)!.end) open.pop();
    if (tree.from[node]! >= tree.to[node]! || ELEMENT_TEXT[tree.tag[node]!] === 1) continue;
    const names = tree.attributeRange(node, 'itemprop') === null ? null : tree.attribute(node, 'itemprop');
    const isItem = tree.attributeRange(node, 'itemscope') !== null;
    // An item in an item is three levels of JSON.
    if (isItem && open.length * 3 >= LIMITS.jsonDepth.max) {
      if (open.length * 3 < LIMITS.jsonDepth.max + 3) limitReached('jsonDepth');
      continue;
    }
    if (names === null && !isItem) continue;
    const owner = open.at(-1)?.item;
    let value: string | MicrodataItem | null = null;
    if (isItem) {
      made++;
      const item = {
        type: words(tree.attribute(node, 'itemtype')),
        id: tree.attribute(node, 'itemid'),
        properties: Object.create(null) as Record<string, (string | MicrodataItem)[]>,
      };
      if (names === null || owner === undefined) top.push(item);
      open.push({ end: tree.end[node]!, item });
      value = item;
    }
    if (names === null || owner === undefined) continue;
    value ??= propertyValue(view, node);
    if (typeof value === 'string') characters -= value.length;
    for (const name of words(names).slice(0, 10)) {
      made++;
      (owner.properties[name] ??= []).push(value);
    }
  }
  if (made >= MAX_ITEMS) limitReached('structuredItems');
  if (characters <= 0) limitReached('structuredRepeats');
  return top;
}

const ELEMENT_TEXT = elementSet('#text #raw');

const words = (list: string | null): string[] => (list ?? '').split(/\s+/).filter((word) => word !== '');

function propertyValue({ tree, urls }: PageView, node: number): string {
  const kind = tree.tag[node]!;
  const content = kind === META ? tree.attribute(node, 'content') : null;
  if (content !== null) return content;
  if (ADDRESS[kind] === 1) {
    const address = urls.read(node, 'href') ?? urls.read(node, 'src') ?? urls.read(node, 'data');
    if (address !== null) return address;
  }
  if (kind === TIME) {
    const when = tree.attribute(node, 'datetime');
    if (when !== null) return when;
  }
  return tree.attribute(node, 'content') ?? nodeText(tree, node);
}
