// Counts what a run of text is made of, from its UTF-8 bytes: words, digits, sentence ends, capital letters.
// Promise: one pass, no strings; the counters add up over the runs of a block.
import { phraseTable } from './phrases.js';
import { WORD_SEED, mixLetter } from './word-table.js';

/** Counters of the block being read. */
export class TextStats {
  /** Visible characters. */
  chars = 0;
  words = 0;
  digits = 0;
  /** Words that begin with a capital letter. */
  capitals = 0;
  commas = 0;
  /** Full stops, question and exclamation marks that end a word. */
  sentences = 0;
  currency = 0;
  /** Bars, bullets and arrows: what separates the parts of furniture. */
  separators = 0;
  copyright = 0;
  /** Of the text without white space, case and digits aside. */
  hash = 0;
  first = 0;
  last = 0;
  /** Bits of the categories of phrases met. */
  phrases = 0;
  #word = WORD_SEED;
  #inWord = false;

  reset(): void {
    this.chars = this.words = this.digits = this.capitals = this.commas = this.sentences = 0;
    this.currency = this.separators = this.copyright = 0;
    this.hash = 17;
    this.first = this.last = this.phrases = 0;
    this.#word = WORD_SEED;
    this.#inWord = false;
  }

  /** Ends the word that is being read: an element boundary with space, a line break. */
  breakWord(): void {
    if (this.#inWord) this.#endWord();
  }

  #endWord(): void {
    this.#inWord = false;
    const category = phraseTable.find(this.#word);
    if (category >= 0) this.phrases |= 1 << category;
    this.#word = WORD_SEED;
    if (this.last === 0x2e || this.last === 0x21 || this.last === 0x3f) this.sentences++;
  }

  add(bytes: Uint8Array, from: number, to: number): void {
    let { chars, words, digits, capitals, commas, hash, last } = this;
    let inWord = this.#inWord;
    let word = this.#word;
    for (let k = from; k < to; k++) {
      const byte = bytes[k]!;
      if (byte <= 0x20 || (byte === 0xc2 && bytes[k + 1] === 0xa0)) {
        if (byte === 0xc2) k++;
        if (inWord) {
          inWord = false;
          const category = phraseTable.find(word);
          if (category >= 0) this.phrases |= 1 << category;
          word = WORD_SEED;
          if (last === 0x2e || last === 0x21 || last === 0x3f) this.sentences++;
        }
        continue;
      }
      if (byte >= 0x80 && byte < 0xc0) continue;
      chars++;
      if (!inWord) {
        inWord = true;
        words++;
        if (byte >= 0x41 && byte <= 0x5a) capitals++;
        if (this.first === 0) this.first = byte;
      }
      if (byte < 0x80) {
        if (byte >= 0x61) {
          hash = (Math.imul(hash, 31) + byte) | 0;
          word = mixLetter(word, byte);
        } else if (byte >= 0x41 && byte <= 0x5a) {
          hash = (Math.imul(hash, 31) + byte + 32) | 0;
          word = mixLetter(word, byte | 0x20);
        } else if (byte >= 0x30 && byte <= 0x39) digits++;
        else if (byte === 0x2c) commas++;
        else if (byte === 0x24) this.currency++;
        if (byte === 0x7c) this.separators++;
      } else {
        hash = (Math.imul(hash, 31) + byte * 256 + bytes[k + 1]!) | 0;
        if (byte === 0xc2) {
          const next = bytes[k + 1]!;
          if (next === 0xa9) this.copyright++;
          else if (next === 0xa3 || next === 0xa5) this.currency++;
          else if (next === 0xb7 || next === 0xbb) this.separators++;
        } else if (byte === 0xe2) {
          const next = bytes[k + 1]!;
          const third = bytes[k + 2]!;
          if (next === 0x82 && third >= 0xa0) this.currency++;
          else if ((next === 0x80 && (third === 0xa2 || third === 0xba)) || next === 0x86 || next === 0x96)
            this.separators++;
        } else if (byte >= 0xe3 && byte <= 0xe9) {
          // Chinese and Japanese have no spaces: two characters count as a word.
          if (chars % 2 === 0) words++;
          if (byte === 0xe3 && bytes[k + 1] === 0x80 && bytes[k + 2] === 0x82) this.sentences++;
          if (byte === 0xe3 && bytes[k + 1] === 0x80 && bytes[k + 2] === 0x81) commas++;
        } else if (byte === 0xef && bytes[k + 1] === 0xbc && bytes[k + 2] === 0x8c) {
          commas++;
        }
      }
      last = byte;
    }
    this.chars = chars;
    this.words = words;
    this.digits = digits;
    this.capitals = capitals;
    this.commas = commas;
    this.hash = hash;
    this.last = last;
    this.#inWord = inWord;
    this.#word = word;
  }
}
