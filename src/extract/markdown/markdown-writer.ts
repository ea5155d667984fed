// Writes markdown blocks line by line inside quotes and list items.
// Promise: every block is separated as CommonMark needs it, and continues its containers on every line.

interface Container {
  /** What the container's first line begins with; empty once written. */
  first: string;
  /** What its other lines begin with. */
  readonly rest: string;
}

/** A document in the making. */
export class MarkdownWriter {
  #parts: string[] = [];
  readonly #containers: Container[] = [];
  /** What stands before the next block. */
  #gap: 'line' | 'blank' = 'line';
  #isEmpty = true;

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** Asks for the next block to follow on the next line, without a blank one. */
  tight(): void {
    this.#gap = 'line';
  }

  loose(): void {
    this.#gap = 'blank';
  }

  open(first: string, rest: string): void {
    this.#containers.push({ first, rest });
  }

  /** Ends the innermost container; true when something was written into it. */
  close(): boolean {
    const container = this.#containers.pop();
    return container !== undefined && container.first === '';
  }

  /** Writes one block. */
  block(lines: readonly string[]): void {
    if (lines.length === 0) return;
    if (!this.#isEmpty) {
      if (this.#gap === 'blank') this.#parts.push('\n', this.#blankPrefix());
      this.#parts.push('\n');
    }
    for (let k = 0; k < lines.length; k++) {
      if (k > 0) this.#parts.push('\n');
      const line = lines[k]!;
      const prefix = this.#prefix();
      this.#parts.push(line === '' ? prefix.trimEnd() : prefix + line);
    }
    this.#isEmpty = false;
    this.#gap = 'blank';
  }

  toString(): string {
    return this.#parts.join('');
  }

  #prefix(): string {
    let prefix = '';
    for (const container of this.#containers) {
      if (container.first === '') prefix += container.rest;
      else {
        prefix += container.first;
        container.first = '';
      }
    }
    return prefix;
  }

  #blankPrefix(): string {
    let prefix = '';
    for (const { first, rest } of this.#containers) {
      if (first !== '') break;
      prefix += rest;
    }
    return prefix.trimEnd();
  }
}
