import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ELEMENTS, RAW, TEXT } from '../../extract/page/elements.js';
import type { PageTree } from './tree.js';
import { createTreeReader } from './reader.js';

const read = createTreeReader(ELEMENTS);
const parse = (html: string): PageTree => read(Buffer.from(html), 'text/html; charset=utf-8');

/** The tree as nested lists of names, texts in quotes. */
function shape(tree: PageTree, node = 0): string {
  const parts: string[] = [];
  for (let child = tree.firstChild(node); child >= 0; child = tree.nextSibling(child)) {
    if (tree.tag[child] === TEXT) parts.push(JSON.stringify(tree.decode(tree.from[child]!, tree.to[child]!)));
    else if (tree.tag[child] === RAW) parts.push(`raw ${JSON.stringify(tree.raw(tree.from[child]!, tree.to[child]!))}`);
    else parts.push(`${tree.name(child)}(${shape(tree, child)})`);
  }
  return parts.join(' ');
}

describe('the compact tree', () => {
  it('ends paragraphs, items, terms, rows and options as a browser does', () => {
    expect(shape(parse('<p>a<p>b<div>c</div>'))).toBe('p("a") p("b") div("c")');
    expect(shape(parse('<ul><li>a<ul><li>b</ul><li>c</ul>'))).toBe('ul(li("a" ul(li("b"))) li("c"))');
    expect(shape(parse('<dl><dt>a<dd>b<dt>c</dl>'))).toBe('dl(dt("a") dd("b") dt("c"))');
    expect(shape(parse('<table><tr><td>a<td>b<tr><th>c</table>'))).toBe('table(tr(td("a") td("b")) tr(th("c")))');
    expect(shape(parse('<select><option>a<option>b</select>'))).toBe('select(option("a") option("b"))');
  });

  it('leaves the head at the first element of the body', () => {
    expect(shape(parse('<html><head><title>t</title><p>x'))).toBe('html(head(title("t")) p("x"))');
  });

  it('keeps blocks whole when an inline element is closed too early', () => {
    expect(shape(parse('<div><b><p>a</b>b</p>c</div>d'))).toBe('div(b(p("a" "b")) "c") "d"');
  });

  it('ends a link at the next one', () => {
    expect(shape(parse('<a href=1>x<a href=2>y</a>'))).toBe('a("x") a("y")');
  });

  it('does not close what lies outside a table cell', () => {
    expect(shape(parse('<div><table><tr><td>a</div>b</table>c</div>'))).toBe('div(table(tr(td("a" "b"))) "c")');
  });

  it('keeps scripts raw, titles escapable, and drawings empty', () => {
    expect(shape(parse('<script>a<b>&amp;</script><title>x &amp; <b></title><svg><text>no</text></svg>y'))).toBe(
      'script(raw "a<b>&amp;") title("x & <b>") svg() "y"',
    );
  });

  it('keeps formulas and leaves foreign content at an HTML tag', () => {
    expect(shape(parse('<math><mi>x</mi></math><svg><g><p>a'))).toBe('math(mi("x")) svg() p("a")');
  });

  it('notes white space between elements instead of keeping it, except in pre', () => {
    const tree = parse('<p><b>a</b> <i>b</i></p><pre> <b>c</b>\n</pre>');
    expect(shape(tree)).toBe('p(b("a") i("b")) pre(" " b("c") "\\n")');
    expect([...tree.flags].filter((flag) => flag === 1)).toHaveLength(1);
  });

  it('reads attributes when asked, the first of equal ones, references resolved', () => {
    const tree = parse('<a HREF="/?a=1&amp;b=2" href=no title>x</a>');
    expect(tree.attribute(1, 'href')).toBe('/?a=1&b=2');
    expect(tree.attribute(1, 'title')).toBe('');
    expect(tree.attribute(1, 'rel')).toBeNull();
  });

  it('bounds depth and nodes', () => {
    const deep = parse('<b>'.repeat(5_000) + 'x');
    expect(deep.truncated).toBe(true);
    expect(deep.count).toBe(5_002);
    const wide = parse('<br>'.repeat(1_100_000));
    expect(wide.truncated).toBe(true);
    expect(wide.count).toBe(1_000_000);
  });

  it('gives a well-formed tree for any markup', () => {
    const piece = fc.constantFrom(
      ...'<p> </p> <b> </b> <a href=x> </a> <table> <tr> <td> </td> </table> <ul> <li> </ul> <svg> </svg> <math> <mi> <template>'.split(
        ' ',
      ),
      '<script>',
      '</script>',
      '<pre>',
      '</pre>',
      '<select>',
      '<option>',
      '<!--',
      '-->',
      '<x-y>',
      '</x-y>',
      'text',
      ' ',
      '&amp;',
      '<form>',
      '</form>',
      '<body>',
      '<head>',
      '</div>',
      '<div>',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const tree = parse(pieces.join(''));
        for (let node = 1; node < tree.count; node++) {
          const parent = tree.parent[node]!;
          expect(parent).toBeLessThan(node);
          expect(tree.end[node]!).toBeGreaterThan(node);
          expect(tree.end[node]!).toBeLessThanOrEqual(tree.end[parent]!);
        }
      }),
      { numRuns: 300 },
    );
  });
});
