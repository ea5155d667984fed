// Pages by well-known software, as a reader would want them: what must be there, what must not. Written by hand.
// The pages are in ../shared/data; where they are not, the suite says so and is skipped.
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { extractContent } from '../../src/crawl/page/extraction.js';

const DATA = new URL('../../../shared/data/', import.meta.url);
const isHere = existsSync(new URL('pages/wikipedia.html.gz', DATA)) && existsSync(new URL('wcxb/html/', DATA));
// eslint-disable-next-line no-console -- a skipped suite says so
if (!isHere) console.warn('../shared/data is not here: pages by well-known software are not checked');

interface Known {
  /** The software or site, and the file of the page. */
  readonly name: string;
  readonly file: string;
  readonly title?: RegExp;
  /** Lines of the markdown. */
  readonly has: readonly RegExp[];
  readonly lacks: readonly RegExp[];
}

const ANYWHERE = [/\[\\?\[?edit\\?\]?\]/i, /\[(?:#|¶|§)\]\(/, /facebook\.com\/tr/];
const KNOWN: readonly Known[] = [
  {
    name: 'MediaWiki (Mozilla)',
    file: 'pages/wikipedia.html.gz',
    title: /^Mozilla$/,
    has: [/^## History$/m, /^### Firefox$/m],
    lacks: [/^## Contents$/m, /Jump to:/],
  },
  {
    name: 'MediaWiki (New Zealand)',
    file: 'pages/wikipedia-2.html.gz',
    title: /^New Zealand$/,
    has: [/^## Etymology$/m],
    lacks: [/Jump to/],
  },
  {
    name: 'MediaWiki with formulas',
    file: 'pages/wikipedia-3.html.gz',
    has: [/\$[^$\n]+\$/],
    lacks: [/mwe-math/, /wikimedia\.org\/api\/rest_v1\/media\/math/],
  },
  {
    name: 'V8’s blog',
    file: 'pages/v8-blog.html.gz',
    title: /standalone WebAssembly/,
    has: [/^## Using standalone mode in Emscripten$/m, /^```c$/m],
    lacks: [],
  },
  {
    name: 'heise',
    file: 'pages/heise.html.gz',
    title: /^1Password für Mac/,
    has: [/TOTP-Standard/, /setzt in seiner aktuellen Version/],
    lacks: [/twitter\.com/, /plus\.google/, /Praxistipp/, /Apple Watch/, /doubleclick/],
  },
  {
    name: 'a book that shows its chapter in the header (Google’s SRE book)',
    file: 'pages/google-sre-book-1.html.gz',
    has: [/^## Chapter 6 - Monitoring Distributed Systems$/m, /^# Definitions$/m],
    lacks: [/Table of Contents/],
  },
  {
    name: 'MathJax 3',
    file: 'pages/mathjax.html.gz',
    has: [/^\$\$x=\\frac\{-b\\pm\\sqrt\{b\^2-4ac\}\}\{2a\}/m, /\$a\\ne 0\$/],
    lacks: [/MJX/],
  },
  { name: 'IETF’s RFC pages', file: 'pages/ietf-1.html.gz', has: [/remoteStorage/], lacks: [/\[Docs\]/] },
  {
    name: 'WordPress',
    file: 'pages/wordpress.html.gz',
    has: [/Stack Overflow/],
    lacks: [/Leave a (?:Reply|Comment)/, /Like this/],
  },
  {
    name: 'Sphinx (Requests)',
    file: 'wcxb/html/0663.html.gz',
    title: /Advanced Usage/,
    has: [/^## Session Objects$/m, /^```/m],
    lacks: [/¶/],
  },
  {
    name: 'Sphinx (Python)',
    file: 'wcxb/html/2994.html.gz',
    title: /json/,
    has: [/Basic Usage/, /json\.dumps/],
    lacks: [/¶/],
  },
  {
    name: 'MkDocs (FastAPI)',
    file: 'wcxb/html/0678.html.gz',
    title: /Tutorial/,
    has: [/^## Run the code$/m, /^## Install FastAPI$/m, /^## Advanced User Guide$/m, /^ +\['\/home\//m],
    lacks: [/¶/, /&apos;/],
  },
  { name: 'MkDocs (Pydantic)', file: 'wcxb/html/0679.html.gz', title: /Fields/, has: [/^```/m], lacks: [/¶/] },
  { name: 'MediaWiki (Gentoo)', file: 'wcxb/html/0683.html.gz', title: /Portage/, has: [/emerge/], lacks: [/Jump to/] },
  { name: 'man pages', file: 'wcxb/html/0688.html.gz', title: /grep/i, has: [/SYNOPSIS/, /--regexp/], lacks: [] },
  {
    name: 'mdBook (the Rust book)',
    file: 'wcxb/html/2860.html.gz',
    has: [/^```rust$/m, /Defining a Trait/],
    lacks: [],
  },
  {
    name: 'rustdoc',
    file: 'wcxb/html/2861.html.gz',
    has: [/^```rust/m, /^# Enum Result$/m],
    lacks: [/Expand description/],
  },
  {
    name: 'GitBook',
    file: 'wcxb/html/0498.html.gz',
    title: /^README$/,
    has: [/^### About this book$/m, /^#### About the nodejs version$/m, /^```\n\$ npm run ch04\n```$/m],
    lacks: [/^Copy$/m, /Was this helpful/, /Last updated/],
  },
  {
    name: 'docutils (Mercurial)',
    file: 'pages/mercurial.html.gz',
    title: /^Evolve/,
    has: [/mastered the art of mutable history/],
    lacks: [/^Contents$/m],
  },
  {
    name: 'Docusaurus (React’s old pages)',
    file: 'wcxb/html/4401.html.gz',
    title: /Hooks/,
    has: [/State Hook/, /^```/m],
    lacks: [],
  },
  {
    name: 'Stack Overflow',
    file: 'wcxb/html/4310.html.gz',
    title: /async/i,
    has: [/^```/m, /await/, /^---\n\nTo answer your questions/m],
    lacks: [/Sign up/],
  },
  { name: 'Discourse', file: 'wcxb/html/0504.html.gz', title: /MSRV/, has: [/MSRV/], lacks: [/Powered by Discourse/] },
  { name: 'phpBB', file: 'wcxb/html/0538.html.gz', has: [/\w{4}/], lacks: [/Powered by phpBB/, /[?&]sid=/] },
  {
    name: 'Docusaurus',
    file: 'wcxb/html/4843.html.gz',
    title: /Product Feed/,
    has: [/^#### Option 1$/m],
    lacks: [/Direct link/],
  },
  { name: 'MDN', file: 'wcxb/html/0673.html.gz', has: [/^## Chaining$/m, /^```js$/m], lacks: [/^js$/m] },
  { name: 'a list of arXiv', file: 'wcxb/html/2916.html.gz', has: [/^### Fri, 6 Mar 2026/m], lacks: [] },
  { name: 'GitHub', file: 'wcxb/html/2909.html.gz', has: [/MiroFish/], lacks: [/!\[@/] },
  {
    name: 'Fandom',
    file: 'segments/html/0232.html.gz',
    has: [/^\*\*Type\*\*\n\n- \[Charm\]/m],
    lacks: [/^### Type$/m],
  },
  {
    name: 'Shopify',
    file: 'wcxb/html/0580.html.gz',
    title: /Wool Runner/,
    has: [/\$110/],
    lacks: [/Something went wrong/],
  },
  {
    name: 'a page of the government (OSHA)',
    file: 'wcxb/html/0349.html.gz',
    title: /^Electrical - Overview$/,
    has: [/electrical/i],
    lacks: [/An official website of the United States/],
  },
];

describe.skipIf(!isHere)('pages by well-known software', () => {
  it.each(KNOWN)('$name', ({ file, title, has, lacks }) => {
    const content = extractContent(gunzipSync(readFileSync(new URL(file, DATA))), {
      url: 'https://known.example/page',
    });
    if (title !== undefined) expect(content.title).toMatch(title);
    for (const wanted of has) expect(content.markdown).toMatch(wanted);
    for (const unwanted of [...ANYWHERE, ...lacks]) expect(content.markdown).not.toMatch(unwanted);
  });
});
