// Follows tables and objects, the elements whose end also ends a link left open inside them.
// Promise: constant amortised time per tag; no other nesting is remembered.
import { tagNumber, tagSet } from '../tokens/tags.js';

const TABLE = tagNumber('table');
const OPENS_CELL = tagSet('td th caption');
const CLOSES_CELL = tagSet('td th caption tr tbody thead tfoot col colgroup');
const OBJECTS = tagSet('object applet marquee');
const CONCERNED = tagSet('table td th caption tr tbody thead tfoot col colgroup object applet marquee');

const IN_TABLE = 0;
const IN_CELL = 1;
const IN_OBJECT = 2;

/** The open tables, cells and objects. A cell or object is a marker: a link inside it cannot outlive it. */
export class NestingContext {
  markers = 0;
  readonly #open: number[] = [];
  #tables = 0;

  /** True when this tag can change the context. */
  static concerns(tag: number): boolean {
    return CONCERNED[tag] === 1;
  }

  /** True for rows and cells outside any table: a tree has no such elements. */
  ignores(tag: number): boolean {
    return this.#tables === 0 && CLOSES_CELL[tag] === 1;
  }

  /** Takes a start tag; returns the fewest markers that were open at any moment meanwhile. */
  startTag(tag: number): number {
    let fewest = this.markers;
    if (tag === TABLE) {
      // A table directly in a table ends the outer one.
      if (this.#open.at(-1) === IN_TABLE) this.#popTable();
      this.#open.push(IN_TABLE);
      this.#tables++;
    } else if (OBJECTS[tag] === 1) {
      this.#open.push(IN_OBJECT);
      this.markers++;
    } else if (this.#tables > 0) {
      this.#popCell();
      fewest = this.markers;
      if (OPENS_CELL[tag] === 1) {
        this.#open.push(IN_CELL);
        this.markers++;
      }
    }
    return fewest;
  }

  /** Takes an end tag; returns the markers still open. */
  endTag(tag: number): number {
    if (OBJECTS[tag] === 1) {
      if (this.#open.at(-1) === IN_OBJECT) this.#pop();
    } else if (this.#tables > 0) {
      if (tag === TABLE) {
        this.#popCell();
        this.#popTable();
      } else if (CLOSES_CELL[tag] === 1) {
        this.#popCell();
      }
    }
    return this.markers;
  }

  /** Closes what is open in the innermost table. */
  #popCell(): void {
    while (this.#open.at(-1) !== IN_TABLE) this.#pop();
  }

  #popTable(): void {
    this.#open.pop();
    this.#tables--;
  }

  #pop(): void {
    this.#open.pop();
    this.markers--;
  }
}
