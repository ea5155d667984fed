// What a page says about itself in its head: titles, meta elements, JSON-LD.
// Promise: read once per page from the tree, bounded in what is parsed, page-given keys never touch a prototype.
import { nestsDeeperThan } from '../../base/json-depth.js';
import { limitReached, LIMITS } from '../../limits.js';
import type { PageTree } from '../../parse/tree/tree.js';
import { RAW, TEXT, elementNumber } from '../page/elements.js';

const HTML = elementNumber('html');
const META = elementNumber('meta');
const LINK = elementNumber('link');
const SCRIPT = elementNumber('script');
const TITLE = elementNumber('title');
const BASE = elementNumber('base');

/** JSON-LD beyond this is data for machines, not a description of the page. */
const MAX_JSON_LD_BYTES = LIMITS.jsonLdBytes.max;
const MAX_META = LIMITS.metaTags.max;

/** A JSON-LD object. */
export type LinkedData = Readonly<Record<string, unknown>>;

/** The head of a page. */
export interface PageHead {
  readonly title: string;
  readonly language: string | null;
  /** `<base href>` as written. */
  readonly base: string | null;
  readonly canonical: string | null;
  /** Contents of `meta` by lower-case name or property; the first of equal ones. */
  readonly meta: ReadonlyMap<string, string>;
  /** Contents of `meta` by lower-case microdata property; the first of equal ones. */
  readonly properties: ReadonlyMap<string, string>;
  /** `<link rel=license>` as written. */
  readonly license: string | null;
  /** Every JSON-LD block that parses. */
  readonly jsonLd: readonly unknown[];
  /** The objects in them that have a type, those of `@graph` included. */
  readonly entities: readonly LinkedData[];
}

export const collapse = (value: string): string => value.replace(/[\s\u00a0]+/g, ' ').trim();

export function readHead(tree: PageTree): PageHead {
  const meta = new Map<string, string>();
  const properties = new Map<string, string>();
  const jsonLd: unknown[] = [];
  let title: string | null = null;
  let language: string | null = null;
  let base: string | null = null;
  let canonical: string | null = null;
  let license: string | null = null;
  let jsonBytes = 0;
  let isFull = false;
  for (let node = 1; node < tree.count; node++) {
    switch (tree.tag[node]!) {
      case HTML:
        language ??= tree.attribute(node, 'lang') ?? tree.attribute(node, 'xml:lang');
        break;
      case TITLE:
        title ??= collapse(childText(tree, node));
        break;
      case BASE:
        base ??= tree.attribute(node, 'href');
        break;
      case LINK:
        if (canonical === null && hasWord(tree.attribute(node, 'rel'), 'canonical'))
          canonical = tree.attribute(node, 'href');
        else if (license === null && hasWord(tree.attribute(node, 'rel'), 'license'))
          license = tree.attribute(node, 'href');
        break;
      case META: {
        if (meta.size + properties.size >= MAX_META) {
          if (!isFull) limitReached('metaTags');
          isFull = true;
          break;
        }
        const name =
          tree.attribute(node, 'property') ?? tree.attribute(node, 'name') ?? tree.attribute(node, 'http-equiv');
        const property = name === null ? tree.attribute(node, 'itemprop') : null;
        const content = name === null && property === null ? null : tree.attribute(node, 'content');
        if (content === null || content.trim() === '') break;
        const key = (name ?? property)!.trim().toLowerCase();
        const list = name === null ? properties : meta;
        if (!list.has(key)) list.set(key, collapse(content));
        break;
      }
      case SCRIPT:
        if (!isJsonLd(tree, node) || node + 1 >= tree.end[node]!) break;
        jsonBytes += tree.to[node + 1]! - tree.from[node + 1]!;
        if (jsonBytes <= MAX_JSON_LD_BYTES) parseInto(jsonLd, tree.raw(tree.from[node + 1]!, tree.to[node + 1]!));
        else limitReached('jsonLdBytes');
        break;
      default:
        break;
    }
  }
  const declared = language?.trim() || meta.get('content-language') || meta.get('og:locale')?.replace('_', '-') || null;
  const entities = entitiesOf(jsonLd);
  return { title: title ?? '', language: declared, base, canonical, license, meta, properties, jsonLd, entities };
}

function childText(tree: PageTree, node: number): string {
  let text = '';
  for (let k = node + 1; k < tree.end[node]!; k++) {
    if (tree.tag[k] === TEXT) text += tree.decode(tree.from[k]!, tree.to[k]!);
    else if (tree.tag[k] === RAW) text += tree.raw(tree.from[k]!, tree.to[k]!);
  }
  return text;
}

function isJsonLd(tree: PageTree, node: number): boolean {
  const range = tree.attributeRange(node, 'type');
  if (range === null || range.to - range.from < 19) return false;
  return /^\s*application\/ld\+json\s*(;|$)/i.test(tree.raw(range.from, range.to));
}

function parseInto(list: unknown[], json: string): void {
  if (nestsDeeperThan(json, LIMITS.jsonDepth.max)) return limitReached('jsonDepth');
  try {
    list.push(JSON.parse(json));
  } catch {
    // Raw line breaks inside strings are the commonest fault; other readers forgive it too.
    try {
      list.push(JSON.parse(json.replace(/[\n\r\t]+/g, ' ').replace(/^\s*<!--|-->\s*$/g, '')));
    } catch {
      return;
    }
  }
}

function hasWord(list: string | null, word: string): boolean {
  return list !== null && list.toLowerCase().split(/\s+/).includes(word);
}

const MAX_ENTITIES = LIMITS.linkedEntities.max;

/** The typed objects of JSON-LD, outer ones first; `@graph`, lists and `mainEntity` are looked into. */
function entitiesOf(blocks: readonly unknown[]): LinkedData[] {
  const found: LinkedData[] = [];
  const queue: unknown[] = [...blocks];
  for (let k = 0; k < queue.length && found.length < MAX_ENTITIES && k < MAX_ENTITIES * 4; k++) {
    const value = queue[k];
    if (Array.isArray(value)) queue.push(...value.slice(0, MAX_ENTITIES));
    else if (typeof value === 'object' && value !== null) {
      const object = value as Record<string, unknown>;
      if (object['@type'] !== undefined) found.push(object);
      for (const key of ['@graph', 'mainEntity', 'mainEntityOfPage']) {
        if (typeof object[key] === 'object') queue.push(object[key]);
      }
    }
  }
  if (found.length >= MAX_ENTITIES) limitReached('linkedEntities');
  return found;
}

/** The type names of a JSON-LD object, without their vocabulary. */
export function typesOf(entity: LinkedData): string[] {
  const given = entity['@type'];
  const list = Array.isArray(given) ? given : [given];
  return list
    .filter((type): type is string => typeof type === 'string')
    .map((type) => type.slice(type.lastIndexOf('/') + 1));
}
