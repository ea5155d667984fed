// What the words of names above a block add up to.
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { viewPage } from '../../crawl/page/extraction.js';
import { PAGE_KINDS } from './context-features.js';
import { BANDS, NAME_COLUMNS, nameLogits, unpackNames } from './names.js';
import { WORD_SEED, mixLetter } from '../page/word-table.js';

const hashOf = (word: string): number =>
  [...word].reduce((hash, letter) => mixLetter(hash, letter.charCodeAt(0)), WORD_SEED);

/** Weights in the packed form: a unit of 1, a base of 10, and for each word its weights near, in the middle and far up. */
function pack(words: Record<string, readonly number[]>, kind = 0): Buffer {
  const list = Object.entries(words);
  const head = Buffer.alloc(8 + NAME_COLUMNS * 4 + list.length * 4);
  head.writeUInt32LE(list.length, 0);
  head.writeFloatLE(1, 4);
  head.writeFloatLE(10, 8);
  list.forEach(([word], k) => head.writeInt32LE(hashOf(word), 8 + NAME_COLUMNS * 4 + k * 4));
  const body = new Int8Array(list.length * BANDS * NAME_COLUMNS);
  list.forEach(([, weights], row) =>
    weights.forEach((weight, band) => {
      body[(row * BANDS + band) * NAME_COLUMNS + kind] = weight;
    }),
  );
  return deflateSync(Buffer.concat([head, Buffer.from(body.buffer)]));
}

function logits(html: string, packed: Buffer, kinds = new Float32Array(PAGE_KINDS.length)): number[] {
  return [...nameLogits(viewPage(html).segments, kinds, unpackNames(packed))];
}

describe('nameLogits', () => {
  it('weighs a word by how far above the block it stands', () => {
    const packed = pack({ story: [1, 2, 4] });
    expect(logits('<p class="story">x</p>', packed)).toEqual([11]);
    expect(logits('<div class="story"><p>x</p></div>', packed)).toEqual([11]);
    expect(logits('<div class="story"><div><p>x</p></div></div>', packed)).toEqual([12]);
    expect(logits('<div class="story"><div><div><div><div><p>x</p></div></div></div></div></div>', packed)).toEqual([
      14,
    ]);
  });

  it('adds up the words of classes, ids and roles, each as often as it is there', () => {
    const packed = pack({ story: [1, 0, 0], body: [3, 0, 0] });
    expect(logits('<p class="story-body unknown" id="mainStory">x</p><p>y</p>', packed)).toEqual([15, 10]);
  });

  it('counts what is learned of a kind as far as the page is of that kind', () => {
    const packed = pack({ price: [8, 0, 0] }, 1 + PAGE_KINDS.indexOf('product'));
    const kinds = new Float32Array(PAGE_KINDS.length);
    kinds[PAGE_KINDS.indexOf('product')] = 0.25;
    expect(logits('<p class="price">x</p>', packed, kinds)).toEqual([12]);
  });

  it('gives nothing but the base for a page without names, and nothing for an empty one', () => {
    expect(logits('<p>x</p><p>y</p>', pack({ story: [1, 1, 1] }))).toEqual([10, 10]);
    expect(logits('', pack({}))).toEqual([]);
  });
});
