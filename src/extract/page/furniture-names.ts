// Whether an element's names really call it an advert or a banner of consent, where a hint says so or a network's name is
// on the page. Promise: only elements that a hint or a search of the page's bytes points at are read again.
import type { PageTree } from '../../parse/tree/tree.js';

/** Whole words of a name, as people write them; `p_3ad9` and `hOtKl` are made by tools and call nothing. */
const ADVERT =
  /(?:^|[^a-z0-9])(?:ads?|adverts?|advertisements?|advertising|adsense|adslots?|sponsor(?:ed|s)?|promoted|dfp|gpt)\d{0,4}(?![a-z0-9])/i;
/** Forms, and offers of the site itself. Not fields: content systems call each part of a page one. */
const ASIDE =
  /(?:^|[^a-z0-9])(?:form|login|signin|register|account|contact|password|auth|fieldset|input|promo(?:s|tions?)?)\d{0,4}(?![a-z0-9])/i;
const CONSENT = /(?:^|[^a-z0-9])(?:cookies?|cookiebar|consent|gdpr|ccpa|privacy|onetrust|ot)\d{0,4}(?![a-z0-9])/i;
/** What networks call their places, also amid a longer name. */
const NETWORK = /adsbygoogle|taboola|outbrain|div-gpt-ad|google_ads|revcontent|mgid_|plista|ligatus|adnuntius/i;
const NETWORK_BYTES = ['adsbygoogle', 'taboola', 'outbrain', 'revcontent', 'plista', 'ligatus'];
/** What a label may say, so that nobody takes it for content. */
const LABEL =
  /^(?:ads?|advert(?:isement|ising)?s?|sponsored(?: \p{L}+)?|anzeigen?|werbung|publicité|annonces?|publicidad|anuncios?|pubblicità|publicidade|advertentie|reklam[ae]?|реклама|广告|廣告|広告|광고|إعلان)$/iu;

/** What a post is about, not what its element is: `category-news tag-gpt-5`. */
const isTopic = (token: string): boolean => /^(?:tag|category|cat|topic|term)-/i.test(token);

const camelParts = (name: string): string => name.replace(/([a-z])([A-Z])/g, '$1-$2');

/** A name that a tool made: a digit before a letter, or capitals every other letter. */
const isMade = (token: string): boolean =>
  /\d[a-zA-Z]|(?:[A-Z][a-z]{0,2}){3}|^[a-zA-Z]{0,2}(?:[A-Z][a-z]{0,2}){2}$/.test(token);

function namesOf(tree: PageTree, node: number): string {
  return ['class', 'id', 'role', 'data-testid']
    .map((name) => tree.attribute(node, name) ?? '')
    .join(' ')
    .slice(0, 1_000)
    .split(/\s+/)
    .filter((token) => !isMade(token) && !isTopic(token))
    .map(camelParts)
    .join(' ');
}

export const isNamedAdvert = (tree: PageTree, node: number): boolean => ADVERT.test(namesOf(tree, node));
/** Of an element with a hint of accounts or adverts. */
export const isNamedAside = (tree: PageTree, node: number): boolean => ASIDE.test(namesOf(tree, node));
export const isNamedConsent = (tree: PageTree, node: number): boolean => CONSENT.test(namesOf(tree, node));

/** Elements of advert networks, and those with a label that says so; none on most pages. */
export function advertsByLabel(tree: PageTree): (node: number) => boolean {
  const has = (text: string) => tree.bytes.includes(text);
  const labels = has('aria-label=');
  const networks = NETWORK_BYTES.some(has);
  if (!labels && !networks) return () => false;
  return (node) => {
    if (labels && LABEL.test((tree.attribute(node, 'aria-label') ?? '').trim())) return true;
    if (!networks) return false;
    return NETWORK.test(tree.attribute(node, 'class') ?? '') || NETWORK.test(tree.attribute(node, 'id') ?? '');
  };
}
