// A page with a bit of everything. Scanned before the first real one, it shows V8 the rare paths too: code that was
// optimised without having seen one is thrown away when it comes, and the large functions of the scanner were compiled
// up to seven times in a crawl. It also keeps an object of each kind alive (scan.ts).
const HREFS = [
  '/x',
  'y.html',
  'a/b?c=d&amp;e=f#g',
  '?q=1&r=2',
  '#top',
  '',
  ' /space ',
  './here',
  '../up',
  '/a/./b/%2e%2e/c',
  '%2e/d',
  'http://example.org',
  'https://www.example.org/path/file.html?x=y',
  'http://example.org:8080/port',
  'http://example.org:80/default',
  'http://127.0.0.1/address',
  'http://127.0.0.1:3000/address',
  'HTTP://EXAMPLE.org/Case',
  'http://xn--bcher-kva.example/',
  'http://user:word@example.org/',
  '//cdn.example.org/asset',
  '//cdn.example.org',
  'https:relative',
  'mailto:a@example.org',
  'javascript:void(0)',
  'javascript:open("x y")',
  'tel:+1-23',
  'data:,x',
  'ftp://example.org/f',
  'b\u00fccher/\u2603',
  'a b',
  'x&#47;y&#x2f;z',
  'http://[::1]/',
  'http://%',
];

const HEAD =
  '\u{feff}<!doctype html><!-- a -- comment --><html lang=en class="a b"><head><title>T &amp; t\r\n</title><base href="/b/">' +
  '<meta charset=utf-8><meta name=robots content="all, max-snippet:5"><meta name=Description content="d &quot;e&quot; \u00e9">' +
  "<meta property='og:title' content='o'><meta property=og:title content=again><meta http-equiv=content-language content=de>" +
  '<meta name="keywords" content=""><link rel=canonical href="/c?d=1&amp;e=2"><link rel="stylesheet" href=s.css>' +
  '<link rel=alternate hreflang=fr href=/fr/><script type="application/ld+json">{"a":[1,"b",null]}</script>' +
  '<script type=application/ld+json>{no json</script><script>if (a < b && c) { x = "<!-- <script> </script>" } // --></script>' +
  '<style>a > b { content: "</b>" }</style><noscript><img src=pixel.gif></noscript></head>';

const BODY =
  '<BODY onload="go()" data-x=1 hidden><svg viewBox="0 0 1 1"><g><path d="M0 0"/><![CDATA[x < y]]><title>s</title></g></svg>' +
  '<math><mi>x</mi></math><h1 id=h>Heading&nbsp;&copy &notit; &#8364;&#x20AC;&#128512;&#0;&#xZ; &unknown; A&B & C</h1>' +
  '<p>Text\twith   spaces,\n\n  lines and \u00e9\u4e2d\u{1f600}.<br>More<br/><b>bold</b><i>it</i>alic</p></p></nothing><p/>' +
  '<ul><li>one<li>two<ol><li>three</ol></ul><dl><dt>d<dd>e</dl><table><caption>c</caption><tr><th>h<td>c</table>' +
  '<pre>\n kept  as\n\tit is &lt;x&gt;\n</pre><textarea> raw <b> &amp; </textarea><select><option selected>o<option>p</select>' +
  '<template><p>t</p></template><iframe src="/frame"></iframe><form action=/search method=get><input name=q value=""></form>' +
  "<img src='i.png' alt='An image'><area href=/area alt=\"An area\"><blockquote>q</blockquote><hr><?php x ?><!bogus></ bogus>" +
  '<a>no href</a><a name=anchor></a><a href=/one><a href=/nested rel="nofollow noopener" title=t>nested <b>link</b>\n text</a>' +
  '<object><embed></object><audio></audio><video><track></video><script src=late.js async></script><!---->' +
  '<div style="display:none" class=\'x\' a=b a=c =d "e" /f>\u0000</div><x-custom>c</x-custom><p>5 < 6 and a <3 &lt; end &';

export const EXEMPLAR =
  HEAD +
  BODY.replace(
    '<object>',
    () =>
      HREFS.map((href, at) => `<a href="${href}"${at % 3 === 0 ? ' rel=nofollow' : ''}>link ${at}</a> `).join('') +
      '<object>',
  );
