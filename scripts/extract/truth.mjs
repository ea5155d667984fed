// The reviewed pages of ../shared/data/wcxb and the score of issue 8: bag-of-words F1 over `\w+`, averaged over pages.
// Used by the training and scoring scripts only; nothing of it ships.
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

export const WCXB = new URL('../../../shared/data/wcxb/', import.meta.url);

export const hasTruth = () => existsSync(new URL('truth.jsonl.gz', WCXB));

/** Every page: `{ id, kind, url, main, body, … }`, in the order of the file. */
export function readPages() {
  const lines = gunzipSync(readFileSync(new URL('truth.jsonl.gz', WCXB)))
    .toString('utf8')
    .trim()
    .split('\n');
  return lines.map((line) => {
    const page = JSON.parse(line);
    return { ...page, body: gunzipSync(readFileSync(new URL(`html/${page.id}.html.gz`, WCXB))) };
  });
}

/** Python's `\w+` of the lower-cased text. */
export const tokens = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

export function bag(words) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Precision, recall and F1 of the words of one text against another's. */
export function compare(found, wanted) {
  const [a, b] = [bag(found), bag(wanted)];
  let common = 0;
  for (const [word, count] of a) common += Math.min(count, b.get(word) ?? 0);
  const precision = found.length === 0 ? 0 : common / found.length;
  const recall = wanted.length === 0 ? 0 : common / wanted.length;
  if (found.length === 0 && wanted.length === 0) return { precision: 1, recall: 1, f1: 1 };
  return { precision, recall, f1: precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall) };
}

/** The registrable-looking part of a host: pages of one site never stand in two folds. */
export function siteOf(url) {
  const host = /^\w+:\/\/([^/:?#]+)/.exec(url)?.[1] ?? url;
  const labels = host.split('.');
  const short = labels.length > 2 && labels.at(-1).length === 2 && labels.at(-2).length <= 3 ? 3 : 2;
  return labels.slice(-short).join('.');
}

export const FOLDS = 5;

/** Five folds, fixed by the site's name alone. */
export function foldOf(url, folds = FOLDS) {
  let hash = 2166136261;
  for (const char of siteOf(url)) hash = Math.imul(hash ^ char.charCodeAt(0), 16777619);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  hash ^= hash >>> 12;
  return (hash >>> 0) % folds;
}
