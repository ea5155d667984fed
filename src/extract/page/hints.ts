// What class names, ids and roles say about an element: each known word stands for one category.
// Promise: one pass over the attribute's bytes, no strings; unknown words say nothing.
import type { PageTree } from '../../parse/tree/tree.js';
import { LABEL_WORD, markWord } from '../shown/marks.js';
import { WORD_SEED, createWordTable, mixLetter } from './word-table.js';

/** Words by category. Words are whole parts of a name: `site-navBar` has the parts site, nav, bar. */
const CATEGORIES: Readonly<Record<string, string>> = {
  navigation:
    'nav navbar navigation menu menubar submenu megamenu topnav subnav sitenav mainnav dropdown navlink menus',
  footer: 'footer foot bottom colophon siteinfo contentinfo footernav sitefooter pagefooter',
  header: 'header masthead topbar top head siteheader toolbar pageheader',
  sidebar: 'sidebar side aside rail secondary sidenav complementary sidebars leftcol rightcol',
  breadcrumb: 'breadcrumb breadcrumbs crumb crumbs breadcrumblist',
  share: 'share sharing social socials follow addthis sharedaddy sns facebook twitter linkedin pinterest whatsapp',
  related:
    'related recommended recommendations recommendation recommend more similar also suggested suggestions upnext popular ' +
    'trending latest recent recently viewed readmore teaser teasers promoted upsell upsells crosssell xsell youmaylike',
  comment: 'comment comments commentlist disqus respond reply replies discussion commenter',
  advert:
    'ad ads advert adverts advertisement sponsored sponsor promo promos promotion adsense dfp gpt adslot advertising',
  consent: 'ot cookie cookies consent gdpr privacy onetrust ccpa cookiebar',
  modal:
    'modal popup overlay dialog lightbox drawer offcanvas tooltip toast flyout popover snackbar alert notification',
  newsletter: 'newsletter subscribe subscription signup optin mailing mailchimp email subscriber',
  author: 'author authors byline bio writer avatar profile contributor biography',
  date: 'date time published posted timestamp updated datetime pubdate datepublished datemodified',
  tags: 'tag tags category categories label labels topics keywords badge badges pill chip chips',
  contents: 'toc outline tableofcontents onthispage jump anchors ez scrollspy',
  pager: 'pagination pager paging prev previous next pages pagenav nextprev',
  content:
    'content contents body text copy prose richtext rte wysiwyg markdown bodytext textblock rich paragraph paragraphs',
  article: 'article post entry story blog news single articlebody postbody hentry blogposting newsarticle postcontent',
  main: 'main primary maincontent pagecontent',
  title: 'title headline heading subtitle name h1 h2 subheading titles',
  caption: 'caption figcaption credit credits captions wp',
  product: 'product pdp sku goods products prod productdetail',
  price:
    'price cost sale discount cart buy basket checkout addtocart prices pricing offer offers savings stock shipping delivery',
  review: 'review reviews rating ratings stars testimonial testimonials reviewer star score votes vote',
  description:
    'description desc summary excerpt intro lead lede details detail overview about introduction abstract dek standfirst',
  specification: 'spec specs specification specifications attributes features feature properties ingredients nutrition',
  list: 'list listing grid results result cards card tiles tile collection catalog items feed item listitem row',
  search: 'search filter filters facet facets sort refine sorting searchbox refinement',
  account: 'form login signin register account contact password auth field fieldset input',
  button: 'button btn cta action actions buttons btns link links',
  hidden: 'hidden hide sr screenreader visuallyhidden invisible skip offscreen assistive noprint closed',
  widget: 'widget module plugin widgets',
  forum: 'thread message messages topic forum msg posts threads conversation messagebody postmessage',
  documentation: 'docs doc documentation reference api theme rst sphinx docusaurus mdn',
  question: 'faq faqs accordion question answer questions answers qa collapse collapsible panel',
  tool: 'tool tools print meta metadata info details utility controls control actionbar stats status',
  hero: 'hero banner jumbotron slider carousel slick swiper slide slides marquee',
  media: 'video player audio gallery image img photo thumbnail thumb images media picture icon icons logo',
  legal: 'copyright legal terms disclaimer policy disclosure',
  locale: 'language lang locale country region currency languages translate',
  user: 'user username member users poster',
  signature: 'signature sig signatures usersig',
  step: 'step steps instructions recipe method directions instruction',
  code: 'code highlight codehilite snippet prism hljs sourcecode',
  section: 'section block container wrapper inner row column col columns layout',
  team: 'team company client clients partners partner logos press award awards',
  map: 'map location address store directions stores locator phone hours',
  brand: 'brand logo site brands',
};

export const HINT_NAMES: readonly string[] = Object.keys(CATEGORIES);
export const HINT_COUNT = HINT_NAMES.length;

const hintTable = createWordTable(Object.values(CATEGORIES));

/** Hints of one element as bits, low and high half, and a hash of its class for telling repeated elements. */
export const hintsFound = {
  low: 0,
  high: 0,
  style: 0,
  noSnippet: false,
  /** What {@link markWord} says of its names. */
  mark: -1,
  /** Whether a name may be that of a label which is no text. */
  label: false,
  /** 1 by the attribute `hidden`, 2 by `aria-hidden`. */
  hiddenBy: 0,
  // Where its class, id and inline style stand in the bytes.
  classFrom: 0,
  classTo: 0,
  idFrom: 0,
  idTo: 0,
  styleFrom: 0,
  styleTo: 0,
};

