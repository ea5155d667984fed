// Regular expressions of strangers: what a client of the server may match against URLs.
// Promise: a test costs at most text length × pattern size, whatever the pattern; it matches as `RegExp` with the flag `u`.
import { createAutomaton, type PatternNode } from './glob-automaton.js';

export interface LinearRegExp {
  test(text: string): boolean;
  /** How many states the pattern has: what one character of a text costs at most. */
  readonly size: number;
}

/** What a pattern does that cannot be matched in linear time, to be said after the pattern. */
export interface SlowPattern {
  readonly slow: string;
}

class SlowPatternError extends Error {}

const FLAGS = 'u';
const MAX_SIZE = 1_000;
/** Far more than so many states are written with; longer ones are not even read. */
const MAX_CHARACTERS = 100_000;
/** Each level of loops of groups may double the cost of a character. */
const MAX_LOOP_DEPTH = 4;
/** Steps that the engine of the language may take in the worst case before the automaton is used instead. */
const MAX_BACKTRACKS = 50_000;

/** Throws a SyntaxError for what is no regular expression. */
export function createLinearRegExp(source: string, maxBacktracks = MAX_BACKTRACKS): LinearRegExp | SlowPattern {
  if (source.length > MAX_CHARACTERS) return { slow: 'is too large' };
  const native = new RegExp(source, FLAGS);
  try {
    return linearRegExp(native, source, maxBacktracks);
  } catch (error) {
    if (error instanceof SlowPatternError) return { slow: error.message };
    throw error;
  }
}

function linearRegExp(native: RegExp, source: string, maxBacktracks: number): LinearRegExp {
  const pattern = parse(source);
  const size = sizeOf(pattern);
  if (size > MAX_SIZE) throw new SlowPatternError('is too large');
  const { depth, loops, choices } = costOf(pattern);
  if (depth > MAX_LOOP_DEPTH) throw new SlowPatternError(`has repeats in more than ${MAX_LOOP_DEPTH} levels`);
  const starts = isAnchored(pattern) ? 0 : 1;
  let automaton: ((text: string) => boolean) | undefined;
  return {
    size,
    test(text) {
      const backtracks = choices * (text.length + 1) ** (loops + starts);
      if (backtracks <= maxBacktracks) return native.test(text);
      const anything: PatternNode = { kind: 'any', body: { kind: 'character', source: '[^]' } };
      automaton ??= createAutomaton({ kind: 'sequence', items: [anything, pattern, anything] }, FLAGS);
      return automaton(text);
    },
  };
}

/** The source is valid: the engine has read it. */
function parse(source: string): PatternNode {
  let at = 0;

  function choice(): PatternNode {
    const branches = [sequence()];
    while (source[at] === '|') {
      at++;
      branches.push(sequence());
    }
    return branches.length === 1 ? branches[0]! : { kind: 'choice', branches };
  }

  function sequence(): PatternNode {
    const items: PatternNode[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') items.push(repeated(atom()));
    return { kind: 'sequence', items };
  }

  function repeated(body: PatternNode): PatternNode {
    const [whole, least, most] = boundsAt(source, at);
    if (whole === 0) return body;
    at += whole;
    const copies = most === Infinity ? least + 1 : most;
    if (copies > 1 && copies * sizeOf(body) > MAX_SIZE) throw new SlowPatternError('is too large');
    const items: PatternNode[] = Array.from({ length: least }, () => body);
    if (most === Infinity) items.push({ kind: 'any', body });
    else for (let count = least; count < most; count++) items.push({ kind: 'optional', body });
    return items.length === 1 ? items[0]! : { kind: 'sequence', items };
  }

  function atom(): PatternNode {
    const character = source[at]!;
    if (character === '(') return group();
    if (character === '^' || character === '$') {
      at++;
      return { kind: character === '^' ? 'start' : 'end' };
    }
    const [text] = CHARACTER.exec(source.slice(at))!;
    if (text === '\\b' || text === '\\B') {
      at += 2;
      return { kind: 'boundary', isNot: text === '\\B' };
    }
    if (/^\\[1-9k]/.test(text)) throw new SlowPatternError('refers back to a group');
    at += text.length;
    return { kind: 'character', source: text };
  }

  function group(): PatternNode {
    const [opening] = /^\((?:\?(?:[:=!]|<[=!]|<[^>]*>|[^)]))?/.exec(source.slice(at))!;
    if (opening === '(?<=' || opening === '(?<!') throw new SlowPatternError('looks behind');
    if (opening.startsWith('(?') && !/^\(\?[:=!<]/.test(opening)) throw new SlowPatternError('changes its flags');
    at += opening.length;
    const body = choice();
    at++;
    if (opening === '(?!') return { kind: 'not', body };
    return opening === '(?=' ? { kind: 'not', body: { kind: 'not', body } } : body;
  }

  return choice();
}

/** One character of a text: a class, an escape, a pair of escapes that is one character, or itself. */
const CHARACTER =
  /^(?:\[(?:[^\]\\]|\\.)*\]|\\u\{[^}]*\}|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[a-zA-Z]|\\[pP]\{[^}]*\}|\\.|.)/su;

