// Sections that lead away from a page, by what their first line says: "You may also like", "Related articles".
// Promise: a section is a small part of the page and begins with that line; the same words within a text are ignored.
import { blockText } from '../page/block-text.js';
import type { Segments } from '../page/segment.js';
import { CHARS, CONTAINER, FIRST_NODE, LAST_NODE, STRIDE, WORDS } from '../page/segment.js';

const THINGS =
  '(?:items?|products?|articles?|posts?|stor(?:y|ies)|contents?|reading|links?|topics?|news|resources?|pages?|videos?|reads?|' +
  'guides?|blogs?|questions?|threads?|courses?|events?|jobs?|recipes?|insights?|books?|services?)';
const LEADS_AWAY = new RegExp(
  `^(?:${[
    `(?:similar|related|recommended|suggested|sponsored|popular|trending|recent|latest|featured|other|more)(?: [\\w-]+)? ${THINGS}`,
    `(?:latest|recent|more) ${THINGS} (?:by|from|on|in|about) .*`,
    `most (?:popular|read|viewed|shared|recent)(?: ${THINGS})?`,
    `(?:previous|next) ${THINGS}`,
    '(?:people|customers|shoppers|others|users|readers) (?:who |also ).*',
    "you(?:['’]ll)?(?: may| might| could| will)(?: also)? (?:like|love|enjoy|be interested).*",
    'recommended (?:for you|reading|by .*)',
    '(?:recently|also) viewed(?: .*)?',
    '(?:read|up|what to read|watch) next',
    'more (?:from|like|in|on|to (?:read|explore|discover|love)) .*',
    '(?:frequently|often) bought together',
    '(?:complete|shop|get) the look',
    'variations of this .*',
    '(?:pairs (?:well )?|goes well )with',
    'related|sponsored|advertisement|trending(?: now)?',
    '(?:keep|continue) (?:reading|exploring)(?: .*)?',
    'explore more(?: .*)?',
    "(?:don['’]t miss(?: this| these)?|in case you missed it)",
    // The same in German, French, Spanish, Italian, Portuguese and Dutch.
    '(?:ähnliche|verwandte|weitere|passende|neueste|beliebte) (?:artikel|beiträge|produkte|themen|meldungen|nachrichten)',
    '(?:das )?könnte (?:sie|dich|dir|ihnen) auch (?:interessieren|gefallen)|auch interessant|lesen sie auch|mehr zum thema',
    '(?:articles|produits|sujets|contenus) (?:similaires|connexes|liés|associés|récents)|(?:à )?lire aussi|sur le même (?:sujet|thème)',
    'vous (?:aimerez|pourriez) (?:aussi|également)(?: .*)?',
    '(?:artículos|productos|noticias|entradas|contenidos?) (?:relacionad[oa]s?|similares|recientes)|te puede interesar|también te puede .*',
    '(?:articoli|prodotti) (?:correlati|simili|recenti)|leggi anche|potrebbe(?:ro)? interessarti(?: .*)?',
    '(?:artigos|produtos|notícias|posts) (?:relacionad[oa]s|semelhantes|recentes)|(?:leia|veja) também',
    '(?:gerelateerde|verwante) (?:artikelen|producten|berichten)|lees ook|meer over dit onderwerp',
  ].join('|')})$`,
  'i',
);
const MAX_LINE_WORDS = 8;
const MAX_LINE_CHARS = 80;
/** Words before the line, within the section: a mark or a number. */
const MAX_BEFORE = 3;
const MAX_LEVELS = 12;
/** A larger share of the page is the page. */
const MAX_SHARE = 0.25;
/** What the line is worth, in logits; 2 to 5 score alike on the given pages. */
const AWAY = -3;
/** Where nothing is likelier than this, there is nothing to lower. */
const HOPELESS = -4;
const LOOK_AHEAD = 12;

/** Without the colon, dots or exclamation marks that a heading ends with. */
function withoutMarks(text: string): string {
  let end = text.length;
  while (end > 0 && ':.…! '.includes(text[end - 1]!)) end--;
  return text.slice(0, end);
}

/** Lowers the logits of sections that lead away from the page. */
export function leaveRelated(segments: Segments, logits: Float32Array): void {
  const { blocks, count, words } = segments;
  let done = 0;
  for (let b = 0, at = 0; b < count; b++, at += STRIDE) {
    if (blocks[at + WORDS]! > MAX_LINE_WORDS || blocks[at + CHARS]! > MAX_LINE_CHARS) continue;
    if (blocks[at + FIRST_NODE]! < done || !isHopeful(logits, b)) continue;
    const text = blockText(segments, blocks[at + FIRST_NODE]!, blocks[at + LAST_NODE]!)
      .replace(/\s+/g, ' ')
      .trim();
    if (!LEADS_AWAY.test(withoutMarks(text))) continue;
    const end = sectionEnd(segments, b, MAX_SHARE * words[0]!);
    // A line without a section is a line of the text.
    if (b + 1 === count || blocks[at + STRIDE + FIRST_NODE]! >= end) continue;
    for (let k = b; k < count && blocks[k * STRIDE + FIRST_NODE]! < end; k++) logits[k]! += AWAY;
    done = Math.max(done, end);
  }
}

/** Whether this line or one soon after it may become content. */
function isHopeful(logits: Float32Array, b: number): boolean {
  for (let k = b; k < Math.min(logits.length, b + LOOK_AHEAD); k++) if (logits[k]! > HOPELESS) return true;
  return false;
}

/** The node after the largest element that begins with this block and is no more than a section. */
function sectionEnd({ tree, blocks, words }: Segments, b: number, most: number): number {
  let end = 0;
  let first = b;
  let before = 0;
  let node = blocks[b * STRIDE + CONTAINER]!;
  for (let level = 0; node > 0 && level < MAX_LEVELS; level++, node = tree.parent[node]!) {
    while (first > 0 && blocks[(first - 1) * STRIDE + FIRST_NODE]! >= node && before <= MAX_BEFORE) {
      first--;
      // Blocks without a word count as one, so that a page of them costs no more.
      before += Math.max(1, blocks[first * STRIDE + WORDS]!);
    }
    if (before > MAX_BEFORE || words[node]! > most) break;
    end = tree.end[node]!;
  }
  return end;
}
