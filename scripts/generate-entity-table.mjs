// Writes src/parse/tokens/entities.txt: every named character reference of the HTML standard, one per line.
// Walks the decode trie of the `entities` package (a dependency of our dependencies), so nothing is typed by hand.
// Run: node scripts/generate-entity-table.mjs
import { writeFileSync } from 'node:fs';
import { BinTrieFlags, decodeHTML, determineBranch, htmlDecodeTree } from 'entities/lib/decode.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789;';
const names = [];

function walk(node, prefix) {
  for (const char of ALPHABET) {
    const header = htmlDecodeTree[node];
    const valueLength = (header & BinTrieFlags.VALUE_LENGTH) >> 14;
    const next = determineBranch(htmlDecodeTree, header, node + Math.max(1, valueLength), char.charCodeAt(0));
    if (next < 0) continue;
    const name = prefix + char;
    if ((htmlDecodeTree[next] & BinTrieFlags.VALUE_LENGTH) !== 0) names.push(name);
    // A node that carries only a one-unit value has no branches: the value occupies the header itself.
    if (!name.endsWith(';')) walk(next, name);
  }
}
walk(0, '');

const withSemicolon = names.filter((name) => name.endsWith(';'));
const bare = new Set(names.filter((name) => !name.endsWith(';')));
if (names.length !== 2231 || bare.size !== 106) {
  throw new Error(`expected 2231 names of which 106 without semicolon, got ${names.length} and ${bare.size}`);
}
const lines = withSemicolon.map((name) => {
  const points = [...decodeHTML(`&${name}`)].map((c) => c.codePointAt(0).toString(16));
  return [bare.has(name.slice(0, -1)) ? name.slice(0, -1) : name, ...points].join(' ');
});
writeFileSync(new URL('../src/parse/tokens/entities.txt', import.meta.url), `${lines.join('\n')}\n`);
