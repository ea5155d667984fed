// Turns the map into bytes: one HTML page per (host, page, version), byte for byte the same for one seed.
// Built for speed (some tens of microseconds for 10 KB): text comes from ready paragraphs, joined as one-byte strings.
import { createRolls, hash32, SALT, share } from './chance.js';
import type { SimwebPlan } from '../knobs.js';
import type { PlannedLink, SiteMap } from './map.js';
import type { Topics } from './topics.js';
import { ADJECTIVES, NOUNS, capital, createFiller, createParagraphs } from './words.js';

export interface PageMaker {
  /** The page's HTML as UTF-8; a new version differs from the one before. */
  html(host: number, page: number, version: number): Buffer;
  title(host: number, page: number): string;
  lastModified(host: number, page: number, version: number): Date;
  etag(host: number, page: number, version: number): string;
  /** As `html`, with furniture that is another at every request. */
  furnished(host: number, page: number, version: number, request: number): Buffer;
  /** The page whose text a page has: an earlier one for near copies. */
  sourceOf(host: number, page: number): number;
}

const STYLE =
  '<style>body{font:16px/1.5 serif;margin:0 auto;max-width:46em}nav li{display:inline}aside{color:#444}' +
  'h1>small,footer{font-size:.8em}table td{padding:0 1em}a[href]{color:#024}</style>';
const SCRIPT =
  '<script>/* <a href="/not-a-link"> */document.addEventListener("click",function(e){if(e.target.tagName==="A"&&1<2)window.last=e.target.href})</script>';
const NOT_FOLLOWED =
  '<a href="mailto:editor@example.com">Write to us</a> <a href="javascript:void(0)">Print</a> <a href="tel:+15550100">Call</a> <a name="end">End</a>';
const COMMENT = '<!-- <a href="/commented-out">an old link</a> -->';

const PARAGRAPH_TAGS = '<p></p>\n'.length;

// Mid 2025: dates are part of the pages, so they come from the seed and not from the clock.
const FIRST_DATE_MS = Date.UTC(2025, 5, 1);
const DAY_MS = 86_400_000;

