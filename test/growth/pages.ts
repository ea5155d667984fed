// Hostile pages: every element nested, repeated, unclosed and only closed; every hostile text in every place a page
// has for text; floods of attributes; and pages that fast-check puts together, from a fixed seed.
import fc from 'fast-check';
import { type HostileText, listed, repeated, TEXTS } from './texts.js';

const ELEMENTS = (
  'a abbr address applet area article aside audio b base big blockquote body br button canvas caption center cite ' +
  'code col colgroup dd del details dialog dir div dl dt em embed fieldset figcaption figure font footer form frame ' +
  'frameset h1 h2 h3 h6 head header hr html i iframe img input ins kbd label legend li link main map mark math menu ' +
  'meta mi mtext nav nobr noframes noscript object ol optgroup option p param picture plaintext pre q rp rt ruby s ' +
  'samp script section select small source span strike strong style sub summary sup svg table tbody td template ' +
  'textarea tfoot th thead time title tr tt u ul var video wbr x-a foreignObject'
).split(' ');

/** Where a page holds text. */
const PLACES: Readonly<Record<string, (text: string) => string>> = {
  'a paragraph': (text) => `<p>${text}</p>`,
  code: (text) => `<p><code>${text}</code></p>`,
  'preformatted text': (text) => `<pre>${text}</pre>`,
  'lines of code': (text) => `<pre><code class="language-js">${text}</code></pre>`,
  'a heading': (text) => `<h1>${text}</h1><p>Text.</p>`,
  'a cell': (text) => `<table><tr><th>Name<td>${text}<tr><td>2<td>3</table>`,
  'a list item': (text) => `<ul><li>${text}<li>b</ul>`,
  'a link': (text) => `<p><a href="/x">${text}</a></p>`,
  'an address of a link': (text) => `<p><a href="${text}">a link</a></p>`,
  'a query of a link': (text) => `<p><a href="/s?${text}">a link</a></p>`,
  'an image': (text) => `<p><img src="/a.png" alt="${text}" srcset="${text}"></p>`,
  'an address of an image': (text) => `<p><img src="${text}"></p>`,
  'the title': (text) => `<title>${text}</title><h1>A</h1><p>Text.</p>`,
  'the description': (text) => `<meta name=description content="${text}"><meta property=og:title content="${text}">`,
  'an author': (text) => `<meta name=author content="${text}"><p class=byline>${text}</p>`,
  'a date': (text) => `<meta property=article:published_time content="${text}"><time datetime="${text}">x</time>`,
  'a charset': (text) => `<meta charset="${text}"><meta http-equiv=content-type content="text/html; charset=${text}">`,
  'a base': (text) => `<base href="${text}"><p><a href=x>y</a></p>`,
  'JSON-LD': (text) => `<script type="application/ld+json">{"@type":"Article","name":${JSON.stringify(text)}}</script>`,
  'bad JSON-LD': (text) => `<script type="application/ld+json">${text}</script>`,
  'data of an application': (text) => `<script id=__NEXT_DATA__ type=application/json>{"a":"${text}"}</script>`,
  'a class': (text) => `<div class="${text}"><p id="${text}">Text of it.</p></div>`,
  'a style': (text) => `<div style="${text}"><p>Text of it.</p></div>`,
  'a comment': (text) => `<!--${text}--><p>Text.</p>`,
  'a tag': (text) => `<p ${text}>Text.</p>`,
  'an attribute without quotes': (text) => `<a href=${text}>Text.</a>`,
  'a script': (text) => `<script>${text}</script><p>Text.</p>`,
  'a style sheet': (text) => `<style>${text}</style><p>Text.</p>`,
  'rules that hide': (text) => `<style>.a{${text}}${text}{display:none}</style><p class="a ${text}">Text.</p>`,
  'a superscript': (text) => `<p>Text<sup>${text}</sup><sub>${text}</sub>.</p>`,
  MathML: (text) => `<p><math><mrow><mi>${text}</mi><mo>${text}</mo><mtext>${text}</mtext></mrow></math></p>`,
  'a text field': (text) => `<textarea>${text}</textarea><p>Text.</p>`,
  'a quote': (text) => `<blockquote>${text}</blockquote>`,
  'a term': (text) => `<dl><dt>${text}<dd>${text}</dl>`,
  'a formula': (text) => `<math><annotation encoding="application/x-tex">${text}</annotation></math>`,
  microdata: (text) => `<div itemscope itemtype="https://schema.org/${text}"><i itemprop="${text}">x</i></div>`,
  'the robots of a page': (text) => `<meta name=robots content="${text}"><a rel="${text}" href=/x>y</a>`,
  nothing: (text) => text,
};

