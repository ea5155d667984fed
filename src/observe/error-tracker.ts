// Crawlee's count of errors, grouped by where they came from, what they are and what they say.
// Promise: bounded; past the limit of groups further kinds of errors are counted as "other".
/** What tells kinds of errors apart. */
export interface ErrorTrackerOptions {
  /** Errors with different codes are different kinds. */
  showErrorCode: boolean;
  /** Errors with different names are different kinds. */
  showErrorName: boolean;
  /** Errors thrown at different places are different kinds. */
  showStackTrace: boolean;
  /** With the whole stack as the place, not its first line in your code. */
  showFullStack: boolean;
  /** Errors with different messages are different kinds; words that vary are left out. */
  showErrorMessage: boolean;
  /** With the whole message, not its first line. */
  showFullMessage: boolean;
  /** Keeps a picture and the HTML of the first error of each kind. */
  saveErrorSnapshots: boolean;
}

/** An error, or what was thrown in place of one. */
export type TrackedError = Partial<Error> & { code?: string | number; cause?: unknown };

/** One kind of errors in `result`. */
export interface ErrorNode {
  count: number;
  [key: string]: unknown;
}
interface ErrorGroup {
  count: number;
  path: string[];
  node: ErrorNode;
}

const MAX_GROUPS = 1_000;
const OTHER = 'other';
const MAX_CAUSES = 5;
/** Longer messages are not compared word by word. */
const MAX_WORDS = 64;
/** Messages that a new one is compared with: comparing costs the product of their words. */
const MAX_COMPARED = 100;
const ANY_WORD = '_';
const DEFAULTS: ErrorTrackerOptions = {
  showErrorCode: true,
  showErrorName: true,
  showStackTrace: true,
  showFullStack: false,
  showErrorMessage: true,
  showFullMessage: true,
  saveErrorSnapshots: false,
};

/**
 * Counts errors by kind: `crawler.stats.errorTracker` (requests failed for good) and `errorTrackerRetry` (attempts).
 *
 * @example
 * for (const [count, path] of crawler.stats.errorTracker.getMostPopularErrors(3)) log.info(`${count} × ${path.join(' ')}`);
 */
export class ErrorTracker {
  /** A tree of kinds: place, code, name, message; each leaf has `count`. */
  result: Record<string, unknown> = {};
  /** All errors counted. */
  total = 0;
  readonly #options: ErrorTrackerOptions;
  readonly #groups = new Map<string, ErrorGroup>();
  /** The groups that differ by their message only. */
  readonly #siblings = new Map<string, Set<ErrorGroup>>();

  /** What the next error of a kind adds to it: where a page was saved. */
  readonly #notes = new Map<string, object>();

  constructor(options: Partial<ErrorTrackerOptions> = {}) {
    this.#options = { ...DEFAULTS, ...options };
  }

  /** Counts an error. */
  add(error: TrackedError): void {
    this.count(error);
  }