export function createPageMaker(plan: SimwebPlan, map: SiteMap): PageMaker {
  const { seed } = plan;
  const { topics } = map;
  let paragraphs: readonly string[] = [];
  let filler = '';
  let longest = 0;

  const title = (of: number, page: number): string => {
    const host = map.sourceOf(of);
    const roll = hash32(seed, host, page, SALT.text);
    const about = `${capital(ADJECTIVES[roll & 31] as string)} ${NOUNS[(roll >>> 5) & 31]}`;
    return page === 0
      ? `${about} &amp; more: site ${host}`
      : `${about} of the ${NOUNS[(roll >>> 10) & 31]}, no. ${page}`;
  };

  const lastModified = (host: number, page: number, version: number): Date =>
    new Date(FIRST_DATE_MS + (hash32(seed, map.sourceOf(host), page, SALT.date) % 300) * DAY_MS + version * 1000);

  const etag = (host: number, page: number, version: number): string =>
    `"${hash32(seed, host, page, SALT.etag).toString(16)}-${version}"`;

  function size(host: number, page: number): number {
    const [min, max] = plan.pageBytes;
    if (min === max) return min;
    // Even on a logarithmic scale: many small pages, few large ones.
    const at = hash32(seed, host, page, SALT.size) / 0xffffffff;
    return Math.round(min * Math.pow(max / min, at));
  }

  function namedLinks(host: number, page: number, named: Topics): NamedLink[] {
    const roll = createRolls(hash32(seed, map.sourceOf(host), page, SALT.topic + 64));
    return map
      .links(host, page)
      .map((link) => (link.target === undefined ? link : { ...link, text: named.anchor(link.target, roll) }));
  }

  function html(host: number, page: number, version: number): Buffer {
    if (paragraphs.length === 0) {
      paragraphs = createParagraphs(seed);
      longest = Math.max(...paragraphs.map((text) => text.length)) + PARAGRAPH_TAGS;
      filler = createFiller(seed, longest);
    }
    const of = map.sourceOf(host);
    const source = sourceOf(host, page);
    const roll = createRolls(hash32(seed, of, source, SALT.text + version * 64));
    const links = topics ? namedLinks(host, page, topics) : map.links(host, page);
    const name = title(host, page);
    const self = map.origin(host) + map.path(page);
    const day = lastModified(host, page, version).toISOString().slice(0, 10);
    const paragraph = (): string => paragraphs[roll() & 1023] as string;

    // A third of the links stand in running text, the rest in lists.
    const inText = Math.floor(links.length / 3);
    const head =
      `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>${name}</title>\n` +
      `<meta name="description" content="About ${name}">\n<meta property="og:title" content="${name}">\n` +
      `<meta name="viewport" content="width=device-width">\n<link rel="canonical" href="${self}">\n` +
      `<script type="application/ld+json">{"@type":"Article","datePublished":"${day}","identifier":"${host}/${page}/${version}"}</script>\n` +
      `${STYLE}\n</head>\n<body>\n<header><nav><ul>${list(links, inText, Math.min(links.length, inText + 5))}</ul></nav></header>\n` +
      `<main><article>\n<h1>${name} <small>&#8470;&nbsp;${page}</small></h1>\n<p>Published <time datetime="${day}">${day}</time></p>\n`;
    const tail =
      `</article></main>\n${COMMENT}\n<aside><h2>Related</h2>\n<ul>${list(links, Math.min(links.length, inText + 5), links.length)}</ul></aside>\n` +
      `<footer><p>&copy; site ${host}. ${NOT_FOLLOWED}</p></footer>\n${SCRIPT}\n</body>\n</html>\n`;

    let body = '';
    if (topics) body += `<p>${topics.sentences(of, page).join('</p>\n<p>')}</p>\n`;
    for (let i = 0; i < inText; i++) {
      const text = paragraph();
      const cut = text.indexOf('. ') + 1;
      body += `<p>${text.slice(0, cut)} ${anchor(links[i] as NamedLink, i)} ${text.slice(cut, text.indexOf('. ', cut) + 1)}</p>\n`;
    }
    const target = size(of, source);
    let left = target - head.length - body.length - tail.length;
    for (let part = 0; left > longest; part++) {
      const text = paragraph();
      const piece =
        part % 6 === 5
          ? `<h2 id="part-${(part / 6) | 0}">${capital(NOUNS[roll() & 31] as string)}</h2>\n`
          : `<p>${text}</p>\n`;
      body += piece;
      left -= piece.length;
    }
    if (left > PARAGRAPH_TAGS) body += `<p>${filler.slice(0, left - PARAGRAPH_TAGS)}</p>\n`;
    return Buffer.from(head + body + tail, 'latin1');
  }

  /** The page whose text this one has: its own, or that of an earlier page. */
  function sourceOf(host: number, page: number): number {
    const chance = hash32(seed, map.sourceOf(host), page, SALT.nearCopy);
    return page > 0 && share(chance) < plan.changes.nearCopies ? chance % page : page;
  }

  /** The page with what is another thing at every request: a date, a counter, an advert, a token. */
  function furnished(host: number, page: number, version: number, request: number): Buffer {
    const roll = createRolls(hash32(seed, host, page, SALT.nearCopy + request * 64));
    const advert =
      `<div class="ad banner"><a rel="nofollow" href="/_/ad#${roll()}">Buy ${NOUNS[roll() & 31]} now</a></div>` +
      `<form><input type="hidden" name="token" value="${roll().toString(16)}"></form>`;
    const note = `<p>${roll() % 100_000} visitors online</p><p>Generated ${new Date(roll() * 400).toUTCString()}</p>`;
    const text = html(host, page, version).toString('latin1');
    return Buffer.from(text.replace('<header>', `${advert}<header>`).replace('<footer>', `<footer>${note}`), 'latin1');
  }

  return { html, furnished, sourceOf, title, lastModified, etag };
}

const ANCHORS = ['read on', 'more about this', 'the next part', 'see also', 'a longer story', 'notes'];

/** A link with what it says, where that is of its own. */
type NamedLink = PlannedLink & { readonly text?: string | undefined };

function anchor(link: NamedLink, i: number): string {
  const { href } = link;
  const escaped = href.includes('&') ? href.replaceAll('&', '&amp;') : href;
  return `<a href="${escaped}"${link.nofollow ? ' rel="nofollow"' : ''}>${link.text ?? ANCHORS[i % ANCHORS.length]}</a>`;
}

function list(links: readonly NamedLink[], from: number, to: number): string {
  let out = '';
  for (let i = from; i < to; i++) out += `<li>${anchor(links[i] as NamedLink, i)}</li>\n`;
  return out;
}
