// The cheerio document of a page: what cheerio itself would give, but for pages nested out of all measure.
import { load } from 'cheerio/slim';
import { describe, expect, it } from 'vitest';
import { loadDocument, MAX_NESTING, MAX_ROOTS } from './document.js';

describe('loadDocument', () => {
  it.each([
    '<!doctype html><title>A &amp; B</title><p>a<p>b<ul><li>1<li>2</ul><table><tr><td>x<td>y</table>',
    '<script>if (a<b) "</div>"</script><style>p>a{}</style><!-- c --><br/><img src=a>&eacute;&nbsp;<b><i>x</b></i>',
    '</p></div>text<a href="x" HREF=y disabled>z',
    '',
    '<unclosed <<< &amp',
  ])('gives for %j what cheerio gives', (html) => {
    expect(loadDocument(html).html()).toBe(load(html, { xml: { xmlMode: false, decodeEntities: true } }).html());
  });

  it('reads XML as XML', () => {
    const $ = loadDocument('<?xml version="1.0"?><Feed><Item/><link>x</link><![CDATA[a<b]]></Feed>', true);
    expect($('Item')).toHaveLength(1);
    expect($('link').text()).toBe('x');
    expect($('item')).toHaveLength(0);
  });

  it('ends a page that is nested deeper than any real one, and keeps what came before', () => {
    const $ = loadDocument(`<a href="first">x</a>${'<div>'.repeat(500_000)}<a href="last">y</a>`);
    expect(
      $('a')
        .toArray()
        .map((element) => $(element).attr('href')),
    ).toEqual(['first']);
    expect($('div').length).toBe(MAX_NESTING);
    expect($.root().text()).toBe('x');
  });

  it('gives elements without a common parent one when they are very many', () => {
    const $ = loadDocument('<p>x</p>'.repeat(50_000));
    expect($('p').length).toBe(50_000);
    expect($.root().children().toArray()).toHaveLength(1);
    expect($('html > p').last().text()).toBe('x');
    expect(loadDocument('<p>x</p>'.repeat(MAX_ROOTS)).root().children().length).toBe(MAX_ROOTS);
  });

  it('does not mind any number of elements that imply the end of the one before', () => {
    expect(loadDocument(`<ul>${'<li>x'.repeat(20_000)}`)('li').length).toBe(20_000);
  });
});
