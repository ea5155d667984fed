// Special paths whose content only a browser shows: a list to click through, one to scroll, a page that scripts fill.
import { HTML_TYPE } from '../reply.js';
import type { SpecialAnswers } from '../reply.js';

const page = (title: string, body: string, script: string): string =>
  `<!doctype html><html lang="en"><head><title>${title}</title></head><body><h1>${title}</h1>${body}` +
  `<script>${script}</script></body></html>`;

/** Five pages of three; the old ones are gone at once, the new ones come a little later, as from a server. */
const LIST = page(
  'A list to click through',
  '<ol id="list"></ol><button id="next">Next</button>',
  `let at = 0;
const list = document.querySelector('#list'), next = document.querySelector('#next');
const show = () => {
  at++;
  list.innerHTML = [1, 2, 3].map((n) => '<li class="item">item ' + at + '.' + n + '</li>').join('');
  list.dataset.page = at;
  next.disabled = at === 5;
};
show();
next.onclick = () => { list.innerHTML = ''; setTimeout(show, 100); };`,
);

/** Eight more whenever the end comes into sight, forty in all. */
const SCROLL = page(
  'A list to scroll',
  '<ul id="list"></ul><div id="end" style="height:1000px"></div>',
  `let shown = 0;
const list = document.querySelector('#list'), end = document.querySelector('#end');
const more = () => {
  for (let n = 0; n < 8 && shown < 40; n++) list.insertAdjacentHTML('beforeend', '<li>item ' + ++shown + '</li>');
  if (shown === 40) end.remove();
};
more();
addEventListener('scroll', () => { if (innerHeight + scrollY >= document.body.scrollHeight - 5) setTimeout(more, 20); });`,
);

const SHELL = `<!doctype html><html lang="en"><head><title>Loading</title></head><body><div id="root"></div>
<noscript>You need to enable JavaScript to run this app.</noscript><script>setTimeout(() => {
document.title = 'Rendered';
document.querySelector('#root').innerHTML = '<h1>Rendered</h1><p>This text was made by a script.</p><a href="/">home</a>';
}, 200);</script></body></html>`;

export const scriptAnswers = {
  list: ({ exchange }) => exchange.send(200, HTML_TYPE, LIST),
  scroll: ({ exchange }) => exchange.send(200, HTML_TYPE, SCROLL),
  shell: ({ exchange }) => exchange.send(200, HTML_TYPE, SHELL),
} satisfies Partial<SpecialAnswers>;