/** How long a repeat is that stands here, and how often it repeats; a length of 0 for none. */
function boundsAt(source: string, at: number): [length: number, least: number, most: number] {
  const found = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/.exec(source.slice(at));
  if (!found) return [0, 1, 1];
  const [whole, least = '0', comma, most] = found;
  const { length } = whole;
  if (whole.startsWith('*')) return [length, 0, Infinity];
  if (whole.startsWith('+')) return [length, 1, Infinity];
  if (whole.startsWith('?')) return [length, 0, 1];
  return [length, Number(least), comma === undefined ? Number(least) : most === '' ? Infinity : Number(most)];
}

function sizeOf(node: PatternNode): number {
  switch (node.kind) {
    case 'sequence':
      return node.items.reduce((sum, item) => sum + sizeOf(item), 0);
    case 'choice':
      return node.branches.reduce((sum, branch) => sum + sizeOf(branch), 1);
    case 'optional':
    case 'any':
    case 'some':
    case 'not':
      return 2 + sizeOf(node.body);
    case 'boundary':
    case 'character':
    case 'end':
    case 'start':
      return 1;
    default:
      return node satisfies never;
  }
}

interface Cost {
  /** Levels of loops of more than a character. */
  readonly depth: number;
  /** Loops that may each end anywhere; Infinity when loops are in loops. */
  readonly loops: number;
  /** Ways through what is not a loop. */
  readonly choices: number;
}

function costOf(node: PatternNode): Cost {
  switch (node.kind) {
    case 'sequence':
      return joined(node.items.map(costOf));
    case 'choice': {
      const { depth, loops, choices } = joined(node.branches.map(costOf));
      return { depth, loops, choices: choices * node.branches.length };
    }
    case 'optional': {
      const { depth, loops, choices } = costOf(node.body);
      return { depth, loops, choices: 2 * choices };
    }
    case 'not': {
      const { depth, loops, choices } = costOf(node.body);
      return { depth, loops: loops + 1, choices };
    }
    case 'any':
    case 'some': {
      if (node.body.kind === 'character') return { depth: 0, loops: 1, choices: 1 };
      const { depth, loops, choices } = costOf(node.body);
      return { depth: depth + 1, loops: loops > 0 || choices > 1 ? Infinity : 1, choices: 1 };
    }
    case 'boundary':
    case 'character':
    case 'end':
    case 'start':
      return { depth: 0, loops: 0, choices: 1 };
    default:
      return node satisfies never;
  }
}

function joined(costs: readonly Cost[]): Cost {
  return {
    depth: Math.max(0, ...costs.map(({ depth }) => depth)),
    loops: costs.reduce((sum, { loops }) => sum + loops, 0),
    choices: costs.reduce((product, { choices }) => product * choices, 1),
  };
}

const isAnchored = (node: PatternNode): boolean =>
  node.kind === 'start' || (node.kind === 'sequence' && node.items[0] !== undefined && isAnchored(node.items[0]));
