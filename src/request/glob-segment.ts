// Between the glob parser and the matchers: parses the regular expression that minimatch made for one path segment.
// Promise: an expression runs in the regexp engine only if it cannot backtrack far; others run without it.
import { createAutomaton, type PatternNode } from './glob-automaton.js';
import { createStarsTest } from './glob-stars.js';

export type SegmentTest = (segment: string) => boolean;

/** The test of one segment of a parsed glob. Throws on expressions that this file cannot parse. */
export function createSegmentTest(part: string | RegExp): SegmentTest {
  if (typeof part === 'string') return (segment) => segment === part;
  // For the plainest patterns (`*`, `*.html`, `???`) minimatch replaces the test by string comparisons.
  if (Object.hasOwn(part, 'test')) return (segment) => part.test(segment);
  const pattern = readPattern(part);
  if (isStraight(pattern)) return (segment) => part.test(segment);
  return createStarsTest(pattern, part.flags) ?? createAutomaton(pattern, part.flags);
}

/** True if matching backtracks into one single loop at most, and so costs no more than the automaton does. */
function isStraight(pattern: PatternNode): boolean {
  if (pattern.kind !== 'sequence') return false;
  let loops = 0;
  for (const item of pattern.items) {
    if (item.kind === 'any' || item.kind === 'some') {
      loops += 1;
      if (loops > 1 || item.body.kind !== 'character') return false;
    } else if (item.kind === 'optional' || item.kind === 'choice' || item.kind === 'sequence') {
      return false;
    } else if (item.kind === 'not' && !isPlain(item.body)) {
      return false;
    }
  }
  return true;
}

/** The look-ahead of minimatch's dot rule, and nothing longer. */
function isPlain(node: PatternNode): boolean {
  return node.kind === 'sequence' && node.items.every((item) => item.kind === 'character');
}

/** Reads the part of the regular expression language that minimatch writes. */
function readPattern({ source, unicode }: RegExp): PatternNode {
  let at = 0;
  const unread = (): Error => new Error(`its part /${source}/ cannot be matched in bounded time`);

  const pattern = readChoice();
  // A choice outside of any group would not be bound to both ends.
  if (at < source.length || pattern.kind === 'choice' || !source.startsWith('^') || !source.endsWith('$')) {
    throw unread();
  }
  return pattern;

  function readChoice(): PatternNode {
    const branches = [readSequence()];
    while (take('|')) branches.push(readSequence());
    return branches.length === 1 ? (branches[0] as PatternNode) : { kind: 'choice', branches };
  }

  function readSequence(): PatternNode {
    const items: PatternNode[] = [];
    while (at < source.length && !source.startsWith('|', at) && !source.startsWith(')', at)) {
      items.push(readQuantified(readItem()));
    }
    return { kind: 'sequence', items };
  }

  function readQuantified(body: PatternNode): PatternNode {
    const kind = take('*') ? 'any' : take('+') ? 'some' : take('?') ? 'optional' : undefined;
    if (kind === undefined) return body;
    take('?');
    return { kind, body };
  }

  function readItem(): PatternNode {
    if (take('^')) return { kind: 'start' };
    if (take('$')) return { kind: 'end' };
    if (take('(?!')) return { kind: 'not', body: readGroup() };
    if (take('(?:')) return readGroup();
    if (source.startsWith('(?', at)) throw unread();
    if (take('(')) return readGroup();
    return { kind: 'character', source: readCharacter() };
  }

  function readGroup(): PatternNode {
    const body = readChoice();
    if (!take(')')) throw unread();
    return body;
  }

  function readCharacter(): string {
    const from = at;
    const first = source[at];
    if (first === undefined || '*+?{}]'.includes(first)) throw unread();
    if (first === '[') {
      for (at += 1; source[at] !== ']'; at += source[at] === '\\' ? 2 : 1) if (at >= source.length) throw unread();
      at += 1;
    } else if (first === '\\') {
      const escaped = source[at + 1] ?? '';
      if (/[1-9bBckpPx]/.test(escaped)) throw unread();
      at += escaped === 'u' ? 6 : 2;
    } else {
      at += unicode ? String.fromCodePoint(source.codePointAt(at) ?? 0).length : 1;
    }
    return source.slice(from, at);
  }

  function take(text: string): boolean {
    if (!source.startsWith(text, at)) return false;
    at += text.length;
    return true;
  }
}
