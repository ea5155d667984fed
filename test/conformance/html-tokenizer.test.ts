// Runs the published html5lib tokenizer cases over our tokenizer, and the same inputs as whole pages against parse5.
// Comments and doctypes are left out of the comparison: no output of the scanner depends on what they contain.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AttributeList } from '../../src/parse/tokens/attributes.js';
import { ReferenceReader } from '../../src/parse/tokens/entities.js';
import { scanPage } from '../../src/parse/scan/scan.js';
import type { ContentModel, TokenSink } from '../../src/parse/tokens/tokenizer.js';
import { DATA as DATA_MODEL, ESCAPABLE, PLAINTEXT, RAW, SCRIPT, tokenize } from '../../src/parse/tokens/tokenizer.js';
import { ValueDecoder } from '../../src/parse/tokens/values.js';
import { DATA, collapse, treeView } from './parse5-view.js';

const FOLDER = new URL('html5lib-tokenizer/', DATA);
const FILES = (
  'contentModelFlags domjs entities escapeFlag namedEntities numericEntities pendingSpecChanges test1 test2 test3 test4 ' +
  'unicodeChars unicodeCharsProblematic'
).split(' ');
// xmlViolation.test is not run: it describes how a tree is coerced into an XML infoset, which the scanner never does.

interface Case {
  readonly description: string;
  readonly input: string;
  readonly output: readonly Token[];
  readonly initialStates?: readonly string[];
  readonly lastStartTag?: string;
  readonly doubleEscaped?: boolean;
}
type Token =
  | ['StartTag', string, Record<string, string>, true?]
  | ['EndTag', string]
  | ['Character', string]
  | ['Comment' | 'DOCTYPE', ...unknown[]];

const MODELS: Readonly<Record<string, ContentModel>> = {
  'PLAINTEXT state': PLAINTEXT,
  'RCDATA state': ESCAPABLE,
  'RAWTEXT state': RAW,
  'Script data state': SCRIPT,
};

const attributes = new AttributeList();
const values = new ValueDecoder(new ReferenceReader());

/** Text of a range with NULs as they are: the tokenizer passes them on, the tree builder drops them. */
function textOf(bytes: Buffer, from: number, to: number): string {
  const parts: string[] = [];
  for (let at = from; at <= to;) {
    const nul = bytes.indexOf(0, at);
    const stop = nul < 0 || nul > to ? to : nul;
    parts.push(values.decode(bytes, at, stop, false));
    at = stop + 1;
  }
  return parts.join('\0');
}

function rawTextOf(bytes: Buffer, from: number, to: number): string {
  return bytes.toString('utf8', from, to).replace(/\r\n?/g, '\n');
}

function nameOf(bytes: Buffer, from: number, to: number): string {
  return bytes
    .toString('utf8', from, to)
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replaceAll('\0', '\ufffd');
}

/** The scanner's tokens for an input read from the given tokenizer state. */
function tokensOf(input: string, state: string, lastStartTag: string): Token[] {
  const tokens: Token[] = [];
  const model = MODELS[state] ?? DATA_MODEL;
  let started = model === DATA_MODEL;
  const sink: TokenSink = {
    inForeignContent: state === 'CDATA section state',
    readsAttributes: new Uint8Array(256).fill(1),
    text(bytes, from, end) {
      const next = bytes.indexOf('<', from + 1);
      const to = next < 0 ? end : next;
      tokens.push(['Character', textOf(bytes, from, to)]);
      return to;
    },
    space: () => false,
    characterData: (bytes, from, to) => tokens.push(['Character', rawTextOf(bytes, from, to)]),
    startTag(bytes, _tag, nameFrom, nameTo) {
      if (!started) {
        started = true;
        return model;
      }
      const found: Record<string, string> = Object.create(null) as Record<string, string>;
      for (let k = 0; k < attributes.count; k++) {
        const name = nameOf(bytes, attributes.nameFrom(k), attributes.nameTo(k));
        found[name] ??= values.decode(bytes, attributes.valueFrom(k), attributes.valueTo(k), true);
      }
      const name = nameOf(bytes, nameFrom, nameTo);
      tokens.push(attributes.selfClosing ? ['StartTag', name, { ...found }, true] : ['StartTag', name, { ...found }]);
      return DATA_MODEL;
    },
    endTag: (bytes, _tag, nameFrom, nameTo) => tokens.push(['EndTag', nameOf(bytes, nameFrom, nameTo)]),
    content(bytes, from, to, kind) {
      const text = kind === ESCAPABLE ? values.decode(bytes, from, to, false) : rawTextOf(bytes, from, to);
      tokens.push(['Character', text.replaceAll('\0', '\ufffd')]);
    },
    comment: () => undefined,
    declaration: () => undefined,
  };
  const prefix = state === 'CDATA section state' ? '<![CDATA[' : model === DATA_MODEL ? '' : `<${lastStartTag}>`;
  tokenize(Buffer.from(prefix + input), attributes, sink);
  return tokens;
}

