// The frame of every page: navigation, search, contents of the page, the page before and after.
// Promise: all addresses are relative and nothing comes from another host, so the site works from any folder.
import { escapeHtml } from './highlight.mjs';
import { relative } from './markdown.mjs';

const ICONS = {
  menu: '<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M3 5h14M3 10h14M3 15h14"/></svg>',
  search: '<svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="9" cy="9" r="5.5"/><path d="m13.5 13.5 4 4"/></svg>',
  theme:
    '<svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="7"/><path d="M10 3a7 7 0 0 1 0 14z" class="full"/></svg>',
};

/** Before the first paint, so that a page never flashes in the other theme. */
const THEME = `document.documentElement.dataset.theme=localStorage.getItem('theme')??'';`;

export function renderPage({ page, sections, html, headings }) {
  const to = (out) => relative(page, out);
  const title = page.out === 'index.html' ? 'orcrawl' : `${page.title} · orcrawl`;
  return `<!doctype html>
<html lang="en" data-base="${to('index.html').replace(/index\.html$/, '')}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">
<link rel="stylesheet" href="${to('assets/site.css')}">
<script>${THEME}</script>
</head>
<body${page.out === 'index.html' ? ' class="home"' : ''}>
<a class="skip" href="#_main">Skip to the content</a>
<header>
<button class="icon menu" aria-label="Menu" aria-expanded="false" aria-controls="navigation">${ICONS.menu}</button>
<a class="name" href="${to('index.html')}">${ICON}<span>orcrawl</span></a>
<button class="search" aria-haspopup="dialog">${ICONS.search}<span>Search</span><kbd>/</kbd></button>
<button class="icon theme" aria-label="Light or dark">${ICONS.theme}</button>
</header>
<div class="columns">
<nav id="navigation" aria-label="Pages">${navigation(page, sections, to)}</nav>
<main id="_main">
<article>
${html}
</article>
${neighbours(page, sections, to)}
</main>
${contents(headings)}
</div>
<dialog aria-label="Search">
<form method="dialog"><input type="search" placeholder="Search the documentation" autocomplete="off" spellcheck="false" aria-label="Search"><button aria-label="Close">Esc</button></form>
<ol></ol>
<p class="none" hidden>Nothing found.</p>
</dialog>
<script src="${to('assets/site.js')}" defer></script>
</body>
</html>
`;
}

/** An orca's fin over water. */
const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" class="fin" width="24" height="24"><path fill="#2391b3" d="M5 23C11 21 14 13 14 4c6 5 9 12 11 19z"/><path fill="none" stroke="#2391b3" stroke-width="2.4" stroke-linecap="round" d="M3 28c3-2 5-2 8 0s6 2 9 0 6-2 9 0"/></svg>';

function navigation(page, sections, to) {
  const link = ({ out, title, source }) => {
    const isHere = out === page.out || (source.endsWith('/') && page.source.startsWith(source));
    return `<li><a href="${to(out)}"${isHere ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a></li>`;
  };
  const beside = page.siblings
    ? `<h2>${escapeHtml(page.siblings.name)}</h2><ul>${page.siblings.links.map(link).join('')}</ul>`
    : '';
  return (
    beside +
    sections.map(({ name, links }) => `<h2>${escapeHtml(name)}</h2><ul>${links.map(link).join('')}</ul>`).join('')
  );
}

function contents(headings) {
  const shown = headings.filter(({ level }) => level === 2 || level === 3);
  if (shown.length < 3 || shown.length > 60) return '<aside></aside>';
  const items = shown.map(
    ({ id, text, level }) => `<li class="l${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  return `<aside aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></aside>`;
}

function neighbours(page, sections, to) {
  const all = sections.flatMap(({ links }) => links);
  const at = all.findIndex(({ out }) => out === page.out);
  if (at < 0) return '';
  const [before, after] = [all[at - 1], all[at + 1]];
  const link = (kind, said, one) =>
    one ? `<a class="${kind}" href="${to(one.out)}"><small>${said}</small>${escapeHtml(one.title)}</a>` : '';
  return `<nav class="neighbours" aria-label="Next and previous page">${link('before', 'Previous', before)}${link('after', 'Next', after)}</nav>`;
}
