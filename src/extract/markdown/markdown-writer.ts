// Writes markdown blocks line by line inside quotes and list items.
// Promise: every block is separated as CommonMark needs it, and continues its containers on every line, as long as what
// lines begin with stays in proportion to the page; beyond that the text goes on without them.
import { limitReached, LIMITS } from '../../limits.js';

interface Container {
  /** What the container's first line begins with; empty once written. */
  first: string;
  /** What its other lines begin with. */
  readonly rest: string;
  /** Blocks that stood before it. */
  readonly blocksBefore: number;
}

/** Quotes and lists nested deeper than any reader follows are written as if they ended here. */
const MAX_CONTAINERS = LIMITS.markdownContainers.max;
/** What the beginnings of lines may come to, for each byte of the page and in all. */
const PREFIX_PER_BYTE = 2;
const LEAST_PREFIX = 65_536;

/** A document in the making. */
export class MarkdownWriter {
  #parts: string[] = [];
  readonly #containers: Container[] = [];
  /** What stands before the next block. */
  #gap: 'line' | 'blank' = 'line';
  #blocks = 0;
  #prefixRoom: number;

  constructor(pageBytes: number) {
    this.#prefixRoom = LEAST_PREFIX + PREFIX_PER_BYTE * pageBytes;
  }

  get isEmpty(): boolean {
    return this.#blocks === 0;
  }

  /** Asks for the next block to follow on the next line, without a blank one. */
  tight(): void {
    this.#gap = 'line';
  }

  loose(): void {
    this.#gap = 'blank';
  }

  open(first: string, rest: string): void {
    const isTooDeep = this.#containers.length >= MAX_CONTAINERS;
    if (this.#containers.length === MAX_CONTAINERS) limitReached('markdownContainers');
    this.#containers.push({ first: isTooDeep ? '' : first, rest: isTooDeep ? '' : rest, blocksBefore: this.#blocks });
  }

  /** Ends the innermost container; true when something was written into it. */
  close(): boolean {
    const container = this.#containers.pop();
    return container !== undefined && this.#blocks > container.blocksBefore;
  }

  /** Writes one block. */
  block(lines: readonly string[]): void {
    if (lines.length === 0) return;
    if (this.#blocks > 0) {
      if (this.#gap === 'blank') this.#parts.push('\n', this.#blankPrefix());
      this.#parts.push('\n');
    }
    for (let k = 0; k < lines.length; k++) {
      if (k > 0) this.#parts.push('\n');
      const line = lines[k]!;
      const prefix = this.#prefix();
      this.#parts.push(line === '' ? prefix.trimEnd() : prefix + line);
    }
    this.#blocks++;
    this.#gap = 'blank';
  }

  toString(): string {
    return this.#parts.join('');
  }

  #prefix(): string {
    if (this.#prefixRoom < 0) return '';
    let prefix = '';
    // Deeper ones have none.
    const depth = Math.min(this.#containers.length, MAX_CONTAINERS);
    for (let k = 0; k < depth; k++) {
      const container = this.#containers[k]!;
      if (container.first === '') prefix += container.rest;
      else {
        prefix += container.first;
        container.first = '';
      }
    }
    return this.#within(prefix);
  }

  #blankPrefix(): string {
    if (this.#prefixRoom < 0) return '';
    let prefix = '';
    const depth = Math.min(this.#containers.length, MAX_CONTAINERS);
    for (let k = 0; k < depth; k++) {
      const { first, rest } = this.#containers[k]!;
      if (first !== '') break;
      prefix += rest;
    }
    return this.#within(prefix.trimEnd());
  }

  #within(prefix: string): string {
    this.#prefixRoom -= prefix.length;
    return this.#prefixRoom >= 0 ? prefix : '';
  }
}
