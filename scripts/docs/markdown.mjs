// Markdown to the HTML of a page: anchors as GitHub makes them, links between files as links between pages.
// Promise: a link to a file that does not exist is reported.
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import MarkdownIt from 'markdown-it';
import { escapeHtml } from './highlight.mjs';

const IMAGE = /\.(png|jpg|svg)$/;

export function createRenderer({ root, pages, highlighter, report }) {
  const bySource = new Map(pages.map((page) => [page.source, page]));
  const images = new Set();
  const md = new MarkdownIt({ html: true, highlight: (code, language) => highlighter.html(code.trimEnd(), language) });
  const usual = (rule) =>
    md.renderer.rules[rule] ?? ((tokens, at, options, _env, self) => self.renderToken(tokens, at, options));

  md.renderer.rules.fence = (tokens, at) => {
    const [language = ''] = tokens[at].info.trim().split(/\s+/);
    const code = highlighter.html(tokens[at].content.trimEnd(), language);
    return `<div class="code"><pre tabindex="0"><code>${code}</code></pre></div>\n`;
  };
  md.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
  md.renderer.rules.table_close = () => '</table></div>\n';
  const link = usual('link_open');
  md.renderer.rules.link_open = (tokens, at, options, env, self) => {
    const href = target(tokens[at].attrGet('href'), env.page);
    // The source code is not in the site: the name stays, without a link.
    if (href === undefined) tokens[at].attrs = [];
    else tokens[at].attrSet('href', href);
    return link(tokens, at, options, env, self);
  };
  const image = usual('image');
  md.renderer.rules.image = (tokens, at, options, env, self) => {
    tokens[at].attrSet('src', asset(tokens[at].attrGet('src'), env.page));
    tokens[at].attrSet('loading', 'lazy');
    return image(tokens, at, options, env, self);
  };
  // HTML in our markdown: <img src> and <source srcset> of a picture.
  md.renderer.rules.html_block = (tokens, at, _options, env) =>
    tokens[at].content.replace(/\b(src|srcset)="([^"]+)"/g, (_, name, value) => `${name}="${asset(value, env.page)}"`);

  /** Where a link of a page leads, as an address relative to that page. */
  function target(href, page) {
    if (/^[a-z]+:/i.test(href) || href.startsWith('#')) return href;
    const [file, anchor] = href.split('#');
    const source = path.posix.join(folderOf(page), decodeURI(file));
    const found = bySource.get(source) ?? bySource.get(`${source.replace(/\/$/, '')}/`);
    if (found) return relative(page, found.out) + (anchor === undefined ? '' : `#${anchor}`);
    if (IMAGE.test(source)) return asset(href, page);
    if (!exists(source)) report(`${page.source} links to ${href}, which is not there`);
    return undefined;
  }

  function asset(src, page) {
    if (/^[a-z]+:/i.test(src)) {
      report(`${page.source} loads ${src} from another host`);
      return src;
    }
    const source = path.posix.join(folderOf(page), src);
    if (exists(source) && statSync(path.join(root, source)).isFile()) images.add(source);
    else report(`${page.source} shows ${src}, which is not there`);
    return relative(page, `assets/${path.basename(source)}`);
  }

  /** A page that stands for a folder is named by it, with a slash. */
  const folderOf = ({ source }) => (source.endsWith('/') ? source : path.posix.dirname(source));
  const exists = (file) => existsSync(path.join(root, file));

  return {
    images,
    /** `{ html, headings, blocks }` of a page; blocks are its text by heading, for the search. */
    render(page) {
      const env = { page };
      const tokens = md.parse(page.markdown, env);
      nameCells(tokens);
      const { headings, blocks } = anchored(tokens);
      return { html: md.renderer.render(tokens, md.options, env), headings, blocks };
    },
  };
}

/** Gives every heading its anchor; returns the headings and the text below each. */
function anchored(tokens) {
  const taken = new Map();
  const headings = [];
  const blocks = [{ id: '', text: '', parts: [] }];
  tokens.forEach((token, at) => {
    if (token.type === 'heading_open') {
      const inline = tokens[at + 1];
      const text = textOf(inline);
      const slug = slugOf(text);
      const count = taken.get(slug) ?? 0;
      taken.set(slug, count + 1);
      const id = count === 0 ? slug : `${slug}-${count}`;
      token.attrSet('id', id);
      const level = Number(token.tag[1]);
      headings.push({ id, text, level });
      blocks.push({ id: level === 1 ? '' : id, text: level === 1 ? '' : text, parts: [] });
      const anchor = Object.assign(new inline.constructor('html_inline', '', 0), {
        content: level === 1 ? '' : `<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`,
      });
      inline.children.push(anchor);
    } else if (token.type === 'inline' && tokens[at - 1]?.type !== 'heading_open') {
      blocks.at(-1).parts.push(textOf(token));
    }
  });
  return { headings, blocks };
}

/** Gives every cell the head of its column: on a phone a row is a block, and each cell says what it is. */
function nameCells(tokens) {
  let heads = [];
  let column = 0;
  tokens.forEach((token, at) => {
    if (token.type === 'table_open') heads = [];
    else if (token.type === 'th_open') heads.push(textOf(tokens[at + 1]));
    else if (token.type === 'tr_open') column = 0;
    else if (token.type === 'td_open') {
      const head = heads[column++];
      if (head && column > 1) token.attrSet('data-head', head);
    }
  });
}

const textOf = (inline) =>
  inline.children
    .filter(({ type }) => type === 'text' || type === 'code_inline' || type === 'softbreak')
    .map(({ type, content }) => (type === 'softbreak' ? ' ' : content))
    .join('');

/** As GitHub does: lower case, no punctuation, hyphens for spaces. */
export function slugOf(text) {
  return text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

/** The address of `out` as seen from a page. */
export function relative(page, out) {
  return path.posix.relative(path.posix.dirname(page.out), out) || path.posix.basename(out);
}

export { escapeHtml };
