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
  /** All white space is one blank, line breaks and tabs included. */
  readonly isOneLine?: boolean;
}

const RULES: TextRules = { blocks: BLOCKS, cells: new Set(['td', 'th']), isStrictPre: false };
const ONE_LINE: TextRules = { ...RULES, isOneLine: true };

export function readableText(root: unknown, rules = RULES): ReadableText {
  const pieces: string[] = [];
  const linkUrls: string[] = [];
  const reading = new Reading(rules, pieces, linkUrls);
  walk(root as TreeNode | undefined, reading);
  return { text: reading.text.trim(), pieces, linkUrls };
}

/** The text in one line, without the lists, which would cost most where many small elements are read one by one. */
export function readableLine(root: unknown): string {
  const reading = new Reading(ONE_LINE);
  walk(root as TreeNode | undefined, reading);
  return reading.text.trim();
}

/**
 * `readableLine` of any node below a root, from one walk: elements in elements would be walked through again and again.
 * `placeOf` tells a node's place among `count`.
 */
export function readableLines(
  root: unknown,
  count: number,
  placeOf: (node: TreeNode) => number,
): (node: unknown) => string {
  const reading = new Reading(ONE_LINE);
  const [starts, ends] = [new Int32Array(count), new Int32Array(count)];
  walk(root as TreeNode | undefined, {
    enter(node) {
      // What is in an element that is not shown has a text of its own all the same.
      starts[placeOf(node)] = reading.isSeen ? reading.text.length : APART;
      reading.enter(node);
    },
    leave(node) {
      reading.leave(node);
      ends[placeOf(node)] = reading.text.length;
    },
  });
  return (node) => {
    const place = placeOf(node as TreeNode);
    const start = starts[place]!;
    return start === APART ? readableLine(node) : reading.text.slice(start, ends[place]).trim();
  };
}

const APART = -1;

class Reading {
  readonly #rules: TextRules;
  readonly #pieces: string[] | undefined;
  readonly #linkUrls: string[] | undefined;
  text = '';
  // The last character written decides whether a space or a line break is due.
  #last = '\n';
  #unseen = 0;
  #inPre = 0;

  constructor(rules: TextRules, pieces?: string[], linkUrls?: string[]) {
    this.#rules = rules;
    this.#pieces = pieces;
    this.#linkUrls = linkUrls;
  }

  get isSeen(): boolean {
    return this.#unseen === 0;
  }

  enter(node: TreeNode): void {
    if (node.type === 'text') return this.#enterText(node);
    const name = node.name;
    if (name === undefined) return;
    if (name === 'a' && node.attribs?.href !== undefined) this.#linkUrls?.push(node.attribs.href);
    if (UNSEEN.has(name)) this.#unseen++;
    else if (name === 'pre') this.#inPre++;
    if (this.#unseen > 0) return;
    if (name === 'br') this.#write('\n');
    else if (this.#rules.blocks.has(name)) this.#breakLine();
  }

  leave(node: TreeNode): void {
    const name = node.name;
    if (name === undefined) return;
    if (UNSEEN.has(name)) this.#unseen--;
    else if (name === 'pre') this.#inPre--;
    if (this.#unseen > 0) return;
    if (this.#rules.cells.has(name)) this.#write('\t');
    else if (this.#rules.blocks.has(name)) this.#breakLine();
  }

  #enterText(node: TreeNode): void {
    const data = node.data ?? '';
    if (this.#pieces !== undefined) {
      const piece = data.trim();
      if (piece !== '') this.#pieces.push(piece);
    }
    if (this.#unseen > 0) return;
    const { isStrictPre, isOneLine } = this.#rules;
    if (isOneLine) return this.#write(data);
    const isPre = isStrictPre ? node.parent?.name === 'pre' : this.#inPre > 0;
    if (isPre && !isStrictPre) return this.#write(data);
    const spaced = isPre ? data : data.replace(/\s+/g, ' ');
    this.#write(spaced.startsWith(' ') && /\s/.test(this.#last) ? spaced.slice(1) : spaced);
  }

  #write(given: string): void {
    const text = this.#rules.isOneLine ? this.#inLine(given) : given;
    if (text === '') return;
    this.text += text;
    this.#last = text.charAt(text.length - 1);
  }

  #inLine(given: string): string {
    const text = given.replace(/\s+/g, ' ');
    return text.startsWith(' ') && /\s/.test(this.#last) ? text.slice(1) : text;
  }

  #breakLine(): void {
    if (this.#last !== '\n') this.#write('\n');
  }
}

interface Walker {
  enter(node: TreeNode): void;
  leave(node: TreeNode): void;
}

function walk(root: TreeNode | undefined, reading: Walker): void {
  let node: TreeNode | null | undefined = root;
  while (node) {
    reading.enter(node);
    const child: TreeNode | undefined = node.children?.[0];
    if (child) {
      node = child;
      continue;
    }
    let ended: TreeNode | null = node;
    while (ended) {
      reading.leave(ended);
      if (ended === root) return;
      if (ended.next) break;
      ended = ended.parent;
    }
    node = ended?.next;
  }
}
