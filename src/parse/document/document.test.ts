// The document of a page: what htmlparser2 makes of the same markup, but where the HTML standard says otherwise.
import fc from 'fast-check';
import { parseDocument } from 'htmlparser2';
import { beforeAll, describe, expect, it } from 'vitest';
import { readDocument, MAX_ROOTS } from './document.js';
import { MAX_NESTING } from './rows.js';

interface AnyNode {
  type: string;
  name?: string;
  data?: string;
  attribs?: Record<string, string>;
  children?: AnyNode[];
  parent: AnyNode | null;
  prev: AnyNode | null;
  next: AnyNode | null;
}

/** A node and all it holds, as lines. */
function lines(root: AnyNode): string[] {
  const out: string[] = [];
  for (const node of root.children!) {
    if (node.name === undefined || node.data !== undefined) {
      out.push(`${node.type} ${JSON.stringify(node.data)}`);
      continue;
    }
    out.push(`<${node.name} ${JSON.stringify(node.attribs)} ${node.type}`);
    out.push(...lines(node), `/${node.name}`);
  }
  return out;
}

const ours = (html: string): AnyNode => readDocument(Buffer.from(html)) as unknown as AnyNode;
const theirs = (html: string): AnyNode => parseDocument(html) as unknown as AnyNode;

/** Every node, checking that its pointers fit together. */
function* nodesOf(root: AnyNode): Generator<AnyNode> {
  const open = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    yield node;
    let prev: AnyNode | null = null;
    for (const child of node.children ?? []) {
      if (child.parent !== node || child.prev !== prev || (prev !== null && prev.next !== child)) {
        throw new Error('pointers do not fit together');
      }
      prev = child;
      open.push(child);
    }
    if (prev !== null && prev.next !== null) throw new Error('the last child has a next one');
  }
}

