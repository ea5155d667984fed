// The text of a parsed document as a reader sees it, its pieces and its links, from one walk.
// Promise: no recursion; the walk follows the nodes' own pointers, however deep the page is nested.

/** What the walk reads of a node; every cheerio (domhandler) node fits. */
export interface TreeNode {
  readonly type: string;
  readonly name?: string;
  readonly data?: string;
  readonly attribs?: Readonly<Record<string, string>>;
  readonly children?: readonly TreeNode[];
  readonly next: TreeNode | null;
  readonly parent: TreeNode | null;
}

export interface ReadableText {
  /** With line breaks around blocks and tabs after table cells. */
  readonly text: string;
  /** Every text node on its own, trimmed. */
  readonly pieces: string[];
  /** The `href` of every `a`, as written. */
  readonly linkUrls: string[];
}

const UNSEEN = new Set(['canvas', 'head', 'noscript', 'script', 'style', 'svg', 'template']);
const BLOCKS = new Set(
  'address article aside blockquote dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header li main nav ol option p pre section select table tr ul'.split(
    ' ',
  ),
);

/** What is written how. */
export interface TextRules {
  readonly blocks: ReadonlySet<string>;
  /** What ends in a tab. */
  readonly cells: ReadonlySet<string>;
  /** White space is kept in text right inside of `pre`, but for a first space; not in all that is in `pre`. */
  readonly isStrictPre: boolean;
}

const RULES: TextRules = { blocks: BLOCKS, cells: new Set(['td', 'th']), isStrictPre: false };

export function readableText(root: unknown, { blocks, cells, isStrictPre } = RULES): ReadableText {
  const pieces: string[] = [];
  const linkUrls: string[] = [];
  const out: string[] = [];
  // The last character written decides whether a space or a line break is due.
  let last = '\n';
  let unseen = 0;
  let inPre = 0;

  const write = (text: string): void => {
    if (text === '') return;
    out.push(text);
    last = text.charAt(text.length - 1);
  };
  const breakLine = (): void => {
    if (last !== '\n') write('\n');
  };

  const enter = (node: TreeNode): void => {
    if (node.type === 'text') {
      const data = node.data ?? '';
      const piece = data.trim();
      if (piece !== '') pieces.push(piece);
      if (unseen > 0) return;
      const isPre = isStrictPre ? node.parent?.name === 'pre' : inPre > 0;
      if (isPre && !isStrictPre) return write(data);
      const spaced = isPre ? data : data.replace(/\s+/g, ' ');
      return write(spaced.startsWith(' ') && /\s/.test(last) ? spaced.slice(1) : spaced);
    }
    const name = node.name;
    if (name === undefined) return;
    if (name === 'a' && node.attribs?.href !== undefined) linkUrls.push(node.attribs.href);
    if (UNSEEN.has(name)) unseen++;
    else if (name === 'pre') inPre++;
    if (unseen > 0) return;
    if (name === 'br') write('\n');
    else if (blocks.has(name)) breakLine();
  };
  const leave = (node: TreeNode): void => {
    const name = node.name;
    if (name === undefined) return;
    if (UNSEEN.has(name)) unseen--;
    else if (name === 'pre') inPre--;
    if (unseen > 0) return;
    if (cells.has(name)) write('\t');
    else if (blocks.has(name)) breakLine();
  };

  walk(root as TreeNode | undefined, enter, leave);
  return { text: out.join('').trim(), pieces, linkUrls };
}

function walk(root: TreeNode | undefined, enter: (node: TreeNode) => void, leave: (node: TreeNode) => void): void {
  let node: TreeNode | null | undefined = root;
  while (node) {
    enter(node);
    const child: TreeNode | undefined = node.children?.[0];
    if (child) {
      node = child;
      continue;
    }
    let ended: TreeNode | null = node;
    while (ended) {
      leave(ended);
      if (ended === root) return;
      if (ended.next) break;
      ended = ended.parent;
    }
    node = ended?.next;
  }
}
