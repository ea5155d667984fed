// Signals of the page as a whole: what its head, address and overall shape say about the kind of page it is.
// Promise: numbers only, no site is named; the same page gives the same numbers.
import type { PageHead } from '../facts/metadata.js';
import { typesOf } from '../facts/metadata.js';
import { elementNumber } from '../page/elements.js';
import { HINT_COUNT, HINT_NAMES } from '../page/hints.js';
import { PHRASE_COUNT, PHRASE_NAMES } from '../page/phrases.js';
import type { Segments } from '../page/segment.js';
import {
  BREAKS,
  CHARS,
  CURRENCY,
  DIGITS,
  HEADING,
  IMAGES,
  LINK_WORDS,
  PHRASES,
  SENTENCES,
  SIGNATURE,
  STRIDE,
  WORDS,
} from '../page/segment.js';

/** Words of addresses, by what they announce. */
const URL_WORDS: readonly RegExp[] = [
  /\b(blogs?|news|articles?|posts?|story|stories|20[0-2]\d|magazine|opinion|guides?|learn|insights?|resources)\b/,
  /\b(docs?|documentation|reference|api|manual|tutorials?|guide|book|wiki|man|help|kb|support|latest|stable)\b/,
  /\b(forums?|threads?|topics?|questions?|discussions?|discuss|community|comments|t|viewtopic|showthread|r|answers|q|boards?|bbs|talk)\b/,
  /\b(products?|p|item|dp|pd|prod|sku|buy)\b/,
  /\b(collections?|category|categories|c|shop|store|catalog|catalogue|genre|product-category|browse|all)\b/,
  /\b(list|listing|search|tags?|directory|archive|top|best|index|results|charts?|jobs|events|reviews|browse)\b/,
  /\b(services?|solutions?|about|pricing|features?|platform|contact|company|consulting|agency|industries)\b/,
];
const LD_TYPES: readonly RegExp[] = [
  /Article|BlogPosting|Report$/,
  /^(TechArticle|APIReference|HowTo)$/,
  /^(DiscussionForumPosting|QAPage|Question|Conversation)$/,
  /^(Product|ProductGroup|IndividualProduct|Book|Vehicle|SoftwareApplication|VideoGame)$/,
  /^(ItemList|CollectionPage|OfferCatalog|SearchResultsPage|ProductCollection)$/,
  /^(Organization|LocalBusiness|Service|ProfessionalService|Corporation)$/,
  /^(WebPage|WebSite|AboutPage|FAQPage|ContactPage)$/,
  /^Recipe$/,
  /^BreadcrumbList$/,
];
/** What the styles and ids of a page announce, counted as hints by {@link Segments}. */
const OG_TYPES: readonly RegExp[] = [/article|blog/, /product|book|game/, /website|object/];
const GENERATORS: readonly RegExp[] = [
  /discourse|phpbb|vbulletin|xenforo|mybb|invision|flarum|nodebb|vanilla|discuz|smf/i,
  /docusaurus|sphinx|mkdocs|gitbook|vitepress|vuepress|hugo|jekyll|doxygen|rustdoc|mdbook|readthedocs|asciidoctor|antora|starlight|nextra/i,
  /shopify|woocommerce|magento|bigcommerce|prestashop|opencart/i,
  /wordpress/i,
];

const TAGS =
  'article main section p pre code table li h1 h2 h3 time form input button img video nav blockquote dl'.split(' ');
const TAG_NUMBERS = TAGS.map(elementNumber);

export const SIGNAL_NAMES: readonly string[] = [
  'words',
  'blocks',
  'link share',
  'prose share',
  'words a block',
  'currency a block',
  'digits a char',
  'headings a block',
  'images a block',
  'breaks a block',
  'sentences a word',
  'repeated share',
  'repeated max',
  'repeated long share',
  'long blocks',
  'longest block',
  'title words',
  'url depth',
  'url length',
  'url digits',
  'url words joined',
  'url query',
  ...URL_WORDS.map((_, k) => `url word ${k}`),
  ...LD_TYPES.map((_, k) => `ld ${k}`),
  ...OG_TYPES.map((_, k) => `og ${k}`),
  ...GENERATORS.map((_, k) => `generator ${k}`),
  'og price',
  'article meta',
  'author meta',
  ...TAGS.map((tag) => `tag ${tag}`),
  ...HINT_NAMES.map((name) => `hint ${name}`),
  ...PHRASE_NAMES.map((name) => `says ${name}`),
];

const log = (value: number): number => Math.log2(1 + value);

