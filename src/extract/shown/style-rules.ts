// The simple rules of a page's own style sheets: those that hide an element by its name, class or id.
// Promise: linear in the sheets, bounded per element; where a rule may show what another hides, it is shown.
import { limitReached, LIMITS } from '../../limits.js';
import type { PageTree } from '../../parse/tree/tree.js';
import { RAW, TEXT, elementNumber } from '../page/elements.js';
import { hidingReason, mergeDeclarations, readDeclarations } from './css-look.js';
import { WORD_SEED, mixLetter } from '../page/word-table.js';

const STYLE = elementNumber('style');
const LINK = elementNumber('link');
/** What a `media` attribute says of a sheet that holds for every reader of the page. */
const ALWAYS = /^(?:all|screen)?$/i;
const MAX_BYTES = LIMITS.styleBytes.max;
const MAX_RULES = LIMITS.styleRules.max;
/** Of one name; more say the same again. */
const MAX_PER_NAME = 32;
const MAX_CLASSES = 24;
/** Of one element; the weakest of more are left out. */
const MAX_PER_ELEMENT = 64;
const MAX_KNOWN = 2_000;
const MAX_SELECTOR = 2_000;

interface Rule {
  /** All of them must be there. */
  readonly tag: string;
  readonly id: string;
  readonly classes: readonly string[];
  readonly css: string;
  /** What `css` says, from the first time that the rule holds for an element. */
  declarations: ReadonlyMap<string, string> | undefined;
  /** Of a longer selector or within `@media`: whether it holds is not known. */
  readonly isLoose: boolean;
  readonly weight: number;
}

export interface StyleRules {
  /** Hashes of the classes and ids that a rule may hide. */
  readonly hiding: ReadonlySet<number>;
  /** Names of elements that a rule may hide. */
  readonly tags: ReadonlySet<string>;
  /** Sheets of other addresses may say more. */
  readonly hasOthers: boolean;
  /** Whether any rule paints a background. */
  readonly paints: boolean;
  /** What the rules declare for an element of these names; loose ones only where they show it. */
  declarationsFor(tag: string, id: string, classes: string): ReadonlyMap<string, string>;
}

export function nameHash(name: string): number {
  let hash = WORD_SEED;
  for (let k = 0; k < name.length; k++) hash = mixLetter(hash, name.charCodeAt(k) & 0xff);
  return hash;
}

