// Skipping a tag's attributes ends where reading them does, and the words of a page say what its bytes say.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AttributeList } from './attributes.js';
import { CLASS, MAY_END_NAME } from '../../base/bytes.js';
import { lookUpTag, tagName } from './tags.js';
import { marksOfMarkup, marksOfSpaces, seekAngle, seekNameEnd, wordsOf } from '../words.js';

const piece = fc.constantFrom(
  ...[
    ' ',
    '\n',
    '/',
    '>',
    '=',
    '"',
    "'",
    '<',
    '?',
    'a',
    'class',
    'data-x',
    'href="x"',
    "id='y'",
    'b=c',
    'é',
    '\0',
    '\x1f',
  ],
);
const insideTag = fc.array(piece, { maxLength: 20 }).map((pieces) => Buffer.from(pieces.join('')));
const anyBytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));

describe('AttributeList.skip', () => {
  it('ends a tag where read ends it, with the same word on self-closing', () => {
    const read = new AttributeList();
    const skipped = new AttributeList();
    fc.assert(
      fc.property(fc.oneof(insideTag, anyBytes), (bytes) => {
        const page = Buffer.concat([Buffer.from('<x '), bytes]);
        const end = read.read(page, wordsOf(page), 2, page.length);
        expect(skipped.skip(page, wordsOf(page), 2, page.length)).toBe(end);
        if (end >= 0) expect(skipped.selfClosing).toBe(read.selfClosing);
      }),
      { numRuns: 10_000 },
    );
  });
});

describe('looking at four bytes at a time', () => {
  const any = fc.oneof(anyBytes, insideTag);

  it('finds what a loop over bytes finds', () => {
    fc.assert(
      fc.property(any, fc.nat(8), (bytes, from) => {
        const words = wordsOf(bytes);
        const start = Math.min(from, bytes.length);
        const first = (matches: (byte: number) => boolean): number => {
          const found = bytes.subarray(start).findIndex(matches);
          return found < 0 ? bytes.length : start + found;
        };
        expect(seekNameEnd(bytes, words, start, bytes.length)).toBe(first((b) => (CLASS[b]! & MAY_END_NAME) !== 0));
        expect(seekAngle(bytes, words, start, bytes.length)).toBe(first((b) => b >= 0x3c && b <= 0x3f));
      }),
    );
  });

  it('marks a word exactly when one of its bytes matches', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 4, maxLength: 4 }), (bytes) => {
        const word = wordsOf(bytes).getInt32(0, true);
        expect(marksOfMarkup(word) !== 0).toBe(bytes.some((byte) => byte < 0x20 || byte === 0x3c || byte === 0x26));
        expect(marksOfSpaces(word) !== 0).toBe(bytes.includes(0x20));
      }),
      { numRuns: 5000 },
    );
  });
});

describe('lookUpTag', () => {
  const page = (name: string): Buffer => Buffer.from(`<${name}>`);
  const look = (bytes: Buffer): number => lookUpTag(bytes, wordsOf(bytes), 1, bytes.length - 1);

  it('knows every name in any case, also at the very end of a page', () => {
    for (let tag = 1; tag < 256 && tagName(tag) !== undefined; tag++) {
      const name = tagName(tag);
      for (const written of [name, name.toUpperCase(), name[0]!.toUpperCase() + name.slice(1)]) {
        expect(look(page(written))).toBe(tag);
        const padded = Buffer.concat([page(written), Buffer.from(' and more of the page')]);
        expect(lookUpTag(padded, wordsOf(padded), 1, 1 + name.length)).toBe(tag);
      }
    }
  });

  it('takes nothing else for a name it knows', () => {
    const near = [
      'h\x11',
      'H7',
      'div-',
      'di',
      'divv',
      'd\x09v',
      '\x01',
      'scripts',
      'scrip',
      'blockquot',
      'AnnotationXml',
    ];
    for (const name of near) {
      expect(look(page(name))).toBe(0);
      const padded = Buffer.concat([page(name), Buffer.alloc(9)]);
      expect(lookUpTag(padded, wordsOf(padded), 1, 1 + name.length)).toBe(0);
    }
  });
});
