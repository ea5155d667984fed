// Open Graph properties of a page, nested as Crawlee returns them.
// Promise: the document's meta elements are read once, whatever the number of properties.
import type { CheerioAPI } from 'cheerio';
import type { Dictionary } from '../request/request.js';
import { loadDocument } from './document.js';

/** A property to read: `name` in the page, `outputName` in the result, and the properties nested in it. */
export interface OpenGraphProperty {
  /** As in the page, such as `og:image:width`. */
  name: string;
  /** The key in the result. */
  outputName: string;
  /** Properties that belong to this one, such as the width of an image. */
  children: OpenGraphProperty[];
}

/** One Open Graph property: its text, several of them, or its parts by name. */
export type OpenGraphResult = string | string[] | Dictionary<string | string[] | Dictionary>;

const property = (name: string, outputName: string, children: OpenGraphProperty[] = []): OpenGraphProperty => ({
  name,
  outputName,
  children,
});

/** Properties `prefix:name`, each under its name in camel case. */
const nested = (prefix: string, names: string): OpenGraphProperty[] =>
  names.split(' ').map((name) => property(`${prefix}:${name}`, camelCase(name)));

const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const MEDIA = 'url secure_url type width height alt';

// ogp.me: the basic and structured properties, then the object types, which have no og: prefix.
const PROPERTIES: readonly OpenGraphProperty[] = [
  ...nested('og', 'title type'),
  property('og:image', 'image', nested('og:image', MEDIA)),
  ...nested('og', 'url'),
  property('og:audio', 'audio', nested('og:audio', 'url secure_url type')),
  ...nested('og', 'description determiner'),
  property('og:locale', 'locale', nested('og:locale', 'alternate')),
  ...nested('og', 'site_name'),
  property('og:video', 'video', nested('og:video', MEDIA)),
  property('video', 'videoInfo', [
    property('video:actor', 'actor', nested('video:actor', 'role')),
    ...nested('video', 'director writer duration release_date tag series'),
  ]),
  property('music', 'musicInfo', [
    ...nested('music', 'duration'),
    property('music:album', 'album', nested('music:album', 'disc track')),
    ...nested('music', 'musician'),
    property('music:song', 'song', nested('music:song', 'disc track')),
    ...nested('music', 'release_date creator'),
  ]),
  property(
    'article',
    'articleInfo',
    nested('article', 'published_time modified_time expiration_time author section tag'),
  ),
  property('book', 'bookInfo', nested('book', 'author isbn release_date tag')),
  property('profile', 'profileInfo', nested('profile', 'first_name last_name username gender')),
];

/**
 * The Open Graph properties of a page. A property given several times is an array; one with nested
 * properties is an object, its own value under `<name>Value`.
 *
 * @example
 * parseOpenGraph('<meta property="og:title" content="Orcas">'); // { title: 'Orcas' }
 */
export function parseOpenGraph(
  page: string | CheerioAPI,
  additionalProperties: readonly OpenGraphProperty[] = [],
): Dictionary<OpenGraphResult> {
  const contents = metaContents(typeof page === 'string' ? loadDocument(page) : page);
  return readAll([...additionalProperties, ...PROPERTIES], contents);
}

function metaContents($: CheerioAPI): Map<string, string[]> {
  const contents = new Map<string, string[]>();
  for (const element of $('meta[property][content]')) {
    const { property: name, content } = (element as { attribs: Record<string, string> }).attribs;
    if (name === undefined || content === undefined || content === '') continue;
    const values = contents.get(name);
    if (values) values.push(content);
    else contents.set(name, [content]);
  }
  return contents;
}

function readAll(
  properties: readonly OpenGraphProperty[],
  contents: ReadonlyMap<string, string[]>,
): Dictionary<OpenGraphResult> {
  const result: Dictionary<OpenGraphResult> = {};
  for (const wanted of properties) {
    const value = readOne(wanted, contents);
    if (value !== undefined) result[wanted.outputName] = value;
  }
  return result;
}

function readOne(
  { name, outputName, children }: OpenGraphProperty,
  contents: ReadonlyMap<string, string[]>,
): OpenGraphResult | undefined {
  const values = contents.get(name);
  const value = values?.length === 1 ? values[0] : values;
  if (children.length === 0) return value;
  const group = { ...(value === undefined ? {} : { [`${outputName}Value`]: value }), ...readAll(children, contents) };
  return Object.keys(group).length > 0 ? (group as OpenGraphResult) : undefined;
}
