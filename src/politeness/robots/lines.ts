// Parses robots.txt bytes into groups of agents and rules. As lenient as common parsers: any line ending, a missing
// colon, common misspellings. Promise: any bytes, one pass, never throws.
import { limitReached, LIMITS } from '../../limits.js';
import { encodeRule, type RobotsMode } from './path.js';

/** RFC 9309 requires at least 500 KiB; the rest is not read. */
export const MAX_ROBOTS_BYTES = LIMITS.robotsBytes.max;

export interface RobotsRule {
  readonly isAllow: boolean;
  /** The path, percent-encoded; its length is the rule's weight. */
  readonly path: string;
}

export interface RobotsGroup {
  readonly rules: RobotsRule[];
  crawlDelaySecs?: number;
}

export interface RobotsGroups {
  /** Groups by product token in lower case, `*` for everybody, in the order of the file. */
  readonly byAgent: ReadonlyMap<string, readonly RobotsGroup[]>;
  readonly sitemaps: readonly string[];
}

type Field = 'agent' | 'allow' | 'disallow' | 'delay' | 'sitemap';

const FIELDS: readonly (readonly [name: string, field: Field])[] = [
  ['user-agent', 'agent'],
  ['useragent', 'agent'],
  ['user agent', 'agent'],
  ['allow', 'allow'],
  ['disallow', 'disallow'],
  ['dissallow', 'disallow'],
  ['dissalow', 'disallow'],
  ['disalow', 'disallow'],
  ['diasllow', 'disallow'],
  ['disallaw', 'disallow'],
  ['crawl-delay', 'delay'],
  ['crawldelay', 'delay'],
  ['crawl delay', 'delay'],
  ['sitemap', 'sitemap'],
  ['site-map', 'sitemap'],
];
const FIELD_OF: ReadonlyMap<string, Field> = new Map(FIELDS);

export function readGroups(input: Uint8Array | string, mode: RobotsMode): RobotsGroups {
  const byAgent = new Map<string, RobotsGroup[]>();
  const sitemaps: string[] = [];
  let group: RobotsGroup | undefined;
  // Only a rule ends a group's list of agents: other lines must not interfere (RFC 9309, section 2.2.4).
  let hasRules = false;

  for (const line of octetsOf(input).split(/\r\n|\r|\n/)) {
    const [key, value] = keyAndValue(line);
    const field = fieldOf(key, mode);
    if (field === 'agent') {
      if (!group || hasRules) group = { rules: [] };
      hasRules = false;
      addAgent(byAgent, tokenOfLine(value, mode), group);
    } else if (field === 'sitemap') {
      if (value !== '') sitemaps.push(Buffer.from(value, 'latin1').toString('utf8'));
    } else if (group && field === 'delay') {
      noteDelay(group, value);
    } else if (group && field !== undefined) {
      hasRules = true;
      const path = encodeRule(value, mode);
      // Paths begin with a slash; any other rule matches nothing.
      if (path.startsWith('/') || path.startsWith('*')) group.rules.push({ isAllow: field === 'allow', path });
    }
  }
  return { byAgent, sitemaps };
}

/** One character per octet, so that nothing is lost or rejected in any encoding. */
function octetsOf(input: Uint8Array | string): string {
  // A character takes at least one byte: no more are needed to fill the limit.
  let bytes =
    typeof input === 'string' ? Buffer.from(input.slice(0, MAX_ROBOTS_BYTES + 1), 'utf8') : Buffer.from(input);
  const wide = wideEncoding(bytes);
  if (wide) bytes = Buffer.from(new TextDecoder(wide).decode(bytes.subarray(0, 2 * MAX_ROBOTS_BYTES + 2)), 'utf8');
  const text = bytes.toString('latin1', 0, MAX_ROBOTS_BYTES + 1);
  const isCut = text.length > MAX_ROBOTS_BYTES;
  if (isCut) limitReached('robotsBytes');
  return withoutByteOrderMark(isCut ? wholeLines(text) : text);
}

/** Half a rule would forbid or allow too much. `text` is one octet longer than the limit. */
function wholeLines(text: string): string {
  const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'));
  return text.slice(0, Math.max(end, 0));
}

/** Detects UTF-16 by its BOM or by the zeros in ASCII text. */
function wideEncoding(bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (bytes.length < 4) return undefined;
  const [first, second, third, fourth] = bytes;
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0 && third !== 0 && fourth === 0)) {
    return 'utf-16le';
  }
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0 && third === 0 && fourth !== 0)) {
    return 'utf-16be';
  }
  return undefined;
}

/** Also a partial one, as in Google's cases. */
function withoutByteOrderMark(text: string): string {
  let from = 0;
  while (from < 3 && text[from] === '\xef\xbb\xbf'[from]) from++;
  return text.slice(from);
}

/** Without tabs or spaces around; '' if the line is empty. */
function keyAndValue(line: string): [key: string, value: string] {
  const comment = line.indexOf('#');
  const said = trimmed(comment < 0 ? line : line.slice(0, comment));
  const colon = said.indexOf(':');
  if (colon >= 0) return [trimmed(said.slice(0, colon)), trimmed(said.slice(colon + 1))];
  // Without a colon exactly two words are a key and its value.
  const space = said.search(/[ \t]/);
  if (space < 0) return ['', ''];
  const value = trimmed(said.slice(space));
  return /[ \t]/.test(value) ? ['', ''] : [said.slice(0, space), value];
}

/** `trim()` would also remove the octet of a no-break space, half of a letter in UTF-8. */
function trimmed(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && text.charCodeAt(from) <= 0x20) from++;
  while (to > from && text.charCodeAt(to - 1) <= 0x20) to--;
  return text.slice(from, to);
}

function fieldOf(key: string, mode: RobotsMode): Field | undefined {
  if (key === '') return undefined;
  if (mode === 'rfc') return key.length > 20 ? undefined : FIELD_OF.get(key.toLowerCase());
  const name = key.slice(0, 20).toLowerCase();
  return FIELDS.find(([start]) => name.startsWith(start))?.[1];
}

/** `*` for all, the product token without version in lower case, or '' if there is none. */
function tokenOfLine(value: string, mode: RobotsMode): string {
  if (/^\*(?:[ \t]|$)/.test(value)) return '*';
  const token = mode === 'google' ? /^[A-Za-z_-]*/ : /^[^\s/*()<>@,;:"[\]{}?=\\]*/;
  return (token.exec(value)?.[0] ?? '').toLowerCase();
}

function addAgent(byAgent: Map<string, RobotsGroup[]>, token: string, group: RobotsGroup): void {
  if (token === '') return;
  const groups = byAgent.get(token);
  if (!groups) byAgent.set(token, [group]);
  else if (groups.at(-1) !== group) groups.push(group);
}

/** The largest wins if a group has several. */
function noteDelay(group: RobotsGroup, value: string): void {
  const secs = Number.parseFloat(value);
  if (!(secs >= 0) || secs === Infinity) return;
  group.crawlDelaySecs = Math.max(group.crawlDelaySecs ?? 0, secs);
}
