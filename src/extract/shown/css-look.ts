// What a set of CSS declarations does to the text of an element: hides it, or shows it again.
// Promise: only declarations that settle it by themselves count; what another sheet may change is taken as shown.

/** Why a reader cannot see a text. */
export type HiddenReason =
  | 'attribute'
  | 'aria-hidden'
  | 'display'
  | 'visibility'
  | 'opacity'
  | 'size'
  | 'colour'
  | 'position'
  | 'clip'
  | 'characters';

/** Declared values by property, in lower case. */
export type Declarations = ReadonlyMap<string, string>;

/** The properties that are read; all others are skipped. */
const READ =
  /(?:^|[;{\s])(display|visibility|opacity|font-size|position|left|right|top|bottom|text-indent|clip|clip-path|width|height|max-width|max-height|overflow|color|background|background-color|background-clip|-webkit-background-clip|transform|transition|transition-property|animation|animation-name|will-change)\s*:([^;}]{0,200})/gi;

/** Whether a text can hide anything: most declarations cannot, and are not read further. */
export const MAY_HIDE =
  /none|hidden|collapse|opacity\s*:\s*0?\.?0|font(?:-size)?\s*:\s*[01.]|-\d{3}|clip|transparent|scale|(?:height|width)\s*:\s*[01](?:px|;|\s|$|}|!)|#|rgb|white|color/i;

/** Reads declarations; `important` ones win over those that stand in `into` already. */
export function readDeclarations(css: string, into = new Map<string, string>()): Map<string, string> {
  for (const [, name, value] of css.matchAll(READ)) {
    const property = name!.toLowerCase();
    const text = value!.trim().toLowerCase();
    if (text !== '') declare(property === 'background-color' ? 'background' : property, text, into);
  }
  return into;
}

/** Adds declarations that were read before, by the same rule. */
export function mergeDeclarations(declarations: Declarations, into: Map<string, string>): void {
  for (const [property, value] of declarations) declare(property, value, into);
}

function declare(property: string, value: string, into: Map<string, string>): void {
  if (!/!\s*important$/.test(value) && /!\s*important$/.test(into.get(property) ?? '')) return;
  into.set(property, value);
}

/** A value without `!important`. */
function withoutMark(value = ''): string {
  const at = value.lastIndexOf('!');
  return at >= 0 && value.slice(at + 1).trim() === 'important' ? value.slice(0, at).trimEnd() : value;
}

/** Inherited, so that an element within may show itself again. */
export const CAN_SHOW_AGAIN: ReadonlySet<HiddenReason> = new Set(['visibility', 'size', 'colour']);

/** A length in pixels; NaN for what depends on others. */
function pixels(value: string): number {
  const found = /^(-?(?:\d+(?:\.\d+)?|\.\d+))(px|pt|em|rem|vw|vh|ch|ex|%)?$/.exec(value);
  if (found === null) return Number.NaN;
  const size = Number(found[1]);
  switch (found[2] ?? 'px') {
    case 'em':
    case 'rem':
      return size * 16;
    case 'vw':
    case 'vh':
      return size * 10;
    case '%':
      return size === 0 ? 0 : Number.NaN;
    default:
      return size;
  }
}

const FAR_AWAY = -500;
const TINY = 2;
/** Effects that let a text appear later. */
const APPEARS = /transition|animation|will-change/;

