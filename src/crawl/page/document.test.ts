// `$` on the document made of a page's bytes: everything cheerio does must do the same there as on its own nodes.
import { createRequire } from 'node:module';
import type { CheerioAPI } from 'cheerio';
import type * as CheerioSlim from 'cheerio/slim';
import { describe, expect, it } from 'vitest';
import { MAX_NESTING } from '../../parse/document/rows.js';
import { documentOf } from './document.js';

// The build that the product loads: the other one has classes of its own.
const { load } = createRequire(import.meta.url)('cheerio/slim') as typeof CheerioSlim;

const HTML = `<!DOCTYPE html><html lang="en"><head><title>A &amp; B</title><meta name=robots content=all></head>
<body class="page wide"><!-- note --><div id=main data-a='1 "2"'>
  <p class=lead>First <b>bold</b> &eacute;t&eacute;</p><p>Second <a href="/x?a=1&amp;b=2" rel=nofollow>link</a></p>
  <ul><li>1<li class=on>2<li>3</ul><img src=i.png alt=""><br>
  <form action=/s><input name=q value=v><select name=s><option value=1 selected>one<option value=2>two</select></form>
</div><script>if (a<b) go("&amp;")</script><noscript><a href=/n>n</a></noscript></body></html>`;

const own = (html = HTML): CheerioAPI => documentOf(Buffer.from(html));
const cheerios = (html = HTML): CheerioAPI =>
  load(html, { xml: { xmlMode: false, decodeEntities: true } }) as CheerioAPI;

const texts = ($: CheerioAPI, selector: string) =>
  $(selector)
    .toArray()
    .map((node) => $(node).text());

const READS: Record<string, ($: CheerioAPI) => unknown> = {
  'the whole as HTML': ($) => $.html(),
  'the whole as XML': ($) => $.xml(),
  'the root': ($) => [$.root().children().length, $.root().contents().length, $.root()[0]!.type],
  'text of everything': ($) => [$.text(), $('body').text(), $('p').text(), $('script').text(), $.root().text()],
  attributes: ($) => [$('a').attr(), $('#main').data(), $('body').attr('class'), $('a').attr('nothing')],
  selectors: ($) => [
    texts($, 'li.on, p.lead > b'),
    texts($, 'p:has(a)'),
    texts($, 'li:nth-child(2)'),
    texts($, 'ul > :not(.on)'),
    texts($, '[href*="x?"]'),
    texts($, 'li:first, li:eq(2)'),
    texts($, 'p:contains("Second")'),
    $('*').length,
  ],
  walking: ($) => [
    $('b').closest('div').attr('id'),
    $('li.on').prevAll().length + $('li.on').nextAll().length,
    $('a')
      .parents()
      .toArray()
      .map((node) => node.name),
    $('li').last().prev().text(),
    $('#main').contents().length,
    $('ul').siblings().length,
    $('li').index($('.on')),
    $('p').first().nextUntil('img').length,
  ],
  forms: ($) => [$('form').serialize(), $('select').val(), $('form').serializeArray(), $('input').prop('name')],
  properties: ($) => [
    $('a').prop('tagName'),
    $('p').prop('outerHTML'),
    $('p').prop('innerText'),
    $('p').prop('textContent'),
    $('b')[0]!.nodeType,
    ($('b')[0]!.firstChild as unknown as { nodeValue: string }).nodeValue,
    $('a')[0]!.attributes,
  ],
  extraction: ($) => $.extract({ title: 'title', links: [{ selector: 'a', value: 'href' }] }),
  containment: ($) => $.contains($('div')[0]!, $('b')[0]!),
  'wrapped nodes': ($) => [$($('p')[0]!).text(), $([...$('li')]).length, $('p', '#main').length, $('b', $('p')).length],
};

const CHANGES: Record<string, ($: CheerioAPI) => unknown> = {
  'html(markup)': ($) => $('p').html('<i>x</i>&amp;y'),
  'text(text)': ($) => $('li').text('a < b'),
  'text(function)': ($) => $('li').text((index, text) => `${index}${text}`),
  'append, prepend, before, after': ($) =>
    $('ul')
      .append('<li>4')
      .prepend($('.on'))
      .before('<hr>')
      .after(() => 'x'),
  'attr, removeAttr, addClass, data, css': ($) =>
    $('a').attr('href', '/y').removeAttr('rel').addClass('z').data('k', 1).css('color', 'red'),
  'remove and empty': ($) => [$('form').remove(), $('ul').empty()],
  'wrap, unwrap, replaceWith': ($) => [$('b').wrap('<i class=w></i>'), $('a').unwrap(), $('img').replaceWith('<u>')],
  clone: ($) => $('#main').clone().appendTo('body'),
  'val and prop': ($) => [$('input').val('w'), $('option').prop('selected', true)],
  'new elements': ($) => $('<div class=new><p>x</div>').insertAfter('script'),
  'moving comments and text': ($) => $('body').contents().slice(0, 2).appendTo('ul'),
  'direct changes of nodes': ($) => {
    $('p')[0]!.attribs = { a: 'b' };
    ($('b')[0]!.firstChild as unknown as { data: string }).data = 'changed';
    $('li')[0]!.name = 'dd';
  },
};

describe('$ of a page', () => {
  it.each(Object.keys(READS))('reads as cheerio on its own nodes does: %s', (name) => {
    expect(READS[name]!(own())).toEqual(READS[name]!(cheerios()));
  });

  it.each(Object.keys(CHANGES))('is changed as cheerio changes its own nodes: %s', (name) => {
    const [$, expected] = [own(), cheerios()];
    CHANGES[name]!($);
    CHANGES[name]!(expected);
    expect($.html()).toBe(expected.html());
    expect($('body').text()).toBe(expected('body').text());
    expect($('*').length).toBe(expected('*').length);
  });

  it('has nodes that are instances of the classes of cheerio’s own', () => {
    const some = ($: CheerioAPI) => [
      ...$.root(),
      ...$.root().contents(),
      ...$('body').contents(),
      $('title')[0]!.firstChild!,
    ];
    const classes = some(cheerios()).map((node) => node.constructor as new () => object);
    expect(new Set(classes).size).toBe(5);
    expect(some(own()).map((node, k) => node instanceof classes[k]!)).toEqual(classes.map(() => true));
  });

  it('bears a page that is nested out of all measure', () => {
    const $ = own(`${'<div>'.repeat(100_000)}deep<a href=x>${'</div>'.repeat(100_000)}`);
    expect($('*').length).toBe(100_001);
    expect($.root().text()).toBe('deep');
    expect($.html().length).toBeGreaterThan(1_000_000);
    expect($('a').parents().length).toBe(MAX_NESTING - 1);
    expect($('a').attr('href')).toBe('x');
  });

  it('does not share its methods with other pages', () => {
    const $ = own();
    ($.fn as unknown as { shout: () => string }).shout = () => 'hey';
    expect('shout' in own().fn).toBe(false);
  });
});
