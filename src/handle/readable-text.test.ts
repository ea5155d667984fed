import fc from 'fast-check';
import { expect, it } from 'vitest';
import { loadDocument } from './document.js';
import { readableLines, readableText, type TreeNode } from './readable-text.js';
import { eachNode } from './tree-edits.js';

const NAMES = ['p', 'b', 'td', 'pre', 'ul', 'li', 'br', 'svg', 'noscript', 'template', 'script', 'head', 'a'];
const piece = fc.oneof(
  fc.constantFrom(...NAMES).map((name) => `<${name}>`),
  fc.constantFrom(...NAMES).map((name) => `</${name}>`),
  fc.constantFrom(' ', '\n', '\t', '\u00a0', 'word', ' two words ', 'x\n  y', '<!-- no -->', '<table><tr>'),
);

it('the line of every node is its text, whatever is around it', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const root = loadDocument(pieces.join('')).root()[0]!;
      const places = new Map<unknown, number>();
      eachNode(root, (node) => {
        places.set(node, places.size);
        return true;
      });
      const lineOf = readableLines(root, places.size, (node: TreeNode) => places.get(node)!);
      for (const node of places.keys()) {
        expect(lineOf(node)).toBe(readableText(node).text.replace(/\s+/g, ' ').trim());
      }
    }),
    { numRuns: 500 },
  );
});