/** The signals in the order of {@link SIGNAL_NAMES}. */
export function readSignals(segments: Segments, head: PageHead, url: string | null): Float32Array {
  const { blocks, count, tree } = segments;
  const out: number[] = [];
  const totals = {
    words: 0,
    chars: 0,
    link: 0,
    digits: 0,
    currency: 0,
    headings: 0,
    images: 0,
    breaks: 0,
    sentences: 0,
  };
  let long = 0;
  let longest = 0;
  const bySignature = new Map<number, { blocks: number; words: number }>();
  for (let at = 0; at < count * STRIDE; at += STRIDE) {
    const words = blocks[at + WORDS]!;
    totals.words += words;
    totals.chars += blocks[at + CHARS]!;
    totals.link += blocks[at + LINK_WORDS]!;
    totals.digits += blocks[at + DIGITS]!;
    totals.images += blocks[at + IMAGES]!;
    totals.breaks += blocks[at + BREAKS]!;
    totals.sentences += blocks[at + SENTENCES]!;
    if (blocks[at + CURRENCY]! > 0) totals.currency++;
    if (blocks[at + HEADING]! > 0) totals.headings++;
    if (words >= 30) long++;
    longest = Math.max(longest, words);
    const known = bySignature.get(blocks[at + SIGNATURE]!);
    if (known === undefined) bySignature.set(blocks[at + SIGNATURE]!, { blocks: 1, words });
    else {
      known.blocks++;
      known.words += words;
    }
  }
  let repeated = 0;
  let repeatedMax = 0;
  let repeatedLong = 0;
  for (const group of bySignature.values()) {
    if (group.blocks < 5) continue;
    repeated += group.words;
    repeatedMax = Math.max(repeatedMax, group.blocks);
    if (group.words / group.blocks > 8) repeatedLong += group.words;
  }
  const perBlock = Math.max(1, count);
  const perWord = Math.max(1, totals.words);
  out.push(
    log(totals.words),
    log(count),
    totals.link / perWord,
    segments.proseWords[0]! / perWord,
    totals.words / perBlock,
  );
  out.push(totals.currency / perBlock, totals.digits / Math.max(1, totals.chars), totals.headings / perBlock);
  out.push(totals.images / perBlock, totals.breaks / perBlock, totals.sentences / perWord);
  out.push(repeated / perWord, log(repeatedMax), repeatedLong / perWord, log(long), log(longest));
  out.push(head.title.split(' ').length);
  pushUrl(out, url);
  const types = head.entities.flatMap(typesOf);
  for (const pattern of LD_TYPES) out.push(types.some((type) => pattern.test(type)) ? 1 : 0);
  const ogType = head.meta.get('og:type') ?? '';
  for (const pattern of OG_TYPES) out.push(pattern.test(ogType.toLowerCase()) ? 1 : 0);
  const generator = head.meta.get('generator') ?? '';
  for (const pattern of GENERATORS) out.push(pattern.test(generator) ? 1 : 0);
  out.push(head.meta.has('product:price:amount') || head.meta.has('og:price:amount') ? 1 : 0);
  out.push(head.meta.has('article:published_time') ? 1 : 0);
  out.push(head.meta.has('author') || head.meta.has('article:author') ? 1 : 0);
  const tagCounts = new Int32Array(256);
  for (let node = 1; node < tree.count; node++) tagCounts[tree.tag[node]!]!++;
  for (const tag of TAG_NUMBERS) out.push(log(tagCounts[tag]!));
  pushHints(out, segments);
  return Float32Array.from(out);
}

/** How many elements carry each hint, and how many short blocks say each phrase. */
function pushHints(out: number[], { tree, hintLow, hintHigh, blocks, count }: Segments): void {
  const hints = new Int32Array(64);
  for (let node = 1; node < tree.count; node++) {
    for (let low = hintLow[node]!; low !== 0; low &= low - 1) hints[31 - Math.clz32(low & -low)]!++;
    for (let high = hintHigh[node]!; high !== 0; high &= high - 1) hints[63 - Math.clz32(high & -high)]!++;
  }
  for (let k = 0; k < HINT_COUNT; k++) out.push(log(hints[k]!));
  const phrases = new Int32Array(PHRASE_COUNT);
  for (let at = 0; at < count * STRIDE; at += STRIDE) {
    if (blocks[at + WORDS]! > 15) continue;
    for (let says = blocks[at + PHRASES]!; says !== 0; says &= says - 1) phrases[31 - Math.clz32(says & -says)]!++;
  }
  for (let k = 0; k < PHRASE_COUNT; k++) out.push(log(phrases[k]!));
}

function pushUrl(out: number[], url: string | null): void {
  const parts = /^[a-z]+:\/\/([^/?#]*)([^?#]*)(\?[^#]*)?/i.exec(url ?? '');
  const host = parts?.[1]?.toLowerCase() ?? '';
  const path = parts?.[2]?.toLowerCase() ?? '';
  const steps = path.split('/').filter((step) => step !== '');
  const last = steps.at(-1) ?? '';
  out.push(steps.length, Math.min(path.length, 200), (path.match(/\d/g) ?? []).length / Math.max(1, path.length));
  out.push(Math.min(12, last.split(/[-_]/).length), parts?.[3] === undefined ? 0 : 1);
  const readable = `${host.replace(/\.[a-z]+$/, '')} ${path}`.slice(0, 300);
  for (const pattern of URL_WORDS) out.push(pattern.test(readable) ? 1 : 0);
}