describe('readDocument', () => {
  it.each([
    '',
    'text',
    '<!DOCTYPE html><html><head><title>A &amp; B</title></head><body class=x>c</body></html>',
    '<p>a<p>b<div>c</p>d</div>',
    '<ul><li>1<li>2<ul><li>3</ul><li>4</ul>',
    '<table><tr><td>1<td>2<tr><th>3</table><td>stray',
    '<select><option>1<option>2<optgroup label=g><option>3</select>',
    '<dl><dt>a<dd>b<dt>c</dl><h1>x<h2>y</h2>',
    '<a href=1>x<a href=2>y</a>',
    '<b><i>x</b>y</i>z',
    'a</nothing>b</img>c</br>d</p>e',
    '<form id=1><form id=2>x</form>y</form>z',
    '<img src=a><image src=b>c<input disabled><br/>d',
    '<div/>inside<span />too',
    '<svg viewBox="0 0 1 1"><g><path d=M0/><linearGradient id=a /><foreignObject><p>h</foreignObject></svg>after',
    '<svg><image href=x></image><style>a<b></style><![CDATA[a<b]]></svg><math><mi>x</mi><mo/></math>',
    '<script>if (a<b && c) "</div>"</script><style>p>a{}</style><textarea><b>&lt;</textarea>',
    '<iframe><p>x</iframe><noscript><p>y</noscript><xmp><b></xmp><noframes><i></noframes><noembed><u></noembed>',
    '<plaintext><b>x</plaintext>',
    '<!-- c --><!----><!--><!---><!--x--!><!--y-- z--><!-- cut',
    '<?xml version="1.0"?><!element x></ bogus><!></>x',
    '&eacute;&nbsp;&copy &notit; &#x41;&#0;<a title="&amp;&copy=1&lt">',
    '<a A=1 a=2 b = "x y" c=\'z\' d=e/f g>x',
    '<x-Custom Some-Attr=1><Y:z></y:Z></X-CUSTOM>',
    '<datalist><option>1</datalist><isindex>x<button>a<button>b',
    '< a <<b>c</b> a < b > c & d &',
    '<p title="a>b">c</p title="d>e">',
    '<div attr',
    '<constructor __proto__=1 constructor=2 toString=3>',
  ])('gives for %j what htmlparser2 gives', (html) => {
    // An end tag with attributes and the attribute of that name are the standard's way.
    const expected = lines(theirs(html.replace(' title="d>e"', '').replace(' __proto__=1', '')));
    const found = lines(ours(html)).map((line) => line.replace('"__proto__":"1",', ''));
    expect(found).toEqual(expected);
  });

  it('follows the standard where htmlparser2 does not', () => {
    // Line ends and NULs.
    expect(lines(ours('a\r\nb\rc<i t="\r\n">'))).toEqual(['text "a\\nb\\nc"', '<i {"t":"\\n"} tag', '/i']);
    expect(lines(ours('<script>a\r\nb</script>'))[1]).toBe('text "a\\nb"');
    // A script that is hidden in a comment inside a script.
    expect(lines(ours('<script><!--<script></script>--></script>x'))).toEqual([
      '<script {} script',
      'text "<!--<script></script>-->"',
      '/script',
      'text "x"',
    ]);
    // CDATA outside SVG and MathML is a comment up to the next `>`.
    expect(lines(ours('<![CDATA[<b>x</b>]]>'))).toEqual(['comment "[CDATA[<b"', 'text "x]]>"']);
    // Self-closing elements of SVG hold nothing, whatever they are.
    expect(lines(ours('<svg><desc/><g/></svg>'))).toEqual([
      '<svg {} tag',
      '<desc {} tag',
      '/desc',
      '<g {} tag',
      '/g',
      '/svg',
    ]);
  });

  it('keeps what is set', () => {
    const [text, element, comment] = ours('a<b c=d>e</b><!--f-->').children!;
    element!.attribs = { x: 'y' };
    text!.data = 'z';
    comment!.data = 'w';
    expect([text!.data, element!.attribs, comment!.data]).toEqual(['z', { x: 'y' }, 'w']);
    const again = ours('<b c=d>').children![0]!;
    again.attribs!['c'] = 'e';
    expect(again.attribs).toEqual({ c: 'e' });
  });

  it('makes siblings of what is nested deeper than browsers nest, and loses nothing', () => {
    const html = `${'<div>'.repeat(100_000)}<a href=last>x</a>${'</div>'.repeat(100_000)}<p>after`;
    const document = ours(html);
    let depth = 0;
    for (let node = document; node.children?.[0]; node = node.children[0]) depth++;
    expect(depth).toBe(MAX_NESTING);
    let elements = 0;
    let link: AnyNode | undefined;
    for (const node of nodesOf(document)) {
      if (node.type === 'tag') elements++;
      if (node.name === 'a') link = node;
    }
    expect(elements).toBe(100_002);
    expect(link!.attribs).toEqual({ href: 'last' });
    expect(document.children!.map(({ name }) => name)).toEqual(['div', 'p']);
  });

  it('gives elements without a common parent one when they are very many', () => {
    expect(ours('<p>x</p>'.repeat(MAX_ROOTS)).children).toHaveLength(MAX_ROOTS);
    const document = ours('<p>x</p>'.repeat(MAX_ROOTS + 1));
    expect(document.children!.map(({ name }) => name)).toEqual(['html']);
    expect([...nodesOf(document)]).toHaveLength(2 * MAX_ROOTS + 4);
  });

  it('reads any bytes into nodes whose pointers fit together', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc
        .array(
          fc.constantFrom(
            ...'<>/="\' !-?&;[]abp\n\0'.split(''),
            '<p',
            '<svg>',
            '</',
            '<!--',
            '-->',
            '<li>',
            '&amp',
            '<script>',
            'é',
          ),
        )
        .map((parts) => Buffer.from(parts.join(''))),
    );
    fc.assert(
      fc.property(bytes, (input) => {
        const text = Buffer.from(Buffer.from(input).toString('utf8'));
        for (const node of nodesOf(readDocument(text) as unknown as AnyNode)) {
          void node.attribs;
          const data = node.data ?? '';
          // Half a surrogate pair would not survive.
          expect(Buffer.from(data).toString()).toBe(data);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('gives the tree of htmlparser2 for any order of tags', () => {
    const names = 'p div a li ul td tr table b option select h1 h2 form svg g span br'.split(' ');
    const tag = fc
      .tuple(fc.constantFrom(...names), fc.constantFrom('<', '</'))
      .map(([name, open]) => `${open}${name}>`);
    fc.assert(
      fc.property(fc.array(fc.oneof(tag, fc.constantFrom('x', ' ', '<!--c-->')), { maxLength: 40 }), (parts) => {
        const html = parts.join('');
        expect(lines(ours(html))).toEqual(lines(theirs(html)));
      }),
      { numRuns: 300 },
    );
  });
});

describe('readDocument on hostile pages', () => {
  /** CPU time of the faster of two readings, with all attributes and text read. */
  function costMs(html: Buffer): number {
    const costs = [0, 0].map(() => {
      const before = process.cpuUsage();
      for (const node of nodesOf(readDocument(html) as unknown as AnyNode)) void [node.attribs, node.data];
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    });
    return Math.min(...costs);
  }

  const repeated: Record<string, (count: number) => string> = {
    'nested elements': (count) => '<div>'.repeat(count),
    'nested elements that end': (count) => '<i><b>'.repeat(count) + '</i></b>'.repeat(count),
    'end tags without a start': (count) => '<b>' + '</i>x'.repeat(count),
    'names that are all different': (count) => Array.from({ length: count }, (_, k) => `<x${k}>`).join(''),
    'names with one hash': (count) =>
      Array.from(
        { length: count },
        (_, k) => `<z${k.toString(2).padStart(20, '0').replaceAll('0', 'bA').replaceAll('1', 'ab')}>`,
      ).join(''),
    'attributes of one tag': (count) => `<a ${Array.from({ length: count }, (_, k) => `b${k}=c`).join(' ')}>`,
    'comments that never end': (count) => '<!--'.repeat(count),
    'pieces of text': (count) => 'a</i>&amp;'.repeat(count),
    'drawings in drawings': (count) => '<svg><title>'.repeat(count),
  };
  beforeAll(
    () =>
      void costMs(
        Buffer.from(
          Object.values(repeated)
            .map((make) => make(1_000))
            .join('\n'),
        ),
      ),
  );

  it.each(Object.keys(repeated))('takes time linear in %s', (name) => {
    const few = costMs(Buffer.from(repeated[name]!(2_000)));
    const many = costMs(Buffer.from(repeated[name]!(20_000)));
    // Ten times the page: quadratic time would be a hundred times as long.
    expect(many).toBeLessThan(40 * Math.max(few, 5));
  });
});
