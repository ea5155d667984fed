// Author and dates that pages state in JSON-LD, beside what is found on the same pages without it (issue 20).
// Truth is what the page states; a page that states nothing is not counted, and languages are compared where markup states one.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Figure } from '../measure.js';

const { extractMetadata } = (await import(
  new URL('../../dist/index.js', import.meta.url).href
)) as typeof import('../../src/index.js');
const SETS = ['wcxb/html/', 'articles/html/', 'segments/html/'].map(
  (name) => new URL(`../../../shared/data/${name}`, import.meta.url),
);
const LINKED_DATA = /<script[^>]{0,300}application\/ld\+json[^>]{0,300}>[^]*?<\/script\s*>/gi;
const LANGUAGE = /(<html[^>]{0,500}?)\s(?:xml:)?lang\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/gi;
const STATED_LANGUAGE = /<meta[^>]{0,200}(?:content-language|og:locale|dc\.language)[^>]{0,200}>/gi;

interface Tally {
  stated: number;
  found: number;
  same: number;
}

const fold = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N} ]/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();

/** The same person, also where one side has several names or a title. */
function isSameName(one: string, other: string): boolean {
  const [a, b] = [fold(one), fold(other)];
  return a !== '' && b !== '' && (a.includes(b) || b.includes(a));
}

const isSameDay = (one: string, other: string): boolean => one.slice(0, 10) === other.slice(0, 10);
const isSameLanguage = (one: string, other: string): boolean => one.slice(0, 2) === other.slice(0, 2);

export async function measure(): Promise<Figure[]> {
  const folders = SETS.filter((folder) => existsSync(folder));
  if (folders.length === 0) return [{ what: 'metadata', measured: 'left out', goal: '../shared/data is not here' }];
  const tallies = new Map<string, Tally>();
  const note = (
    what: string,
    stated: string,
    found: string | null,
    isSame: (a: string, b: string) => boolean,
  ): void => {
    const tally = tallies.get(what) ?? { stated: 0, found: 0, same: 0 };
    tallies.set(what, tally);
    tally.stated++;
    if (found === null) return;
    tally.found++;
    if (isSame(stated, found)) tally.same++;
  };
  for (const folder of folders) {
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.gz'))) {
      const html = gunzipSync(readFileSync(new URL(file, folder))).toString('utf8');
      const { sources, author, publishedAt, modifiedAt, language } = extractMetadata(html);
      const isStated = Object.values(sources).includes('json-ld');
      const bare = isStated ? extractMetadata(html.replaceAll(LINKED_DATA, '')) : null;
      if (bare !== null && sources.author === 'json-ld') note('author', author!, bare.author, isSameName);
      if (bare !== null && sources.publishedAt === 'json-ld')
        note('day of publication', publishedAt!, bare.publishedAt, isSameDay);
      if (bare !== null && sources.modifiedAt === 'json-ld')
        note('day of the last change', modifiedAt!, bare.modifiedAt, isSameDay);
      if (language === null || sources.language === 'text') continue;
      const silent = html.replaceAll(LINKED_DATA, '').replaceAll(LANGUAGE, '$1').replaceAll(STATED_LANGUAGE, '');
      const heard = extractMetadata(silent);
      if (heard.sources.language === 'text' || heard.language === null)
        note('language, from the text alone', language, heard.language, isSameLanguage);
    }
  }
  const share = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
  return [...tallies].map(([what, { stated, found, same }]) => ({
    what: `${what}, pages that state it: ${stated}`,
    measured: `found on ${share(found, stated)}, the same on ${share(same, found)} of these`,
    goal: 'reported',
  }));
}
