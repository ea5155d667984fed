// Pages for tests and measures in a browser: what real sites do with scripts, small.

/** Commits page by page without reloading, as in the first workflow of many.md. */
export const COMMITS = `<!doctype html><title>commits</title><ol id="list"></ol><button id="next">next</button><script>
  let page = 0;
  const show = () => { page++; list.innerHTML = [1, 2, 3].map((n) => '<li class="commit">commit ' + page + '.' + n + '</li>').join(''); list.dataset.page = page; };
  show();
  next.onclick = () => { list.innerHTML = ''; setTimeout(show, 100); };
</script>`;

/** Rendered in the client, as by any framework: the bytes hold an empty container. */
export const APP = `<!doctype html><title>app</title><noscript>You need to enable JavaScript to run this app.</noscript>
<div id="root"></div><script>
  const h = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  setTimeout(() => { root.append(h('h1', 'Rendered by script'), h('p', 'All of this was made in the browser.')); }, 20);
</script>`;

export const ARTICLE = `<!doctype html><title>article</title><article><h1>Plain article</h1><p>${'A sentence to be read without any scripts. '.repeat(30)}</p></article>
<script>window.analytics = 1</script>`;

export const STATE = `<!doctype html><title>state</title><script>
  document.cookie = 'who=' + (new URLSearchParams(location.search).get('who') ?? document.cookie.replace('who=', ''));
  localStorage.visits = Number(localStorage.visits ?? 0) + 1;
  document.write('<p id="state">' + document.cookie + ' ' + localStorage.visits + '</p>');
</script>`;

/** Grows as one scrolls, to 30 items. */
export const LIST = `<title>list</title><ul id="list"></ul><script>
  let shown = 0;
  const more = () => { for (let i = 0; i < 10 && shown < 30; i++) list.insertAdjacentHTML('beforeend', '<li style="height:200px">item ' + ++shown + '</li>'); };
  more();
  addEventListener('scroll', () => { if (innerHeight + scrollY >= document.body.scrollHeight - 5) setTimeout(more, 20); });
</script>`;
/** Buttons that lead elsewhere in three ways, a frame and a shadow root. */
export const CLICKS = `<title>clicks</title><button onclick="location.href='/a'">a</button><button onclick="window.open('/b')">b</button>
  <button onclick="history.pushState({}, '', '/c')">c</button><div id="host"></div><iframe srcdoc="<p>inside a frame</p>"></iframe>
  <script>host.attachShadow({ mode: 'open' }).innerHTML = '<p>inside a shadow</p>'</script>`;