/** Reads the sheets of a page. */
export function readStyleRules(tree: PageTree): StyleRules {
  let hasOthers = false;
  let bytes = 0;
  const rules = new Map<string, Rule[]>();
  /** Every class, and every name of an element, that a rule asks for. */
  const named = new Set<string>();
  const tagged = new Set<string>();
  const known = new Map<string, ReadonlyMap<string, string>>();
  const hiding = new Set<number>();
  const tags = new Set<string>();
  let paints = false;
  let count = 0;
  const sheets: { readonly css: string; readonly isLoose: boolean }[] = [];
  const find: OnRule = (selector, css, inMedia) => {
    if (inMedia || !canHide(css)) return;
    for (const { isLoose, id, classes, tag } of parseSelectors(selector, css, inMedia, 0)) {
      if (isLoose) continue;
      if (id !== '') hiding.add(nameHash(id));
      else if (classes.length > 0) hiding.add(nameHash(classes[0]!));
      else if (tag !== '') tags.add(tag);
    }
  };
  const add: OnRule = (selector, css, inMedia) => {
    if (count > MAX_RULES || !SAYS_ANYTHING.test(css)) return;
    for (const rule of parseSelectors(selector, css, inMedia, count)) {
      if (++count > MAX_RULES) return limitReached('styleRules');
      const key = rule.id !== '' ? `#${rule.id}` : rule.classes.length > 0 ? `.${rule.classes[0]!}` : rule.tag;
      const list = rules.get(key);
      if (list === undefined) rules.set(key, [rule]);
      else if (list.length < MAX_PER_NAME) list.push(rule);
      for (const name of rule.classes) named.add(name);
      if (rule.tag !== '') tagged.add(rule.tag);
    }
  };
  for (let node = 1; node < tree.count; node++) {
    const kind = tree.tag[node];
    if (kind === LINK) hasOthers ||= /\bstylesheet\b/i.test((tree.attribute(node, 'rel') ?? '').slice(0, 100));
    if (kind !== STYLE) continue;
    const child = node + 1;
    if (child >= tree.end[node]! || (tree.tag[child] !== RAW && tree.tag[child] !== TEXT)) continue;
    const room = MAX_BYTES - bytes;
    const size = tree.to[child]! - tree.from[child]!;
    if (size > room) limitReached('styleBytes');
    bytes += Math.min(size, room);
    const css = tree.raw(tree.from[child]!, tree.from[child]! + Math.min(size, Math.max(0, room)));
    if (/@import/i.test(css)) hasOthers = true;
    if (/background/i.test(css)) paints = true;
    const isLoose = !ALWAYS.test((tree.attribute(node, 'media') ?? '').slice(0, 100).trim());
    sheets.push({ css: css.includes('/*') ? withoutComments(css) : css, isLoose });
    eachRule(sheets.at(-1)!.css, isLoose, find);
  }
  // Most sheets hide nothing: only where one does, the rules that may show it again are read.
  const isSilent = hiding.size === 0 && tags.size === 0;
  if (!isSilent) for (const { css, isLoose } of sheets) eachRule(css, isLoose, add);
  return {
    hiding,
    tags,
    hasOthers,
    paints,
    declarationsFor(tag, id, classes) {
      if (isSilent) return NOTHING;
      // Names that no rule has make no difference, and ids are mostly such.
      const names = classes.split(/\s+/, MAX_CLASSES).filter((name) => named.has(name));
      const ownId = rules.has(`#${id}`) ? id : '';
      const key = `${tagged.has(tag) ? tag : ''} ${ownId} ${names.join(' ')}`;
      let found = known.get(key);
      if (found === undefined) {
        if (known.size >= MAX_KNOWN) known.clear();
        known.set(key, (found = declaredBy(matching(tag, ownId, new Set(names)))));
      }
      return found;
    },
  };

  function matching(tag: string, id: string, names: ReadonlySet<string>): Rule[] {
    const matches: Rule[] = [];
    const look = (key: string): void => {
      for (const rule of rules.get(key) ?? [])
        if (
          (rule.tag === '' || rule.tag === tag) &&
          (rule.id === '' || rule.id === id) &&
          rule.classes.every((name) => names.has(name))
        )
          matches.push(rule);
    };
    look(tag);
    for (const name of names) look(`.${name}`);
    if (id !== '') look(`#${id}`);
    return matches.sort((a, b) => a.weight - b.weight).slice(-MAX_PER_ELEMENT);
  }
}

const NOTHING: ReadonlyMap<string, string> = new Map();

/** What rules say together, from the weakest to the strongest. */
function declaredBy(matches: readonly Rule[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const rule of matches) if (!rule.isLoose) mergeDeclarations(declarationsOf(rule), found);
  // Whether these hold is not known: they are believed when they show.
  for (const rule of matches) {
    if (!rule.isLoose) continue;
    const own = declarationsOf(rule);
    if (hidingReason(own) !== null) continue;
    // A colour that may hold says nothing, and what it may replace says nothing more.
    for (const [name, value] of own) found.set(name, IS_COLOUR.has(name) ? 'inherit' : value);
  }
  return found;
}

function declarationsOf(rule: Rule): ReadonlyMap<string, string> {
  return (rule.declarations ??= readDeclarations(rule.css));
}

const IS_COLOUR: ReadonlySet<string> = new Set(['color', 'background']);

type OnRule = (selector: string, css: string, inMedia: boolean) => void;

