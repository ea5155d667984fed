// The element names the scanner knows, and what each means to it: a small number per name, and rules by that number.
// Looking a name up compares words of its bytes; a string is made only of rare long names.
import { LOWER } from '../../base/bytes.js';

/** How text before and after an element is kept apart, weakest first. */
export const NO_BREAK = 0;
export const WORD_BREAK = 1;
export const CELL_BREAK = 2;
export const LINE_BREAK = 3;
export const PARAGRAPH_BREAK = 4;

const BREAKS: Readonly<Record<number, string>> = {
  [CELL_BREAK]: 'td th',
  [LINE_BREAK]:
    'address article aside body button caption center dd details dialog dir div dt fieldset figcaption figure ' +
    'footer form frameset header hgroup html legend li listing main menu nav optgroup option plaintext search ' +
    'section select summary tbody textarea tfoot thead tr xmp',
  [PARAGRAPH_BREAK]: 'blockquote dl h1 h2 h3 h4 h5 h6 hr ol p pre table ul',
};

/** Names with a rule of their own besides those above; `image` is the standard's alias of `img`. */
const OTHERS =
  'a area b base big br code em font i iframe image img input link math meta nobr noembed noframes noscript object applet marquee ' +
  'ruby s script small span strike strong style sub sup svg title template tt u var video audio canvas col colgroup embed frame ' +
  'head rb rp rt rtc wbr keygen param source track basefont bgsound command ' +
  'abbr acronym annotation bdi bdo cite data del dfn ins kbd label mark meter output picture progress q ' +
  'samp semantics slot time mfenced mfrac mover mpadded mphantom mroot mrow mspace msqrt mstyle msub msubsup msup mtable mtd mtr ' +
  'munder munderover ' +
  'annotation-xml desc foreignobject metadata mi mn mo ms mtext mglyph malignmark';

const names: string[] = [''];
const numbers = new Map<string, number>();
/** The break an element makes on both sides, by tag number. */
export const BREAK_OF = new Uint8Array(256);

/** Names up to this length are two words of four bytes, filled with zeros. */
const SHORT_NAME = 8;
/** `annotation-xml`. */
const LONGEST_NAME = 14;
const SLOTS = 1024;
/** Open addressing from the two words of a short name to its tag number. */
const slots = new Uint8Array(SLOTS);
const LOW = new Int32Array(256);
const HIGH = new Int32Array(256);
/** Keep the bytes of a name that is this long. */
const LOW_MASK = new Int32Array([0, 0xff, 0xffff, 0xffffff, -1, -1, -1, -1, -1]);
const HIGH_MASK = new Int32Array([0, 0, 0, 0, 0, 0xff, 0xffff, 0xffffff, -1]);

/** Adds 0x20 to bytes from 0x40 on: of all bytes only the letters become a lower-case letter. */
function lowerCase(word: number): number {
  return word | ((word & 0x40404040) >> 1);
}

function slotOf(low: number, high: number): number {
  const mixed = Math.imul(low, 0x9e3779b1) ^ Math.imul(high, 0x85ebca6b);
  return (mixed >>> 22) & (SLOTS - 1);
}

function register(name: string): number {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  const tag = names.push(name) - 1;
  numbers.set(name, tag);
  if (name.length > SHORT_NAME) return tag;
  const bytes = Buffer.alloc(SHORT_NAME);
  bytes.write(name, 'latin1');
  LOW[tag] = bytes.readInt32LE(0);
  HIGH[tag] = bytes.readInt32LE(4);
  let slot = slotOf(LOW[tag], HIGH[tag]);
  while (slots[slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
  slots[slot] = tag;
  return tag;
}

for (const [level, list] of Object.entries(BREAKS)) {
  for (const name of list.split(' ')) BREAK_OF[register(name)] = Number(level);
}
OTHERS.split(' ').forEach(register);

/** The number of a known name; 0 stands for every other. */
export function tagNumber(name: string): number {
  const known = numbers.get(name);
  if (known === undefined) throw new RangeError(`the scanner has no rule for <${name}>`);
  return known;
}

/** The (lower-case) name of a tag number. */
export function tagName(tag: number): string {
  return names[tag]!;
}

/** A table of flags by tag number. */
export function tagSet(list: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const name of list.split(' ')) set[tagNumber(name)] = 1;
  return set;
}

/**
 * The number of the tag name in `bytes[from, to)`, in any case; 0 when the scanner has no rule for it.
 * Names of up to eight bytes are compared as two words.
 */
export function lookUpTag(bytes: Uint8Array, words: DataView, from: number, to: number): number {
  const length = to - from;
  if (length > SHORT_NAME || from + SHORT_NAME > words.byteLength) return lookUpBytes(bytes, from, to);
  const low = lowerCase(words.getInt32(from, true) & LOW_MASK[length]!);
  const high = length > 4 ? lowerCase(words.getInt32(from + 4, true) & HIGH_MASK[length]!) : 0;
  for (let slot = slotOf(low, high); ; slot = (slot + 1) & (SLOTS - 1)) {
    const tag = slots[slot]!;
    if (tag === 0 || (LOW[tag] === low && HIGH[tag] === high)) return tag;
  }
}

/** The lookup for long names and for the last bytes of a page, where no two words are left to read. */
function lookUpBytes(bytes: Uint8Array, from: number, to: number): number {
  const length = to - from;
  if (length > LONGEST_NAME) return 0;
  let name = '';
  for (let k = from; k < to; k++) name += String.fromCharCode(LOWER[bytes[k]!]!);
  return numbers.get(name) ?? 0;
}
