// The prose in a page's script data: JSON in script elements and attributes.
// Promise: read only if the page shows almost nothing; bounded in bytes, depth and strings; plain strings, never run.
import { limitReached, LIMITS } from '../../limits.js';
import type { PageTree } from '../../parse/tree/tree.js';
import { elementNumber, RAW, TEXT } from '../page/elements.js';

const SCRIPT = elementNumber('script');
/** What one page may hand over; beyond it is a catalogue, not a page. */
const MAX_BYTES = LIMITS.embeddedDataBytes.max;
const MAX_VALUES = LIMITS.embeddedDataValues.max;
const MAX_DEPTH = 40;
/** Shorter attributes hold settings. */
const MIN_ATTRIBUTE = 500;
const MIN_WORDS = 8;
/** `window.__STATE__ = {…};` and the like: an assignment of one JSON value. */
const ASSIGNED = /^(?:var |let |const )?[\w$.[\]"']{1,80} ?= ?(?=[{[])/;
/** Under such names stand words of the site, not of the page. */
const NOT_CONTENT =
  /i18n|l10n|intl|translation|locale|^messages$|labels?$|strings$|css|style|script|config|settings|query|polic|terms|cookie|consent|seo|^meta|^alt|aria|analytic|track|error|^head$|footer|header|nav|menu|copyright|excerpt|preview|summary|user|author|avatar|theme/i;
const CODE = /[{};=]|=>|\b(?:function|return|var|https?:)\b/g;

/** The texts of a page's embedded data that read like prose, in order, each once. */
export function embeddedTexts(tree: PageTree): string[] {
  const found: string[] = [];
  let bytes = 0;
  let values = 0;
  const starts = new Set<string>();

  function take(text: string): void {
    if (!isProse(text)) return;
    const start = text.replace(/<[^<>]*>|[\s\u00a0]+/g, '').slice(0, 60);
    if (starts.has(start)) return;
    starts.add(start);
    found.push(text);
  }

  function visit(value: unknown, depth: number): void {
    if (depth > MAX_DEPTH || ++values > MAX_VALUES) return;
    if (typeof value === 'string') {
      const inner = /^\s*[{[]/.test(value) && value.length > 100 ? parsed(value) : undefined;
      if (inner !== undefined) visit(inner, depth + 1);
      else take(value);
    } else if (Array.isArray(value)) for (const one of value) visit(one, depth + 1);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, one] of Object.entries(value)) if (!NOT_CONTENT.test(name)) visit(one, depth + 1);
    }
  }

  function read(json: string): void {
    bytes += json.length;
    if (bytes > MAX_BYTES) return;
    const value = parsed(json);
    if (value !== undefined) visit(value, 0);
  }

  for (let node = 1; node < tree.count && bytes <= MAX_BYTES; node++) {
    if (tree.tag[node] === SCRIPT && node + 1 < tree.end[node]!) {
      const type = tree.attribute(node, 'type') ?? '';
      if (/ld\+json/i.test(type)) continue;
      const text = tree.raw(tree.from[node + 1]!, Math.min(tree.to[node + 1]!, tree.from[node + 1]! + MAX_BYTES));
      if (/json/i.test(type)) read(text);
      else {
        const code = text.trim();
        const assigned = ASSIGNED.exec(code)?.[0].length ?? 0;
        if (assigned > 0) read(code.slice(assigned, code.endsWith(';') ? -1 : undefined));
      }
    } else if (isElement(tree, node) && tree.to[node]! - tree.from[node]! > MIN_ATTRIBUTE) {
      for (const text of jsonAttributes(tree, node)) read(text);
    }
  }
  if (bytes > MAX_BYTES) limitReached('embeddedDataBytes');
  if (values > MAX_VALUES) limitReached('embeddedDataValues');
  return found;
}

/** The rows of a text are in its place, not attributes. */
function isElement(tree: PageTree, node: number): boolean {
  return tree.tag[node] !== TEXT && tree.tag[node] !== RAW;
}

/** The values of an element's long attributes that begin like JSON. */
function jsonAttributes(tree: PageTree, node: number): string[] {
  const list = tree.attributes(node);
  const found: string[] = [];
  for (let k = 0; k < list.count; k++) {
    if (list.valueTo(k) - list.valueFrom(k) <= MIN_ATTRIBUTE) continue;
    const value = tree.decodeAttribute(list.valueFrom(k), list.valueTo(k));
    if (/^\s*[{[]/.test(value)) found.push(value);
  }
  return found;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}

/** Sentences, or markup with text: no address, code, style or list of names. */
function isProse(text: string): boolean {
  if (text.length < 40 || !/\s/.test(text)) return false;
  const plain = text.replace(/<[^<>]*>/g, ' ').replace(/&\w+;/g, ' ');
  const words = plain.match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
  if (words < MIN_WORDS || (plain.match(CODE)?.length ?? 0) * 12 > words) return false;
  return /[.!?…。]["'”’)\]]*(?:\s|$)/.test(plain) || /<(?:p|li|h[1-6])\b/i.test(text);
}
