// Data that a page carries for machines: JSON-LD, microdata, Open Graph, and its other metadata.
// Promise: read from the tree once; keys given by the page live in objects without a prototype; sizes are bounded.
import { limitReached, LIMITS } from '../../limits.js';
import { elementSet, elementNumber } from '../page/elements.js';
import { nodeText } from '../page/node-text.js';
import type { PageView } from '../page/page-view.js';

/** One microdata item. */
export interface MicrodataItem {
  readonly type: readonly string[];
  readonly id: string | null;
  /** Values by property, each a list: a text, an address, or a nested item. */
  readonly properties: Readonly<Record<string, readonly (string | MicrodataItem)[]>>;
}

/** The structured data of a page. */
export interface StructuredData {
  readonly jsonLd: readonly unknown[];
  readonly microdata: readonly MicrodataItem[];
  /** Open Graph properties under their full names; the first of equal ones. */
  readonly openGraph: Readonly<Record<string, string>>;
}

/** What a page says of itself; null where it says nothing. */
export interface PageMetadata {
  readonly title: string | null;
  readonly description: string | null;
  readonly language: string | null;
  readonly author: string | null;
  readonly publishedAt: string | null;
  readonly siteName: string | null;
  readonly canonical: string | null;
  readonly robots: string | null;
  readonly keywords: readonly string[];
  readonly image: string | null;
  /** Every `meta` by its lower-case name. */
  readonly meta: Readonly<Record<string, string>>;
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
    siteName: facts.siteName,
    canonical: head.canonical === null ? null : urls.resolve(head.canonical),
    robots: head.meta.get('robots') ?? null,
    keywords: (head.meta.get('keywords') ?? '')
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== '')
      .slice(0, 100),
    image: image === undefined ? null : urls.resolve(image),
    meta: Object.assign(Object.create(null) as Record<string, string>, Object.fromEntries(head.meta)),
  };
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
