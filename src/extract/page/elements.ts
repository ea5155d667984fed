// The elements that extraction tells apart, each with a number: the tree's `tag` column counts in this list.
// Promise: numbers are fixed at load; 0 stands for every other element, custom ones included.

/** Names in the order of their numbers; the tree reader is given this list. */
export const ELEMENTS: readonly string[] = (
  '#other #text #raw a abbr acronym address annotation applet area article aside audio b base bdi bdo big blockquote body br ' +
  'button canvas caption center cite code col colgroup data dd del details dfn dialog dir div dl dt em embed fieldset ' +
  'figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe image img input ins ' +
  'kbd label legend li link listing main mark marquee math menu meta meter mi mn mo ms mtext nav nobr noembed noframes noscript ' +
  'object ol optgroup option output p param picture plaintext pre progress q rb rp rt rtc ruby s samp script search section ' +
  'select semantics slot small source span strike strong style sub summary sup svg table tbody td template textarea tfoot th ' +
  'thead time title tr track tt u ul var video wbr xmp mfrac mover mroot mrow msqrt msub msubsup msup mtable mtd mtr munder ' +
  'munderover'
).split(' ');

const numbers = new Map(ELEMENTS.map((name, number) => [name, number]));

/** The number of a listed name. */
export function elementNumber(name: string): number {
  const number = numbers.get(name);
  if (number === undefined) throw new RangeError(`<${name}> is not in the list of elements`);
  return number;
}

/** A table of flags by element number. */
export function elementSet(list: string): Uint8Array {
  const set = new Uint8Array(256);
  for (const name of list.split(' ')) set[elementNumber(name)] = 1;
  return set;
}

export const TEXT = elementNumber('#text');
export const RAW = elementNumber('#raw');

/** Longer start tags hold data; reading them again for each element within would cost the square of the page. */
const MAX_TAG_BYTES = 4_096;

/** Whether an element's start tag is too long to be read for what stands within it. */
export function hasLongTag(
  { from, to }: { readonly from: Int32Array; readonly to: Int32Array },
  node: number,
): boolean {
  return to[node]! - from[node]! > MAX_TAG_BYTES;
}