const FIRST_WORDS = 4096;
/** A larger list is given back before the next page. */
const KEPT_WORDS = 1 << 17;
/** The hashes of all words read since {@link forgetWords}, known and unknown, element after element. */
let wordsRead = new Int32Array(FIRST_WORDS);
let wordsCount = 0;

export function forgetWords(): void {
  if (wordsRead.length > KEPT_WORDS) wordsRead = new Int32Array(FIRST_WORDS);
  wordsCount = 0;
}

/** How many words were read so far. */
export function wordsSoFar(): number {
  return wordsCount;
}

/** A copy of the words read so far. */
export function wordsOfPage(): Int32Array {
  return wordsRead.slice(0, wordsCount);
}

const LIMIT = 400;

/** Adds the words of an attribute's value to {@link hintsFound}. Very long values are cut: they are data, not names. */
function readWords(bytes: Uint8Array, from: number, to: number): void {
  const end = Math.min(to, from + LIMIT);
  let hash = WORD_SEED;
  let length = 0;
  let previousLower = false;
  for (let k = from; k <= end; k++) {
    const byte = k < end ? bytes[k]! : 0;
    const isLower = byte >= 0x61 && byte <= 0x7a;
    const isUpper = byte >= 0x41 && byte <= 0x5a;
    if (isLower || (isUpper && !previousLower)) {
      hash = mixLetter(hash, byte | 0x20);
      length++;
    } else {
      if (length > 1) note(hash);
      hash = isUpper ? mixLetter(WORD_SEED, byte | 0x20) : WORD_SEED;
      length = isUpper ? 1 : 0;
    }
    previousLower = isLower;
  }
}

function note(hash: number): void {
  if (wordsCount === wordsRead.length) {
    const larger = new Int32Array(wordsCount * 2);
    larger.set(wordsRead);
    wordsRead = larger;
  }
  wordsRead[wordsCount++] = hash;
  const mark = markWord(hash);
  if (mark === LABEL_WORD) hintsFound.label = true;
  else if (mark >= 0) hintsFound.mark = mark;
  const category = hintTable.find(hash);
  if (category < 0) return;
  if (category < 32) hintsFound.low |= 1 << category;
  else hintsFound.high |= 1 << (category - 32);
}

function equals(bytes: Uint8Array, from: number, to: number, name: string): boolean {
  if (to - from !== name.length) return false;
  for (let k = 0; k < name.length; k++) if ((bytes[from + k]! | 0x20) !== (name.charCodeAt(k) | 0x20)) return false;
  return true;
}

/** Reads an element's names into {@link hintsFound}. */
export function readHints(tree: PageTree, node: number): void {
  hintsFound.low = 0;
  hintsFound.high = 0;
  hintsFound.style = 0;
  hintsFound.noSnippet = false;
  hintsFound.mark = -1;
  hintsFound.label = false;
  hintsFound.hiddenBy = 0;
  hintsFound.classFrom = hintsFound.classTo = hintsFound.idFrom = hintsFound.idTo = 0;
  hintsFound.styleFrom = hintsFound.styleTo = 0;
  if (tree.from[node]! >= tree.to[node]!) return;
  const { bytes } = tree;
  const list = tree.attributes(node);
  let hiddenBy = 0;
  // React sends parts of a page after it as `<div hidden id="S:1">`; a script puts them where they belong.
  let streamed = false;
  for (let index = 0; index < list.count; index++) {
    const nameFrom = list.nameFrom(index);
    const nameTo = list.nameTo(index);
    const from = list.valueFrom(index);
    const to = list.valueTo(index);
    switch (nameTo - nameFrom) {
      case 2:
        if (equals(bytes, nameFrom, nameTo, 'id')) {
          readWords(bytes, from, to);
          hintsFound.idFrom = from;
          hintsFound.idTo = to;
          streamed = bytes[from] === 0x53 && bytes[from + 1] === 0x3a;
        }
        break;
      case 4:
        if (equals(bytes, nameFrom, nameTo, 'role')) readWords(bytes, from, to);
        break;
      case 5:
        if (equals(bytes, nameFrom, nameTo, 'class')) {
          readWords(bytes, from, to);
          hintsFound.style = styleHash(bytes, from, to);
          hintsFound.classFrom = from;
          hintsFound.classTo = to;
        } else if (equals(bytes, nameFrom, nameTo, 'style')) {
          hintsFound.styleFrom = from;
          hintsFound.styleTo = to;
        }
        break;
      case 6:
        if (equals(bytes, nameFrom, nameTo, 'hidden')) hiddenBy = 1;
        break;
      case 8:
        if (equals(bytes, nameFrom, nameTo, 'itemprop')) readWords(bytes, from, to);
        break;
      case 11:
        if (equals(bytes, nameFrom, nameTo, 'data-testid')) readWords(bytes, from, to);
        else if (equals(bytes, nameFrom, nameTo, 'aria-hidden')) {
          if (hiddenBy === 0 && equals(bytes, from, to, 'true')) hiddenBy = 2;
        }
        break;
      case 14:
        hintsFound.noSnippet ||= equals(bytes, nameFrom, nameTo, 'data-nosnippet');
        break;
      default:
        break;
    }
  }
  hintsFound.hiddenBy = streamed ? 0 : hiddenBy;
}

/** Of a class list without digits: `post-123` and `post-124` are one style. */
function styleHash(bytes: Uint8Array, from: number, to: number): number {
  let hash = WORD_SEED;
  const end = Math.min(to, from + LIMIT);
  for (let k = from; k < end; k++) {
    const byte = bytes[k]!;
    if (byte < 0x30 || byte > 0x39) hash = mixLetter(hash, byte);
  }
  return hash;
}
