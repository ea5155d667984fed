// Formulas: the TeX a page carries for them, in MathML annotations, MathJax scripts or attributes.
// Promise: TeX is handed on unchanged; a formula without TeX is told apart, so that its symbols are kept as text.
import type { PageTree } from '../../parse/tree/tree.js';
import { elementNumber } from '../page/elements.js';

const ANNOTATION = elementNumber('annotation');
const SCRIPT = elementNumber('script');

export interface Formula {
  readonly tex: string;
  /** True for a formula on lines of its own. */
  readonly display: boolean;
}

/** The formula of a `math` or `script` element; `null` when it has no TeX. */
export function formula(tree: PageTree, node: number): Formula | null {
  if (tree.tag[node] === SCRIPT) {
    const type = tree.attribute(node, 'type') ?? '';
    if (!/^\s*math\/tex/i.test(type) || tree.end[node]! <= node + 1) return null;
    const tex = tree.raw(tree.from[node + 1]!, tree.to[node + 1]!).trim();
    return tex === '' ? null : { tex, display: /mode\s*=\s*display/i.test(type) };
  }
  const display = tree.attribute(node, 'display') === 'block';
  for (let at = node + 1; at < tree.end[node]!; at++) {
    if (tree.tag[at] !== ANNOTATION || !/tex/i.test(tree.attribute(at, 'encoding') ?? '')) continue;
    let tex = '';
    for (let k = at + 1; k < tree.end[at]!; k++) tex += tree.decode(tree.from[k]!, tree.to[k]!);
    if (tex.trim() !== '') return { tex: tex.trim(), display };
  }
  const alt = tree.attribute(node, 'alttext')?.trim() ?? '';
  return alt === '' ? null : { tex: alt, display };
}
