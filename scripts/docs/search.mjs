// The search index: one entry per section of a page, one per page of the API. Searched in the reader's browser.
import MiniSearch from 'minisearch';

/** Shared with site.js, which loads the index with the same options. */
export const OPTIONS = {
  fields: ['title', 'heading', 'text'],
  storeFields: ['title', 'heading', 'url', 'excerpt', 'weight'],
};
const TEXT_CHARS = 3_000;
const EXCERPT_CHARS = 140;

/** What people look for first comes first: guides and topics before records of the project. */
function weightOf({ source, kind }) {
  if (source.startsWith('docs/guides/')) return 2;
  if (kind === 'api') return 0.8;
  if (/^bench\/|^docs\/decisions\/|^CHANGELOG/.test(source)) return 0.4;
  return 1.4;
}

export function searchIndexOf(rendered) {
  const index = new MiniSearch({ ...OPTIONS, tokenize: wordsOf });
  let id = 0;
  for (const { page, blocks } of rendered) {
    const sections = page.kind === 'api' ? [whole(blocks)] : blocks;
    for (const { id: anchor, text: heading, parts } of sections) {
      const text = parts.join(' ').replace(/\s+/g, ' ').slice(0, TEXT_CHARS);
      if (text === '' && heading === '') continue;
      const url = anchor === '' ? page.out : `${page.out}#${anchor}`;
      index.add({
        id: id++,
        title: page.title,
        heading,
        text,
        url,
        excerpt: text.slice(0, EXCERPT_CHARS),
        weight: weightOf(page),
      });
    }
  }
  return `window.orcrawlSearch=${JSON.stringify({ options: OPTIONS, index: JSON.stringify(index) })};`;
}

/** A name with underscores is a word, and so is each of its parts; site.js looks for the whole of it. */
function wordsOf(text) {
  const words = text.split(/[^\p{L}\p{N}_]+/u).filter((word) => word !== '');
  return words.flatMap((word) => (word.includes('_') ? [word, ...word.split('_')] : [word]));
}

function whole(blocks) {
  return { id: '', text: '', parts: blocks.flatMap(({ text, parts }) => [...(text === '' ? [] : [text]), ...parts]) };
}