/** Why these declarations hide a text, colours aside; `null` if they do not. */
export function hidingReason(look: Declarations): HiddenReason | null {
  const get = (name: string): string => withoutMark(look.get(name));
  if (get('display') === 'none') return 'display';
  if (/^(?:hidden|collapse)$/.test(get('visibility'))) return 'visibility';
  if (/^0?\.?0+%?$/.test(get('opacity')) && !mayAppear(look)) return 'opacity';
  if (pixels(get('font-size')) < TINY) return 'size';
  if (/scale\(0?\.?0*[,)]/.test(get('transform').replaceAll(/\s/g, '')) && !mayAppear(look)) return 'size';
  if (pixels(get('text-indent')) <= FAR_AWAY) return 'position';
  if (/^(?:absolute|fixed)$/.test(get('position'))) {
    for (const side of ['left', 'right', 'top', 'bottom']) if (pixels(get(side)) <= FAR_AWAY) return 'position';
    const clip = get('clip').replaceAll(/[\s,]+/g, ' ');
    if (/rect\( ?0?1?(?:px)? 0?1?(?:px)? 0?1?(?:px)? 0?1?(?:px)? ?\)/.test(clip)) return 'clip';
  }
  if (/translate[xy]?\(\s*-\d{4,}px/.test(get('transform'))) return 'position';
  if (/inset\(\s*(?:50|100)%/.test(get('clip-path')) || /circle\(\s*0/.test(get('clip-path'))) return 'clip';
  if (/^(?:hidden|clip)/.test(get('overflow'))) {
    const small = (name: string): boolean => pixels(get(name)) <= 1;
    if (small('height') || small('max-height') || (small('width') && !mayAppear(look))) return 'clip';
  }
  return null;
}

/** An entrance: what is transparent now is moved or faded in by a script. */
export function mayAppear(look: Declarations): boolean {
  for (const name of look.keys()) if (APPEARS.test(name) && withoutMark(look.get(name)) !== 'none') return true;
  return look.has('opacity') && look.has('transform');
}

/** Whether the declarations make a text visible again that is hidden around them for this reason. */
export function showsAgain(look: Declarations, reason: HiddenReason): boolean {
  if (reason === 'visibility') return withoutMark(look.get('visibility')) === 'visible';
  if (reason === 'size')
    return pixels(withoutMark(look.get('font-size'))) >= TINY || look.get('font-size')?.includes('rem') === true;
  return look.has('color') || look.has('background');
}

/** Red, green, blue; `'clear'` when nothing is painted, `null` if unknown. */
export type Colour = readonly [number, number, number] | 'clear' | null;

const NAMED: Readonly<Record<string, Colour>> = {
  white: [255, 255, 255],
  black: [0, 0, 0],
  transparent: 'clear',
  snow: [255, 250, 250],
  ivory: [255, 255, 240],
  whitesmoke: [245, 245, 245],
  ghostwhite: [248, 248, 255],
  red: [255, 0, 0],
  yellow: [255, 255, 0],
  blue: [0, 0, 255],
  gray: [128, 128, 128],
  grey: [128, 128, 128],
  silver: [192, 192, 192],
};

/** The colour of a value of `color` or `background`. */
export function colourOf(declared: string | undefined): Colour | undefined {
  if (declared === undefined) return undefined;
  const value = withoutMark(declared);
  if (/url\(|gradient|var\(|inherit|currentcolor/.test(value)) return null;
  const hex = /#([0-9a-f]{3,8})(?![0-9a-f])/.exec(value)?.[1];
  if (hex !== undefined) {
    const short = hex.length < 6;
    const part = (k: number): number => Number.parseInt(short ? hex[k]!.repeat(2) : hex.slice(k * 2, k * 2 + 2), 16);
    if ((hex.length === 4 || hex.length === 8) && part(3) === 0) return 'clear';
    return hex.length === 5 || hex.length === 7 ? null : [part(0), part(1), part(2)];
  }
  const rgb = /rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})(?:[\s,/]+([\d.]+)(%?))?\s*\)/.exec(value);
  if (rgb !== null) return Number(rgb[4] ?? 1) === 0 ? 'clear' : [Number(rgb[1]), Number(rgb[2]), Number(rgb[3])];
  for (const word of value.split(/\s+/)) if (word in NAMED) return NAMED[word]!;
  return value === 'none' ? 'clear' : null;
}

/** An invisible difference. */
const SAME = 10;

export function isSameColour(one: Colour, other: Colour): boolean {
  return Array.isArray(one) && Array.isArray(other) && one.every((part, k) => Math.abs(part - other[k]!) <= SAME);
}
