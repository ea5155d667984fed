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

/** Pages that break browsers: what they are called and what they do. */
export const HOSTILE: Readonly<Record<string, string>> = {
  hang: '<title>hang</title><p>x</p><script>for (;;);</script>',
  'hang-later': '<title>hang later</title><p>x</p><script>setTimeout(() => { for (;;); }, 30)</script>',
  popups: '<title>popups</title><p>x</p><script>for (let i = 0; i < 8; i++) window.open("/page/popup" + i)</script>',
  dialogs:
    '<title>dialogs</title><p>x</p><script>alert(1); confirm(2); prompt(3); onbeforeunload = () => "stay"</script>',
  memory:
    '<title>memory</title><p>x</p><script>window.kept = Array.from({ length: 50 }, () => new Array(1e5).fill(Math.random()))</script>',
};
