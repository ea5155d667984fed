// Edits of a cheerio document that touch many nodes: each takes one walk, where cheerio's own search a parent's children
// for every node. Promise: linear in the document, whatever its shape.

/** What is needed of a node; every cheerio (domhandler) node fits. */
export interface EditedNode {
  readonly type: string;
  parent: EditedNode | null;
  prev: EditedNode | null;
  next: EditedNode | null;
  readonly children?: EditedNode[];
}

/** Takes nodes out of their parents. */
export function removeNodes(nodes: Iterable<unknown>): void {
  const gone = new Set(nodes as Iterable<EditedNode>);
  const parents = new Set<EditedNode>();
  for (const { parent } of gone) if (parent !== null) parents.add(parent);
  for (const parent of parents) keepChildren(parent, (child) => !gone.has(child));
}

/** Leaves of a node's children those that `isKept` says. */
export function keepChildren(parent: EditedNode, isKept: (child: EditedNode) => boolean): void {
  const children = parent.children;
  if (children === undefined) return;
  let kept = 0;
  let prev: EditedNode | null = null;
  for (const child of children) {
    if (isKept(child)) {
      children[kept++] = child;
      child.prev = prev;
      if (prev !== null) prev.next = child;
      prev = child;
    } else {
      child.parent = child.prev = child.next = null;
    }
  }
  if (prev !== null) prev.next = null;
  children.length = kept;
}

/** Every node under `root`, in the order of the document; `enter` says whether to go on below it. */
export function eachNode(root: unknown, enter: (node: EditedNode) => boolean): void {
  const waiting = [root as EditedNode];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (!enter(node) || node.children === undefined) continue;
    for (let at = node.children.length - 1; at >= 0; at--) waiting.push(node.children[at]!);
  }
}

/** Of these nodes those under `root` that are in no other of them, in the order of the document. */
export function outermost<Node>(root: unknown, nodes: ReadonlySet<Node>): Node[] {
  const found: EditedNode[] = [];
  eachNode(root, (node) => {
    if (!nodes.has(node as Node)) return true;
    found.push(node);
    return false;
  });
  return found as Node[];
}