const MAY_HIDE_RULE =
  /none|hidden|collapse|opacity\s*:\s*0?\.?0|font-size\s*:\s*[01.]|-\d{3}|clip|transparent|scale\(|(?:height|width)\s*:\s*[01](?:px|;|\s|$|!)/i;
const COLOUR = /(?:^|[;\s])color\s*:/i;
const BACKGROUND = /background/i;
const SAYS_ANYTHING =
  /display|visibility|opacity|font-size|indent|clip|height|width|overflow|position|left|color|background|transform/i;

function canHide(css: string): boolean {
  if (!MAY_HIDE_RULE.test(css) && !(COLOUR.test(css) && BACKGROUND.test(css))) return false;
  const own = readDeclarations(css);
  return hidingReason(own) !== null || (own.has('color') && own.has('background'));
}

/** Calls back with the selector and declarations of each rule. Rules of a loose sheet, of `@media` and the like may not hold. */
function eachRule(css: string, isLoose: boolean, add: OnRule): void {
  // Of the blocks around, from the outermost: whether its rules may not hold.
  const around: boolean[] = [];
  let loose = isLoose ? 1 : 0;
  // Searched for once: many blocks that open before one closes, or none does, would each search the rest of the sheet.
  let close = css.indexOf('}');
  for (let at = 0; at < css.length;) {
    const open = css.indexOf('{', at);
    if (open < 0) return;
    // What closes before the next rule opens are the blocks around it.
    let from = at;
    if (close >= 0 && close < at) close = css.indexOf('}', at);
    for (; close >= 0 && close < open; close = css.indexOf('}', from)) {
      if (around.pop() === true) loose--;
      from = close + 1;
    }
    const selector = css.slice(from, Math.min(open, from + MAX_SELECTOR)).trim();
    if (selector.startsWith('@')) {
      if (/^@(?:media|supports|layer|container|document|scope)/i.test(selector)) {
        around.push(!/^@(?:media\s+(?:all|screen)\s*$|layer|supports)/i.test(selector));
        if (around.at(-1) === true) loose++;
        at = open + 1;
        continue;
      }
      at = afterBlock(css, open);
      continue;
    }
    const body = css.slice(open + 1, close < 0 ? css.length : close);
    if (open - from <= MAX_SELECTOR && body.length < 4_000) add(selector, body, loose > 0);
    if (close < 0) return;
    at = close + 1;
  }
}

/** After the block that opens here, nested ones included. */
function afterBlock(css: string, open: number): number {
  let depth = 0;
  for (let at = open; at < css.length; at++) {
    const code = css.charCodeAt(at);
    if (code === 0x7b) depth++;
    else if (code === 0x7d && --depth === 0) return at + 1;
  }
  return css.length;
}

export function withoutComments(css: string): string {
  const parts: string[] = [];
  for (let at = 0; ;) {
    const open = css.indexOf('/*', at);
    if (open < 0) return parts.join('') + css.slice(at);
    parts.push(css.slice(at, open));
    const close = css.indexOf('*/', open + 2);
    if (close < 0) return parts.join('');
    at = close + 2;
  }
}

/** Blank, tab, line feed, `>`, `+` or `~`: what stands between the elements of a selector. */
function isCombinator(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x3e || code === 0x2b || code === 0x7e;
}

const COMPOUND = /^([a-z][a-z0-9]*)?((?:[.#][a-z_-][\w-]*)*)$/i;

function parseSelectors(selector: string, css: string, inMedia: boolean, order: number): Rule[] {
  const rules: Rule[] = [];
  for (const one of selector.split(',')) {
    const text = one.trim();
    let from = text.length;
    while (from > 0 && !isCombinator(text.charCodeAt(from - 1))) from--;
    const last = text.slice(from);
    const found = COMPOUND.exec(last);
    if (found === null || last === '') continue;
    const parts = (found[2] ?? '').match(/[.#][\w-]+/g) ?? [];
    const ids = parts.filter((part) => part.startsWith('#'));
    const classes = parts.filter((part) => part.startsWith('.')).map((part) => part.slice(1));
    if (ids.length > 1 || classes.length > 8) continue;
    const tag = (found[1] ?? '').toLowerCase();
    // The page itself is shown by its scripts.
    if (parts.length === 0 && (tag === 'body' || tag === 'html')) continue;
    rules.push({
      tag,
      id: ids[0]?.slice(1) ?? '',
      classes,
      css,
      declarations: undefined,
      isLoose: inMedia || last !== text,
      weight: ids.length * 1e9 + classes.length * 1e8 + (tag === '' ? 0 : 1e7) + order,
    });
  }
  return rules;
}
