// The oracle of the scanner's conformance tests: a parse5 tree, read with the scanner's own rules for text and links.
// It states those rules a second time, over a real tree, so that a slip in either shows.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { DefaultTreeAdapterMap } from 'parse5';
import { defaultTreeAdapter, html, parse } from 'parse5';

type Node = DefaultTreeAdapterMap['node'];
type Element = DefaultTreeAdapterMap['element'];

/** Where the project keeps pages for tests, when they are there. */
export const DATA = new URL('../../../shared/data/', import.meta.url);

/** Elements whose content no reader sees. */
const HIDDEN = new Set(['script', 'style', 'title', 'noscript', 'iframe', 'noembed', 'noframes', 'template']);
const HIDDEN_IN_SVG = new Set(['title', 'desc', 'metadata', 'style', 'script']);
/** Elements that separate words; inline ones do not. */
const SEPARATES = new Set(
  (
    'address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset figcaption ' +
    'figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol optgroup ' +
    'option p plaintext pre search section select summary table tbody td textarea tfoot th thead tr ul xmp'
  ).split(' '),
);
const LINK_ATTRIBUTE: Readonly<Record<string, string>> = {
  a: 'href',
  area: 'href',
  link: 'href',
  iframe: 'src',
  form: 'action',
};

/** What the tree says about a page. */
export interface TreeView {
  readonly title: string;
  /** Text with every run of white space as one space. */
  readonly text: string;
  /** One entry per link tag of the source, in source order; `clones` counts the copies misnesting made of it. */
  readonly links: readonly { readonly url: string; readonly element: string; readonly text: string }[];
  readonly clones: number;
}

/** White space runs to one space, none at the ends. */
export function collapse(value: string): string {
  return value.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, '');
}

/** Parses and reads one page. */
export function treeView(source: string, url: string): TreeView {
  // Elements are made in source order, copies after their original. parse5's own places cost a third of the time.
  const order = new Map<Element['attrs'], number>();
  const document = parse(source, {
    treeAdapter: {
      ...defaultTreeAdapter,
      createElement(tagName, namespaceURI, attrs) {
        if (tagName in LINK_ATTRIBUTE && !order.has(attrs)) order.set(attrs, order.size);
        return defaultTreeAdapter.createElement(tagName, namespaceURI, attrs);
      },
    },
  });
  let title: string | undefined;
  let base: string | undefined;
  const text: string[] = [];
  const found = new Map<Element['attrs'], { href: string; element: string; text: string[] }>();
  const openLinks: { text: string[] }[] = [];
  let clones = 0;

  const emit = (value: string): void => {
    text.push(value);
    openLinks.at(-1)?.text.push(value);
  };
  // An explicit stack: pages nest deeper than the call stack allows. An entry without a node is the way out of one.
  const pending: { readonly node: Node | null; readonly hidden: boolean; readonly closes: string }[] = [];
  const visit = (node: Node, hidden: boolean): void => {
    if (node.nodeName === '#text' && 'value' in node) {
      if (!hidden) emit(node.value);
      return;
    }
    if (!('childNodes' in node)) return;
    let hidesChildren = hidden;
    if ('tagName' in node) {
      const isHtml = node.namespaceURI === html.NS.HTML;
      hidesChildren ||= (isHtml ? HIDDEN : HIDDEN_IN_SVG).has(node.tagName);
      if (isHtml) {
        visitHtml(node);
        const separates = !hidden && SEPARATES.has(node.tagName);
        if (separates) emit('\n');
        if (node.tagName === 'a') openLinks.push(found.get(node.attrs) ?? { text: [] });
        if (separates || node.tagName === 'a') pending.push({ node: null, hidden, closes: node.tagName });
      }
    }
    for (let k = node.childNodes.length - 1; k >= 0; k--) {
      pending.push({ node: node.childNodes[k]!, hidden: hidesChildren, closes: '' });
    }
  };
  const visitHtml = (node: Element): void => {
    const attribute = (name: string): string | undefined => node.attrs.find((a) => a.name === name)?.value;
    if (node.tagName === 'title') title ??= textOf(node);
    if (node.tagName === 'base') base ??= attribute('href');
    const href = LINK_ATTRIBUTE[node.tagName] === undefined ? undefined : attribute(LINK_ATTRIBUTE[node.tagName]!);
    if (href === undefined) return;
    // A copy that misnesting makes shares its original's attribute list; both have its place in the source.
    if (found.has(node.attrs)) clones++;
    else found.set(node.attrs, { href, element: node.tagName, text: [] });
  };
  visit(document, false);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.node !== null) visit(next.node, next.hidden);
    else if (next.closes === 'a') openLinks.pop();
    else emit('\n');
  }

  const baseUrl = base !== undefined && URL.canParse(base, url) ? new URL(base, url).href : url;
  const links = [...found]
    .sort(([a], [b]) => order.get(a)! - order.get(b)!)
    .filter(([, link]) => URL.canParse(link.href, baseUrl))
    .map(([, link]) => ({
      url: new URL(link.href, baseUrl).href,
      element: link.element,
      text: collapse(link.text.join('')),
    }));
  return { title: collapse(title ?? ''), text: collapse(text.join('')), links, clones };
}

function textOf(element: Element): string {
  return element.childNodes.map((child) => ('value' in child ? child.value : '')).join('');
}

/** The gzipped pages of a data folder; none when it is absent. */
export function readPages(folder: string): { name: string; bytes: Buffer }[] {
  const directory = new URL(folder, DATA);
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((file) => file.endsWith('.html.gz'))
    .map((file) => ({ name: `${folder}${file}`, bytes: gunzipSync(readFileSync(new URL(file, directory))) }));
}
