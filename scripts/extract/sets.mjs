// The three sets of reviewed pages in ../shared/data, and how each is scored as its publishers do.
// Used by the training and scoring scripts only; nothing of it ships.
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { bag, compare, readPages, tokens } from './truth.mjs';

const DATA = new URL('../../../shared/data/', import.meta.url);
const SHINGLE = 4;

export const SET_NAMES = ['wcxb', 'articles', 'segments'];

export const hasSet = (name) =>
  existsSync(new URL(name === 'wcxb' ? `${name}/truth.jsonl.gz` : `${name}/truth.json`, DATA));

/** Every page of a set: `{ set, id, kind, url, body, language }` with `main` (words) or `with_` and `without` (segments). */
export function readSet(name) {
  const pages = name === 'wcxb' ? readPages() : readTruth(name);
  return pages.map((page) => ({ ...page, set: name, language: languageOf(page.body) }));
}

function readTruth(name) {
  const truth = JSON.parse(readFileSync(new URL(`${name}/truth.json`, DATA), 'utf8'));
  return Object.entries(truth).map(([id, { url, articleBody, with: wanted, without }]) => {
    const file = id.endsWith('.gz') ? id : `${id}.html.gz`;
    const body = gunzipSync(readFileSync(new URL(`${name}/html/${file}`, DATA)));
    return { id, kind: 'article', url, main: articleBody, with_: wanted, without, body };
  });
}

/** The two letters of `<html lang>`; `??` where a page does not say. */
function languageOf(body) {
  const head = body.subarray(0, 4_096).toString('latin1');
  return (/<html[^>]{0,500}?\slang\s*=\s*["']?([a-z]{2})/i.exec(head)?.[1] ?? '??').toLowerCase();
}

const onOneLine = (text) => text.replace(/\s+/g, ' ').trim();

/** The counts of one page for {@link summarize}. */
export function scorePage(page, text) {
  switch (page.set) {
    case 'wcxb':
      return compare(tokens(text), tokens(page.main));
    case 'articles':
      return compareShingles(text, page.main);
    default: {
      const found = onOneLine(text);
      const within = (list) => list.filter((segment) => found.includes(onOneLine(segment))).length;
      const [kept, unwanted] = [within(page.with_), within(page.without)];
      return { kept, unwanted, missed: page.with_.length - kept };
    }
  }
}

const shingles = (text) => {
  const words = text.match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.length < SHINGLE
    ? words.length === 0
      ? []
      : [words.join(' ')]
    : Array.from({ length: words.length - SHINGLE + 1 }, (_, k) => words.slice(k, k + SHINGLE).join(' '));
};

/** Word sequences as a multiset. A page without any in its truth counts as found when nothing is found. */
function compareShingles(text, wanted) {
  const [a, b] = [shingles(text), shingles(wanted)];
  const left = bag(b);
  let common = 0;
  for (const one of a) {
    const n = left.get(one) ?? 0;
    if (n > 0) {
      common++;
      left.set(one, n - 1);
    }
  }
  const share = (whole) => (whole === 0 ? (a.length === b.length ? 1 : 0) : common / whole);
  return { precision: share(a.length), recall: share(b.length) };
}

const harmonic = (p, r) => (p + r === 0 ? 0 : (2 * p * r) / (p + r));

/** Precision, recall and F1 of many pages of one set. */
export function summarize(set, scores) {
  const mean = (field) => scores.reduce((sum, score) => sum + score[field], 0) / scores.length;
  if (set === 'wcxb')
    return { pages: scores.length, f1: mean('f1'), precision: mean('precision'), recall: mean('recall') };
  if (set === 'articles') {
    const [precision, recall] = [mean('precision'), mean('recall')];
    return { pages: scores.length, f1: harmonic(precision, recall), precision, recall };
  }
  const sum = (field) => scores.reduce((total, score) => total + score[field], 0);
  const precision = sum('kept') / Math.max(1, sum('kept') + sum('unwanted'));
  const recall = sum('kept') / Math.max(1, sum('kept') + sum('missed'));
  return { pages: scores.length, f1: harmonic(precision, recall), precision, recall };
}