const PATTERNS: Readonly<Record<string, (element: string) => (length: number) => string>> = {
  nested: (element) => (length) => repeated(`<${element}>`, length),
  'nested with text': (element) => (length) => repeated(`<${element}>x `, length),
  'nested and closed': (element) => (length) =>
    repeated(`<${element}>`, length / 2) + repeated(`</${element}>`, length / 2),
  'one after another': (element) => (length) => repeated(`<${element}>Some text, here.</${element}>\n`, length),
  'only closed': (element) => (length) => `<div>${repeated(`</${element}>`, length)}`,
};

/** Pages whose parts work on each other. */
const MIXED: Readonly<Record<string, (length: number) => string>> = {
  'quotes that hold many paragraphs': (n) => repeated('<blockquote>', Math.min(n / 4, 6_000)) + repeated('<p>x', n / 2),
  'lists that hold many items': (n) => repeated('<ul><li>', Math.min(n / 4, 6_000)) + repeated('<li>x', n / 2),
  'definitions that hold many terms': (n) => repeated('<dl><dd>', Math.min(n / 4, 6_000)) + repeated('<dt>x', n / 2),
  'tables in tables': (n) => repeated('<table><tr><td>', n),
  'lists in cells': (n) => repeated('<table><tr><td><ul><li>', n),
  'cells that span columns': (n) => `<table>${repeated('<tr><td colspan=1000 rowspan=1000>x', n)}`,
  'one wide row and many narrow ones': (n) => `<table><tr>${'<td>x'.repeat(200)}${repeated('<tr><td>x', n)}</table>`,
  'one row of cells': (n) => `<table><tr>${repeated('<td>x', n)}</table>`,
  'one column of cells': (n) => `<table>${repeated('<tr><td>x', n)}</table>`,
  'attributes that repeat': (n) => `<a ${repeated('a=b ', n)} href=x>y</a>`,
  'distinct attributes': (n) => `<a ${listed((i) => `a${i}=b `, n)} href=x>y</a>`,
  'distinct elements': (n) => listed((i) => `<e${i}>x`, n),
  'distinct classes': (n) => listed((i) => `<p class="c${i} d${i}">Text ${i}.</p>`, n),
  'formatting that overlaps': (n) => repeated('<b><i><a href=x></b>', n),
  'formatting in paragraphs': (n) => repeated('<p><b><i><u>', n),
  'anchors in anchors': (n) => repeated('<a href=x><div>', n),
  'spans of lines in code': (n) => `<pre>${repeated('<span class=line>x</span>\n', n)}</pre>`,
  'line breaks': (n) => `<p>${repeated('<br>', n)}</p>`,
  'line breaks and text': (n) => `<p>${repeated('x<br>', n)}</p>`,
  'links one after another': (n) => listed((i) => `<a href="/p${i}">Link ${i}</a> `, n),
  'links to one page': (n) => repeated('<a href="/p">Link</a> ', n),
  'links with long addresses': (n) => repeated(`<a href="/${'p'.repeat(1_000)}">Link</a> `, n),
  'a long base and short links': (n) =>
    `<base href="/${'b'.repeat(Math.min(n / 2, 2_000))}/">${repeated('<a href=y>z</a>', n / 2)}`,
  'images one after another': (n) => listed((i) => `<img src="/i${i}.png" alt="Image ${i}">`, n),
  'metadata one after another': (n) => listed((i) => `<meta name="m${i}" content="c${i}">`, n),
  'properties one after another': (n) => listed((i) => `<meta property="og:p${i}" content="c${i}">`, n),
  'blocks of JSON-LD': (n) => repeated('<script type="application/ld+json">{"@type":"Thing","name":"x"}</script>', n),
  'JSON-LD that nests lists': (n) =>
    `<script type="application/ld+json">${repeated('[', n / 2)}${repeated(']', n / 2)}</script>`,
  'JSON-LD that nests objects': (n) =>
    `<script type="application/ld+json">${repeated('{"a":', n / 2)}1${repeated('}', n / 10)}</script>`,
  'JSON-LD of many things': (n) =>
    `<script type="application/ld+json">[${listed((i) => `{"@type":"Person","name":"n${i}"},`, n)}1]</script>`,
  'JSON-LD with a long text of tags': (n) =>
    `<script type="application/ld+json">{"@type":"Article","articleBody":"${repeated('<p>x', n)}"}</script>`,
  'items of microdata in items': (n) => repeated('<div itemscope itemprop=a>', n),
  'items of microdata with properties': (n) => `<div itemscope>${repeated('<i itemprop=a>x</i>', n)}</div>`,
  'items that nest and match': (n) => repeated('<div class=item><p class=name>x', n),
  'headings one after another': (n) => listed((i) => `<h${(i % 6) + 1}>H ${i}</h${(i % 6) + 1}><p>x</p>`, n),
  'comments of a thread': (n) =>
    listed((i) => `<div class=comment id=c${i}><b class=author>u${i}</b> <p>Said ${i}, too.</p></div>`, n),
  'threads that nest': (n) => repeated('<div class=comment><b class=author>u</b><p>x</p>', n),
  'posts that differ': (n) => listed((i) => `<article class="post p${i}"><h2>T${i}</h2><p>Text ${i}.</p></article>`, n),
  'paragraphs that repeat': (n) => repeated('<p>The same words, here and there.</p>', n),
  'short words in blocks': (n) => repeated('<div>a b c d e f g h</div>', n),
  'parts that are streamed': (n) =>
    listed(
      (i) => `<template id="B:${i}"></template><div hidden id="S:${i}">x</div><script>$RC("B:${i}","S:${i}")</script>`,
      n,
    ),
  'hidden parts': (n) => repeated('<div hidden>x<div style="display:none">y</div></div>', n),
  'blocks of a sheet in blocks': (n) =>
    `<style>${repeated('@media (x){@supports (y){.a{display:none}', n / 2)}${repeated('}}.a{color:red}', n / 2)}</style><p class=a>x`,
  'blocks of a sheet that never end': (n) => `<style>${repeated('@media{', n)}p{display:none}</style><p>x`,
  'long rules for many elements': (n) =>
    `<style>${`.c{display:none;${repeated('left:1px;', Math.min(n / 64, 3_900))}}`.repeat(32)}</style>${listed((i) => `<p id=i${i} class=c>x`, n / 2)}`,
  'many rules for many elements': (n) =>
    `<style>${listed((i) => `.c${i % 24}{display:none;left:${i}px}`, n / 2)}</style>` +
    listed((i) => `<p class="c${i % 24} c${(i >> 2) % 24} c${(i >> 4) % 24} c${(i >> 6) % 24}">x`, n / 2),
  'drawings around a formula of nothing': (n) =>
    `${'<span class=katex>'.repeat(400)}<math>${repeated('<mrow></mrow>', n)}</math>`,
  'drawings around no formula': (n) => `${'<span class=katex>'.repeat(400)}${repeated('<i></i>', n)}`,
  'drawings around a long script': (n) =>
    `${'<span class=katex>'.repeat(400)}<script type="math/tex">${repeated('x ', n)}</script>`,
  'scripts over blanks of a formula': (n) => `<math>${'<msup>'.repeat(190)}${repeated('<mspace>', n)}`,
  'links that screen readers skip': (n) =>
    repeated('<p><a href=/x aria-hidden=true>x</a><a style="text-indent:-999px" title=y>y</a>', n),
  'lists of links': (n) => repeated('<li><a href=/x>Home page</a>', n),
  'options one after another': (n) => `<select>${repeated('<option>x', n)}</select>`,
  'foreign elements and their ends': (n) => `<svg>${repeated('<g>', n / 2)}${repeated('</x>', n / 2)}`,
  'walls of foreign elements': (n) => `<svg><g><foreignObject><svg>${repeated('<x>', n / 2)}${repeated('</g>', n / 2)}`,
  'text outside of cells': (n) => `<table>${repeated('x<tr>', n)}</table>`,
  'properties that hold each other': (n) =>
    `<div itemscope>${repeated('<div itemprop=a>', Math.min(n / 2, 8_000))}${repeated('word ', n / 2)}`,
  'a long title and a heading that is almost there': (n) =>
    `<title>${repeated('a', n / 2)}</title><h1>${repeated('a', n / 8)}b${repeated('a', n / 8)}</h1><p>x</p>`,
  'a description and a title that is almost there': (n) =>
    `<meta name=description content="${repeated('a', n / 2)}"><meta property=og:title content="${repeated('a', n / 8)}b${repeated('a', n / 8)}">`,
  'a page of long attributes of JSON': (n) => `<div ${listed((i) => `data-${i}='${'[1,'.repeat(200)}' `, n)}></div>`,
  declarations: (n) => repeated('<!doctype html><?php x ?><!-- a comment --><!--->', n),
  'posts by many people': (n) =>
    `<main>${listed((i) => `<div class="post" id="post-${i}"><div class="post-head"><a class="author" href="/u/${i}">user${i}</a> <time>2 hours ago</time></div><div class="post-body"><p>This is what I think of number ${i}, and why.</p></div></div>`, n)}</main>`,
  'an article and its comments': (n) =>
    `<article><h1>Orcas</h1>${repeated('<p>Orcas hunt in pods, as every sailor here will tell you, and most often in the spring.</p>', n)}` +
    `</article><section id=comments class=comments><h2>Comments</h2>${'<div class=comment><span class=comment-author>user</span><p>I saw some of them, off the coast.</p></div>'.repeat(3)}</section>`,
  'a tree of two': (n) => binary('div', n),
  'a tree of lists': (n) => binary('ul', n),
};

function binary(element: string, length: number): string {
  if (length < 20) return `<${element}>x</${element}>`;
  const half = binary(element, length / 2 - 6);
  return `<${element}>${half}${half}</${element}>`;
}

const PIECES = [
  ...ELEMENTS.flatMap((name) => [`<${name}>`, `</${name}>`]),
  '<a href=/x>',
  '<p class="a b">',
  '<td colspan=3>',
  '<div hidden>',
  '<li value=9>',
  'text ',
  ' ',
  '\n',
  '&amp;',
  '&#',
  '<',
  '>',
  '"',
  '`',
  '|',
  '\\',
  '[',
  ']',
  '(',
  '*',
  '#',
  '<!--',
  '-->',
];

/** Pages of a few pieces in any order, repeated; always the same. */
const CHANCE_PAGES = 120;
const chance = fc
  .sample(fc.array(fc.constantFrom(...PIECES), { minLength: 2, maxLength: 8 }), { seed: 18, numRuns: CHANCE_PAGES })
  .map((pieces, index): HostileText => {
    const unit = pieces.join('');
    return { name: `pieces by chance ${index}: ${unit}`, make: (length) => repeated(unit, length) };
  });

const named = (parts: Readonly<Record<string, (length: number) => string>>): HostileText[] =>
  Object.entries(parts).map(([name, make]) => ({ name, make }));

export const MIXED_PAGES: readonly HostileText[] = named(MIXED);

/** Pages of one kind of trouble each. */
export const PLAIN_PAGES: readonly HostileText[] = [
  ...ELEMENTS.flatMap((element) =>
    Object.entries(PATTERNS).map(([how, make]) => ({ name: `<${element}> ${how}`, make: make(element) })),
  ),
  ...MIXED_PAGES,
  ...chance,
];

/** Every hostile text in every place. */
export const FILLED_PAGES: readonly HostileText[] = Object.entries(PLACES).flatMap(([place, fill]) =>
  TEXTS.map(({ name, make }) => ({ name: `${name} in ${place}`, make: (length: number) => fill(make(length)) })),
);

export const PAGES: readonly HostileText[] = [...PLAIN_PAGES, ...FILLED_PAGES];
