// The web of the parity scripts: a few pages whose answers say all that a script can ask about.
// Shares no code with src/, so that both libraries meet the same server.
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

const page = (title, body, head = '') =>
  `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>${head}</head><body>${body}</body></html>`;

const LINKS = `<h1>Links</h1>
<a class="item" href="/a">A</a> <a class="item" href="/b?x=1&amp;y=2">B</a> <a class="other" href="/dir/c.html#part">C</a>
<a href="relative/d">D</a> <a href="/a">A again</a> <a href="/a#frag">A with fragment</a>
<a href="mailto:me@example.com">mail</a> <a href="javascript:void(0)">script</a> <a href="tel:+4912345">phone</a>
<a href="https://other.example/x">other host</a> <a href="https://sub.other.example/y">sub of other</a>
<a href="HTTP://OTHER.example/Case">case</a> <a>no href</a> <a href="/image.png">image</a>
<a rel="nofollow" href="/nofollow">nofollow</a>`;

const PAGES = {
  '/': () => html(page('Home', '<h1>Home</h1><a href="/a">A</a><a href="/b">B</a><a href="/dir/c.html">C</a>')),
  '/a': () => html(page('Page A', '<h1>A</h1><p class="t">Text of A</p><a href="/">Home</a><a href="/b">B</a>')),
  '/b': () => html(page('Page B', '<h1>B</h1><p class="t">Text of B</p><a href="/dir/c.html">C</a>')),
  '/dir/c.html': () => html(page('Page C', '<h1>C</h1><p class="t">Text of C</p>')),
  '/links': () => html(page('Links', LINKS)),
  '/empty-link': () => html(page('Empty link', '<a href="">empty</a><a href="/a">A</a>')),
  '/base': () => html(page('Base', '<a href="x">X</a><a href="/y">Y</a>', '<base href="/deep/er/">')),
  '/many': () =>
    html(page('Many', Array.from({ length: 30 }, (_, i) => `<a href="/item/${i}">Item ${i}</a>`).join(' '))),
  '/empty': () => html(''),
  '/json': () => answer('application/json', '{"name":"orc","list":[1,2,3]}'),
  '/bad-json': () => answer('application/json', '{"name":'),
  '/xml': () =>
    answer('application/xml', '<?xml version="1.0"?><root><item id="1">one</item><item id="2">two</item></root>'),
  '/text': () => answer('text/plain', 'plain text'),
  '/no-type': () => ({ status: 200, headers: {}, body: page('Untyped', '<h1>Untyped</h1>') }),
  '/odd-type': () => answer('nonsense', page('Odd', '<h1>Odd</h1>')),
  '/bytes': () => answer('application/octet-stream', Buffer.from([0, 1, 2, 253, 254, 255])),
  '/image.png': () => answer('image/png', Buffer.from('89504e470d0a1a0a', 'hex')),
  '/pdf': () => answer('application/pdf', '%PDF-1.4 not really'),
  '/latin1': () => answer('text/html; charset=iso-8859-1', Buffer.from(page('Caf\xe9', '<h1>\xfcber</h1>'), 'latin1')),
  '/meta-latin1': () =>
    answer(
      'text/html',
      Buffer.from('<html><head><meta charset="windows-1252"><title>caf\xe9 \x80</title></head></html>', 'latin1'),
    ),
  '/win1250': () =>
    answer('text/html', Buffer.from([...Buffer.from('<title>'), 0x9a, 0x9e, ...Buffer.from('</title>')])),
  '/gzip': () => ({
    status: 200,
    headers: { 'content-type': 'text/html', 'content-encoding': 'gzip' },
    body: gzipSync(page('Zipped', '<h1>Zipped</h1>')),
  }),
  '/og': () =>
    html(
      page(
        'OG',
        '',
        '<meta property="og:title" content="The title"><meta property="og:type" content="video.movie"><meta property="og:image" content="https://x.example/i.png"><meta property="og:image:width" content="400"><meta property="og:locale" content="en_GB"><meta property="og:locale:alternate" content="fr_FR">',
      ),
    ),
  '/social': () =>
    html(
      page(
        'Social',
        `<a href="https://twitter.com/someone">t</a> <a href="https://www.facebook.com/someone">f</a>
<a href="https://www.instagram.com/someone">i</a> <a href="https://www.linkedin.com/in/someone">l</a>
<a href="https://www.youtube.com/watch?v=kM7YfhfkiEE">y</a> <a href="mailto:me@example.com">m</a> <a href="tel:+420775222222">p</a>
<p>Write to other@example.com or call +420 775 123 456.</p>`,
      ),
    ),
  '/readable': () =>
    html(
      page(
        'Readable',
        '<style>p{}</style><script>let x = 1</script><h1>Head</h1><p>First  line<br>second</p><ul><li>one</li><li>two</li></ul><table><tr><td>a</td><td>b</td></tr></table><pre>  kept\n   as is</pre>',
      ),
    ),
  '/robots.txt': ({ origin }) =>
    answer('text/plain', `User-agent: *\nDisallow: /private\nCrawl-delay: 0\nSitemap: ${origin}/sitemap.xml\n`),
  '/sitemap.xml': ({ origin }) =>
    answer(
      'application/xml',
      `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${origin}/a</loc><lastmod>2024-01-02</lastmod><changefreq>daily</changefreq><priority>0.5</priority></url><url><loc>${origin}/b</loc></url><url><loc>https://foreign.example/z</loc></url></urlset>`,
    ),
  '/sitemap-index.xml': ({ origin }) =>
    answer(
      'application/xml',
      `<?xml version="1.0"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>${origin}/sitemap.xml</loc></sitemap><sitemap><loc>${origin}/sitemap.txt</loc></sitemap></sitemapindex>`,
    ),
  '/sitemap.txt': ({ origin }) => answer('text/plain', `${origin}/dir/c.html\n${origin}/links\n`),
  '/private': () => html(page('Private', '<h1>Private</h1>')),
  '/list.txt': () =>
    answer(
      'text/plain',
      'one https://list.example/a, two http://www.list.example/b?x=1 and "https://list.example/c.html"',
    ),
  '/dynamic': () =>
    html(
      page(
        'Dynamic',
        `<div id="root"></div><script>setTimeout(() => { document.getElementById('root').innerHTML = '<h2 class="ready">Ready</h2><a href="/a">A</a><a href="/b">B</a>'; }, 300);</script>`,
      ),
    ),
  '/static-for-adaptive': () => html(page('Static', '<h2 class="ready">Ready</h2><a href="/a">A</a>')),
  '/shadow': () =>
    html(
      page(
        'Shadow',
        `<div id="host"></div><script>const r = document.getElementById('host').attachShadow({ mode: 'open' }); r.innerHTML = '<p class="in">inside</p><div id="nested"></div>'; const n = r.getElementById('nested').attachShadow({ mode: 'open' }); n.innerHTML = '<p class="deep">deep</p>';</script>`,
      ),
    ),
  '/frames': () => html(page('Frames', '<h1>Outer</h1><iframe src="/a"></iframe>')),
  '/download-page': () => html(page('Downloads', '<a href="/file.bin">file</a>')),
  '/file.bin': () => ({
    status: 200,
    headers: { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment; filename="file.bin"' },
    body: Buffer.alloc(300, 1),
  }),
  '/tall': () =>
    html(
      page(
        'Tall',
        '<script>window.scrolls = 0; addEventListener("scroll", () => window.scrolls++)</script><div style="height:9000px">x</div>',
      ),
    ),
  '/clicks': () =>
    html(
      page(
        'Clicks',
        `<button onclick="location.href='/b'">here</button><button onclick="location.href='http://other.example/x'">there</button>`,
      ),
    ),
  '/form': () =>
    html(
      page('Form', '<form action="/echo" method="post"><input name="q" value="orc"><button id="go">Go</button></form>'),
    ),
};

function html(body) {
  return answer('text/html; charset=utf-8', body);
}

function answer(type, body) {
  return { status: 200, headers: { 'content-type': type }, body };
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** Starts the web; `counts` of the log say how often each path was asked. */
export async function startWeb() {
  const counts = new Map();
  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy());
  });
  async function serve(request, response) {
    const origin = `http://${request.headers.host}`;
    const url = new URL(request.url, origin);
    const key = `${url.pathname}${url.search}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    const made = PAGES[url.pathname]?.({ origin, url });
    if (made) {
      response.writeHead(made.status, made.headers);
      return response.end(request.method === 'HEAD' ? undefined : made.body);
    }
    const [, first, second] = url.pathname.split('/');
    const number = Number(second);
    if (first === 'item') return reply(200, 'text/html', page(`Item ${second}`, `<h1>Item ${second}</h1>`));
    if (first === 'status') {
      return reply(number, url.searchParams.get('type') ?? 'text/html', page(`Status ${second}`, `<h1>${second}</h1>`));
    }
    if (first === 'flaky') {
      // Fails as often as asked, per key of the query, then answers.
      const asked = counts.get(key);
      return asked <= number
        ? reply(500, 'text/html', 'failing')
        : reply(200, 'text/html', page('Flaky', `<h1>after ${asked}</h1>`));
    }
    if (first === 'redirect') {
      response.writeHead(Number(url.searchParams.get('code') ?? 302), {
        location: number > 1 ? `/redirect/${number - 1}` : '/a',
      });
      return response.end();
    }
    if (first === 'redirect-loop') {
      response.writeHead(302, { location: '/redirect-loop' });
      return response.end();
    }
    if (first === 'slow') {
      setTimeout(() => reply(200, 'text/html', page('Slow', '<h1>Slow</h1>')), number);
      return undefined;
    }
    if (first === 'reset') return request.socket.destroy();
    if (first === 'set-cookie') {
      response.writeHead(200, {
        'content-type': 'text/html',
        'set-cookie': ['one=1; Path=/', 'two=2; Path=/; HttpOnly'],
      });
      return response.end(page('Cookies', '<h1>set</h1>'));
    }
    if (first === 'echo') {
      const { cookie, accept, 'user-agent': agent, 'content-type': type, authorization, ...others } = request.headers;
      const custom = Object.fromEntries(Object.entries(others).filter(([name]) => name.startsWith('x-')));
      const body = await bodyOf(request);
      const cookies = cookie?.split('; ').sort().join('; ');
      const told = {
        method: request.method,
        path: key,
        cookie: cookies,
        hasAccept: !!accept,
        hasAgent: !!agent,
        type,
        authorization,
        custom,
        body,
      };
      return reply(200, url.searchParams.get('type') ?? 'application/json', JSON.stringify(told));
    }
    if (first === 'drip') {
      response.writeHead(200, { 'content-type': 'application/octet-stream' });
      for (let i = 0; i < 5; i++) {
        response.write(Buffer.alloc(1024, i));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return response.end();
    }
    return reply(404, 'text/html', page('Not found', '<h1>404</h1>'));

    function reply(status, type, body) {
      response.writeHead(status, { 'content-type': type });
      response.end(body);
    }
  }
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
