// Hostile pages: the host is polite, the markup is not. Each body is below the limit of 10 MB unless its name says so.
// Sizes are what the review found to hurt, or the largest that a page may be.
const MB = 1_000_000;
const nest = (open, count, inside = 'x', close = '') => `${open.repeat(count)}${inside}${close.repeat(count)}`;
const fill = (text, bytes) => text.repeat(Math.floor(bytes / text.length));
const html = (body) => `<!doctype html><title>hostile</title><body>${body}`;

const linkTo = (query) => `<a href="/hostile-link?${query}">a link</a>`;
const utm = (from) => `${Array.from({ length: 5_000 }, (_, n) => `utm_${from}${n}=1`).join('&')}&q=%C3%A9`;

function deepJson(depth) {
  return `${'{"a":['.repeat(depth)}1${']}'.repeat(depth)}`;
}

/** Name → body, or how to make it; `type` where it is not HTML. */
export const PAGES = {
  'nested-div': () => html(nest('<div>', 2 * MB)),
  'nested-span': () => html(nest('<span>', 1.5 * MB)),
  'nested-blockquote': () => html(nest('<blockquote>', 500, fill('<p>x', MB))),
  'nested-blockquote-deep': () => html(nest('<blockquote>', 400_000)),
  'nested-lists': () => html(nest('<ul><li>', 60_000, fill('<p>x', MB))),
  'nested-dl': () => html(nest('<dl><dd>', 100_000)),
  'nested-tables': () => html(nest('<table><tr><td>', 60_000, 'x', '</table>')),
  'nested-tables-foster': () => html(nest('<table><b>', 60_000)),
  'nested-formatting': () => html(nest('<b><i><u>', 50_000, 'x', '</b></i>')),
  'nested-links': () => html(nest('<a href=/x><p>', 100_000)),
  'nested-svg': () => html(nest('<svg><foreignObject>', 100_000)),
  'nested-template': () => html(nest('<template>', 200_000)),
  'nested-select': () => html(nest('<select><option>', 200_000)),
  'nested-headings': () => html(nest('<h1>', 500_000)),
  'nested-code': () => html(nest('<pre><code>', 100_000)),
  'blocks-unclosed': () => html(fill('<p><b><i>', MB)),
  'vertical-tabs': () => html(`<p><code>${'\v'.repeat(80_000)}</code>`),
  'spaces-in-code': () => html(`<p><code>${' \n'.repeat(200_000)}x</code>`),
  'hashes-in-heading': () => html(`<h1>${'#'.repeat(200_000)} x</h1>`),
  'backslashes-in-table': () => html(`<table><tr><td>${'\\'.repeat(200_000)}</td></tr></table>`),
  'stars-and-brackets': () => html(`<p>${'*_[`<!'.repeat(200_000)}`),
  'line-breaks': () => html(fill('<br>', MB)),
  'pre-lines': () => html(`<pre>${fill('<span class=line>a</span>\n', 4 * MB)}</pre>`),
  spaces: () => html(' '.repeat(5 * MB)),
  'deep-json-ld': () => html(`<script type="application/ld+json">${deepJson(100_000)}</script><p>x`),
  'many-json-ld': () => html(fill('<script type="application/ld+json">{"@type":"Thing"}</script>', 5 * MB)),
  'huge-attribute': () => html(`<div title="${'a'.repeat(9 * MB)}">x</div>`),
  'many-attributes': () => html(`<div ${Array.from({ length: 300_000 }, (_, n) => `a${n}=b`).join(' ')}>x</div>`),
  'same-attributes': () => html(`<div ${'a '.repeat(MB)}>x</div>`),
  'attribute-unclosed': () => html(fill('<a href="', 5 * MB)),
  'utm-links': () => html(Array.from({ length: 20 }, (_, n) => linkTo(utm(n))).join('')),
  'many-links': () => html(Array.from({ length: 200_000 }, (_, n) => `<a href=/l/${n}>x</a>`).join('')),
  'long-links': () => html(Array.from({ length: 100 }, (_, n) => linkTo('a'.repeat(60_000) + n)).join('')),
  'dotted-links': () => html(`<a href="/${'../a/./'.repeat(300_000)}">x</a>`),
  'labelled-links': () => html(`<a href="http://${'a.'.repeat(200_000)}com/">x</a>`),
  'base-flood': () => html(fill('<base href="//a.b/"><a href=x>y</a>', 2 * MB)),
  'charset-flood': () => `<meta charset="${' '.repeat(60_000)}">${fill('<meta charset=utf-8>', MB)}<p>x`,
  'charset-utf7': () => `<meta charset="utf-7"><p>+ADw-script+AD4-`,
  entities: () => html(fill('&amp;&lt;&notin;&#x1F600;', 5 * MB)),
  'entities-unclosed': () => html(fill('&#', 3 * MB)),
  'entity-endless': () => html(`&#${'9'.repeat(3 * MB)};&${'a'.repeat(3 * MB)};`),
  'meta-refresh-huge': () => `<meta http-equiv=refresh content="0${' '.repeat(2 * MB)};url=${'x'.repeat(2 * MB)}"><p>x`,
  'meta-flood': () => html(fill('<meta property="og:image" content="http://a.b/c.png">', 5 * MB)),
  'title-huge': () => `<title>${'t'.repeat(9 * MB)}</title>`,
  surrogates: () => html(`<p>${fill('&#xD800;&#xDFFF;\u{1F600}', MB)}`),
  'surrogate-bytes': () =>
    Buffer.concat([Buffer.from(html('<p>')), Buffer.alloc(300_000, Buffer.from([0xed, 0xa0, 0x80]))]),
  nulls: () => Buffer.concat([Buffer.from(html('<p>')), Buffer.alloc(3 * MB)]),
  'random-bytes': () => Buffer.from(Array.from({ length: 300_000 }, (_, n) => (n * 7919 + (n >> 3)) & 255)),
  'comments-unclosed': () => html(fill('<!--', 5 * MB)),
  'cdata-unclosed': () => html(fill('<svg><![CDATA[', 2 * MB)),
  'tags-unclosed': () => html(fill('<a ', 5 * MB)),
  'end-tags': () => html(fill('</p></br></div>', 5 * MB)),
  'scripts-unclosed': () => html(fill('<script><!--<script>', 3 * MB)),
  'doctype-flood': () => fill('<!doctype html>', 5 * MB),
  'plaintext-tag': () => html(`<plaintext>${fill('</plaintext>', 3 * MB)}`),
  controls: () => html(`<pre>${fill('\u001b]52;c;aGk=\u0007\u001b[2J\u009b31m', MB)}</pre>`),
  'terms-flood': () => html(`<p>${Array.from({ length: 400_000 }, (_, n) => `w${n}`).join(' ')}`),
  'text-one-line': { type: 'text/plain', body: () => 'a'.repeat(9 * MB) },
  'xml-deep': { type: 'application/xhtml+xml', body: () => `<?xml version="1.0"?>${nest('<a>', MB)}` },
  'xml-entities': {
    type: 'application/xml',
    body: () => `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "${'&a;'.repeat(100_000)}">]><a>&b;&b;&b;</a>`,
  },
  'json-deep': { type: 'application/json', body: () => '['.repeat(3 * MB) },
  'feed-deep': { type: 'application/rss+xml', body: () => `<rss>${nest('<channel><item>', 200_000)}` },
  'utf16-odd': {
    type: 'text/html; charset=utf-16le',
    body: () => Buffer.alloc(3 * MB + 1, Buffer.from([0x3c, 0x00, 0x61])),
  },
  /** The handlers of the suite store something there that cannot be written as JSON. */
  unserialisable: () => html('<p>the handler stores a circle and a BigInt'),
  'too-large': () => html('x'.repeat(40 * MB)),
};