/** Only what outputs depend on, with neighbouring text joined. */
function comparable(tokens: readonly Token[]): Token[] {
  const kept: Token[] = [];
  for (const token of tokens) {
    if (token[0] === 'Comment' || token[0] === 'DOCTYPE') continue;
    const last = kept.at(-1);
    if (token[0] === 'Character' && last?.[0] === 'Character') last[1] += token[1];
    else if (token[0] !== 'Character' || token[1] !== '') kept.push([...token] as Token);
  }
  return kept;
}

function unescapeTwice(text: string): string {
  return text.replace(/\\u([0-9A-Fa-f]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function readCases(file: string): Case[] {
  const { tests } = JSON.parse(readFileSync(new URL(`${file}.test`, FOLDER), 'utf8')) as { tests?: Case[] };
  return (tests ?? []).map((entry) => {
    if (!entry.doubleEscaped) return entry;
    const output = JSON.parse(JSON.stringify(entry.output), (_key, value: unknown) =>
      typeof value === 'string' ? unescapeTwice(value) : value,
    ) as Token[];
    return { ...entry, input: unescapeTwice(entry.input), output };
  });
}

/** Bytes cannot carry half a surrogate pair: such an input has no page. */
function isPage(input: string): boolean {
  return Buffer.from(input).toString() === input;
}

/** Inputs whose whole-page comparison says nothing about the scanner's outputs. */
const EXCLUDED_PAGES: readonly { readonly reason: string; applies(input: string): boolean }[] = [
  {
    reason: 'a BOM is removed by decoding, which parse5, given a string, does not do',
    applies: (i) => i[0] === '\ufeff',
  },
];

const present = existsSync(FOLDER);

describe.skipIf(!present)(`html5lib tokenizer cases${present ? '' : ' (skipped: ../shared/data is not here)'}`, () => {
  for (const file of present ? FILES : []) {
    it(`agrees on tags, attributes and text in ${file}.test`, () => {
      const wrong: unknown[] = [];
      let run = 0;
      for (const { description, input, output, initialStates, lastStartTag } of readCases(file)) {
        if (!isPage(input)) continue;
        for (const state of initialStates ?? ['Data state']) {
          // Only `script` puts a page into the script state: an end tag of another name cannot end it.
          if (state === 'Script data state' && lastStartTag !== undefined && lastStartTag !== 'script') continue;
          run++;
          const expected = comparable(output);
          const actual = comparable(tokensOf(input, state, lastStartTag ?? 'no-such-element'));
          if (JSON.stringify(actual) !== JSON.stringify(expected))
            wrong.push({ description, state, input, expected, actual });
        }
      }
      expect(run).toBeGreaterThan(0);
      expect(wrong).toEqual([]);
    });

    it(`gives the text, title and links of a parse5 tree for the inputs of ${file}.test as pages`, () => {
      const wrong: unknown[] = [];
      for (const { input } of readCases(file)) {
        if (!isPage(input) || EXCLUDED_PAGES.some(({ applies }) => applies(input))) continue;
        const url = 'https://example.com/dir/page';
        const scanned = scanPage(Buffer.from(input), { url, contentType: 'text/html; charset=utf-8' });
        const tree = treeView(input, url);
        const actual = [scanned.title, collapse(scanned.text), scanned.links.map((link) => link.url)];
        const expected = [tree.title, tree.text, tree.links.map((link) => link.url)];
        if (JSON.stringify(actual) !== JSON.stringify(expected)) wrong.push({ input, expected, actual });
      }
      expect(wrong).toEqual([]);
    });
  }
});
