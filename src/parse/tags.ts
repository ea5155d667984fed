// The element names the scanner knows, and what each means to it: a small number per name, and rules by that number.
// Looking a name up hashes its bytes; no string is made.
import { LOWER } from './bytes.js';

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
const SLOTS = 1024;
const slots = new Uint8Array(SLOTS);
const nameBytes: Uint8Array[] = [new Uint8Array(0)];
/** The break an element makes on both sides, by tag number. */
export const BREAK_OF = new Uint8Array(256);

/** Adds one byte of a name to its hash. */
export function hashTagByte(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + LOWER[byte]!) | 0;
}

function register(name: string): number {
  const known = names.indexOf(name);
  if (known > 0) return known;
  const bytes = Buffer.from(name, 'latin1');
  let hash = 0;
  for (const byte of bytes) hash = hashTagByte(hash, byte);
  let slot = (hash ^ (hash >>> 11)) & (SLOTS - 1);
  while (slots[slot] !== 0) slot = (slot + 1) & (SLOTS - 1);
  slots[slot] = names.length;
  nameBytes.push(bytes);
  return names.push(name) - 1;
}

for (const [level, list] of Object.entries(BREAKS)) {
  for (const name of list.split(' ')) BREAK_OF[register(name)] = Number(level);
}
OTHERS.split(' ').forEach(register);

/** The number of a known name; 0 stands for every other. */
export function tagNumber(name: string): number {
  const known = names.indexOf(name);
  if (known <= 0) throw new RangeError(`the scanner has no rule for <${name}>`);
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

/** The number of the tag name in `bytes[from, to)`, in any case; 0 when the scanner has no rule for it. */
export function lookUpTag(bytes: Uint8Array, from: number, to: number, hash: number): number {
  const length = to - from;
  for (let slot = (hash ^ (hash >>> 11)) & (SLOTS - 1); ; slot = (slot + 1) & (SLOTS - 1)) {
    const tag = slots[slot]!;
    if (tag === 0) return 0;
    const name = nameBytes[tag]!;
    if (name.length !== length) continue;
    let k = 0;
    while (k < length && name[k] === LOWER[bytes[from + k]!]) k++;
    if (k === length) return tag;
  }
}