  /** Counts an error and what caused it; the node of its group in `result`. */
  protected count(error: TrackedError, depth = 0): ErrorNode {
    this.total++;
    const wanted = this.#pathOf(error);
    const kind = wanted.join('\n');
    const group = this.#groups.get(kind) ?? this.#similar(wanted) ?? this.#open(wanted);
    group.node.count = ++group.count;
    if (this.#notes.size > 0) {
      Object.assign(group.node, this.#notes.get(kind));
      this.#notes.delete(kind);
    }
    const { cause } = error;
    if (typeof cause === 'object' && cause !== null && depth < MAX_CAUSES) this.count(cause, depth + 1);
    return group.node;
  }

  /** The same text for errors of one kind. */
  kindOf(error: TrackedError): string {
    return this.#pathOf(error).join('\n');
  }

  /** What errors of a kind say beside their count, from the next one on. */
  describe(kind: string, note: object): void {
    if (this.#notes.size < MAX_GROUPS) this.#notes.set(kind, note);
  }

  /** Counts an error, as `add`. */
  async addAsync(error: Error): Promise<void> {
    this.add(error);
  }

  /** How many kinds there are. */
  getUniqueErrorCount(): number {
    return this.#groups.size;
  }

  /** The commonest kinds: how often, and the path of their group. */
  getMostPopularErrors(count: number): [number, string[]][] {
    return [...this.#groups.values()]
      .sort((a, b) => b.count - a.count)
      .slice(0, count)
      .map((group) => [group.count, group.path]);
  }

  /** Forgets all errors. */
  reset(): void {
    this.result = {};
    this.total = 0;
    this.#groups.clear();
    this.#siblings.clear();
  }

  #pathOf(error: TrackedError): string[] {
    const { showErrorCode, showErrorName, showStackTrace, showFullStack, showErrorMessage, showFullMessage } =
      this.#options;
    const message = String(error.message ?? error);
    const frames = (error.stack ?? '').split('\n').filter((line) => /^\s*(?:eval )?at /.test(line));
    const path: string[] = [];
    if (showStackTrace) path.push(stackOf(frames, showFullStack) || 'missing stack trace');
    if (showErrorCode) path.push(error.code === undefined ? 'missing error code' : String(error.code));
    if (showErrorName) path.push(error.name ?? 'missing error name');
    if (showErrorMessage) path.push(showFullMessage ? message : message.split('\n', 1)[0]!);
    return path;
  }

  #open(wanted: string[]): ErrorGroup {
    const path = this.#groups.size >= MAX_GROUPS ? [OTHER] : wanted;
    const known = this.#groups.get(path.join('\n'));
    if (known) return known;
    const group = { count: 0, path, node: {} as ErrorNode };
    this.#place(group);
    return group;
  }

  /** A group whose message differs by few words only: from now on it stands for both. */
  #similar(wanted: readonly string[]): ErrorGroup | undefined {
    if (!this.#options.showErrorMessage) return undefined;
    let left = MAX_COMPARED;
    for (const group of this.#siblings.get(wanted.slice(0, -1).join('\n')) ?? []) {
      if (left-- === 0) return undefined;
      const message = commonMessage(group.path.at(-1)!, wanted.at(-1)!);
      if (message === undefined) continue;
      if (message !== group.path.at(-1)) {
        this.#groups.delete(group.path.join('\n'));
        delete this.#parentOf(group.path)[group.path.at(-1)!];
        group.path = [...group.path.slice(0, -1), message];
        this.#place(group);
      }
      return group;
    }
    return undefined;
  }

  #place(group: ErrorGroup): void {
    const { path } = group;
    this.#groups.set(path.join('\n'), group);
    const prefix = path.slice(0, -1).join('\n');
    const siblings = this.#siblings.get(prefix) ?? new Set();
    this.#siblings.set(prefix, siblings.add(group));
    if (path.length === 0) group.node = Object.assign(this.result, group.node) as ErrorNode;
    else this.#parentOf(path)[path.at(-1)!] = group.node;
  }

  #parentOf(path: readonly string[]): Record<string, unknown> {
    let node: Record<string, unknown> = this.result;
    for (const step of path.slice(0, -1)) node = (node[step] ??= Object.create(null) as object) as typeof node;
    return node;
  }
}

/** All frames, or the place of the first in a file of the user; without one, of the first. */
function stackOf(frames: readonly string[], isFull: boolean): string {
  if (isFull) return frames.map((frame) => frame.trim()).join('\n');
  const frame = (frames.find((one) => !/\bnode:|\bnode_modules\b/.test(one)) ?? frames[0] ?? '').trim();
  const open = frame.lastIndexOf('(');
  return open !== -1 && frame.endsWith(')') ? frame.slice(open + 1, frame.indexOf(')', open)) : frame;
}

/** Both messages with `_` for the words that differ; undefined when that is half of them or more. */
function commonMessage(known: string, message: string): string | undefined {
  const [one, other] = [known.split(' ', MAX_WORDS + 1), message.split(' ', MAX_WORDS + 1)];
  if (one.length > MAX_WORDS || other.length > MAX_WORDS) return undefined;
  const common = alignedWords(one, other);
  const differing = common.filter((word) => word === ANY_WORD).length;
  return differing * 2 < common.length ? common.join(' ') : undefined;
}

/** What both say, from the longest run of common words outwards; `_` stands for all words between two runs. */
function alignedWords(one: readonly string[], other: readonly string[]): string[] {
  if (one.length === 0 && other.length === 0) return [];
  const { at, otherAt, length } = longestRun(one, other);
  if (length === 0) return [ANY_WORD];
  return [
    ...alignedWords(one.slice(0, at), other.slice(0, otherAt)),
    ...one.slice(at, at + length),
    ...alignedWords(one.slice(at + length), other.slice(otherAt + length)),
  ];
}

function longestRun(one: readonly string[], other: readonly string[]): { at: number; otherAt: number; length: number } {
  let longest = { at: 0, otherAt: 0, length: 0 };
  // How many words before this pair agree, for the row above and this one.
  let above: number[] = [];
  for (const [at, word] of one.entries()) {
    const row: number[] = [];
    for (const [otherAt, otherWord] of other.entries()) {
      const length = word === otherWord ? (above[otherAt - 1] ?? 0) + 1 : 0;
      row.push(length);
      if (length > longest.length) longest = { at: at - length + 1, otherAt: otherAt - length + 1, length };
    }
    above = row;
  }
  return longest;
}
