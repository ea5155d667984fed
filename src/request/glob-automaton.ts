// The slow path for matching one path segment: runs any pattern, extended globs included, without backtracking.
// Promise: a run costs segment length × pattern size, whatever the segment.

/** A pattern over one path segment. Loops are greedy or lazy alike: only whether it matches counts. */
export type PatternNode =
  /** One character, as the source of a regular expression: `a`, `\.`, `[^/]`. */
  | { readonly kind: 'character'; readonly source: string }
  | { readonly kind: 'sequence'; readonly items: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly branches: readonly PatternNode[] }
  | { readonly kind: 'optional' | 'any' | 'some'; readonly body: PatternNode }
  | { readonly kind: 'start' | 'end' }
  /** Between a word's character and another, or, with `isNot`, anywhere else. */
  | { readonly kind: 'boundary'; readonly isNot: boolean }
  /** Matches the empty text where `body` matches nothing that follows. */
  | { readonly kind: 'not'; readonly body: PatternNode };

/** Made by `characterSet`; `pattern` answers for what is not ASCII. */
export interface CharacterSet {
  readonly ascii: Uint8Array;
  readonly pattern: RegExp;
}

/** `next`, `inner`: indexes of states. A state comes after those it reads, but for the body of a loop. */
type State =
  | { readonly kind: 'accept' }
  | { readonly kind: 'character' | 'run'; readonly set: CharacterSet; readonly next: number }
  | { readonly kind: 'either'; readonly inners: readonly number[] }
  | { readonly kind: 'start' | 'end' | 'loop'; readonly next: number }
  | { readonly kind: 'boundary'; readonly isNot: boolean; readonly next: number }
  | { readonly kind: 'loopEnd'; readonly inner: number; readonly loop: number }
  | { readonly kind: 'not'; readonly inner: number; readonly next: number };

const ASCII_SIZE = 128;
const MAX_CHARACTER_SETS = 1_000;
const characterSets = new Map<string, CharacterSet>();

/**
 * A test of a whole segment. `flags` are those the characters of the pattern are read with.
 *
 * The segment is read from its end: for each position, every state learns whether the rest of the segment satisfies
 * it. So what a `not` looks ahead at is known when it is asked, and no position is visited twice.
 */
export function createAutomaton(pattern: PatternNode, flags: string): (segment: string) => boolean {
  const states: State[] = [];
  const first = addStates(states, pattern, states.push({ kind: 'accept' }) - 1, flags);
  const size = states.length;
  const wholeCharacters = flags.includes('u');
  let here = new Uint8Array(size);
  let after = new Uint8Array(size);

  return (segment) => {
    const codes = wholeCharacters ? Array.from(segment, (character) => character.codePointAt(0) ?? 0) : undefined;
    const length = codes?.length ?? segment.length;
    let code = -1;
    for (let position = length; position >= 0; position -= 1) {
      const before = position === 0 ? -1 : (codes?.[position - 1] ?? segment.charCodeAt(position - 1));
      settle(states, here, after, code, before);
      code = before;
      [here, after] = [after, here];
    }
    return after[first] === 1;
  };
}

/**
 * Fills `here` with the states that the segment's rest satisfies, from `after`, the same one character later. `code` is
 * the character of this position and `before` the one in front of it; -1 where there is none.
 */
function settle(states: readonly State[], here: Uint8Array, after: Uint8Array, code: number, before: number): void {
  const atEnd = code === -1;
  const atStart = before === -1;
  for (let index = 0; index < states.length; index += 1) {
    const state = states[index] as State;
    let holds = false;
    switch (state.kind) {
      case 'accept':
        holds = true;
        break;
      case 'character':
        holds = after[state.next] === 1 && !atEnd && contains(state.set, code);
        break;
      case 'run':
        holds = here[state.next] === 1 || (!atEnd && after[index] === 1 && contains(state.set, code));
        break;
      case 'either':
        for (const inner of state.inners) holds ||= here[inner] === 1;
        break;
      case 'start':
        holds = atStart && here[state.next] === 1;
        break;
      case 'end':
        holds = atEnd && here[state.next] === 1;
        break;
      case 'boundary':
        holds = (isWordCode(before) !== isWordCode(code)) !== state.isNot && here[state.next] === 1;
        break;
      case 'not':
        holds = here[state.inner] !== 1 && here[state.next] === 1;
        break;
      case 'loop':
        // Leaving the loop is known now; whether another round holds is known at its loopEnd.
        holds = here[state.next] === 1;
        break;
      case 'loopEnd':
        if (here[state.inner] === 1 && here[state.loop] !== 1) {
          // The body read the loop as not holding: it is read once more. A loop that holds stays so.
          here[state.loop] = 1;
          index = state.loop;
          continue;
        }
        break;
      default:
        state satisfies never;
    }
    here[index] = holds ? 1 : 0;
  }
}

/** Adds the states of a node that goes on to `next`, and returns the one it is entered by. */
function addStates(states: State[], node: PatternNode, next: number, flags: string): number {
  const add = (state: State): number => states.push(state) - 1;
  switch (node.kind) {
    case 'character':
      return add({ kind: 'character', set: characterSet(node.source, flags), next });
    case 'sequence':
      return node.items.reduceRight((rest, item) => addStates(states, item, rest, flags), next);
    case 'choice':
      return add({ kind: 'either', inners: node.branches.map((branch) => addStates(states, branch, next, flags)) });
    case 'optional':
      return add({ kind: 'either', inners: [addStates(states, node.body, next, flags), next] });
    case 'start':
    case 'end':
      return add({ kind: node.kind, next });
    case 'boundary':
      return add({ ...node, next });
    case 'not': {
      const inner = addStates(states, node.body, add({ kind: 'accept' }), flags);
      return add({ kind: 'not', inner, next });
    }
    case 'any':
    case 'some': {
      if (node.body.kind === 'character') {
        const set = characterSet(node.body.source, flags);
        const run = add({ kind: 'run', set, next });
        return node.kind === 'any' ? run : add({ kind: 'character', set, next: run });
      }
      const loop = add({ kind: 'loop', next });
      const inner = addStates(states, node.body, loop, flags);
      add({ kind: 'loopEnd', inner, loop });
      return node.kind === 'any' ? loop : inner;
    }
    default:
      return node satisfies never;
  }
}

/** A digit, a letter of ASCII or an underscore. */
function isWordCode(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);
}

export function contains(set: CharacterSet, code: number): boolean {
  return code < ASCII_SIZE ? set.ascii[code] === 1 : set.pattern.test(String.fromCodePoint(code));
}

/** The regular expression engine says what one character matches, so that case and classes mean what they mean there. */
export function characterSet(source: string, flags: string): CharacterSet {
  const key = `${flags} ${source}`;
  const known = characterSets.get(key);
  if (known) return known;
  const pattern = new RegExp(`^${source}$`, flags);
  const ascii = Uint8Array.from({ length: ASCII_SIZE }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0));
  if (characterSets.size >= MAX_CHARACTER_SETS) characterSets.clear();
  const set = { ascii, pattern };
  characterSets.set(key, set);
  return set;
}
