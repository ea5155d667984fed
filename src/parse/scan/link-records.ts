// The links found while scanning, as numbers: element and ranges; URLs and texts are made on demand.
// Promise: nine numbers per link, at most one link open at a time, so link texts together are no longer than the page.
const FIELDS = 9;

/** Field offsets of one record. Ranges are in the page's bytes, except text, which is in the page's text. */
const ELEMENT = 0;
const HREF_FROM = 1;
const HREF_TO = 2;
const REL_FROM = 3;
const REL_TO = 4;
const LABEL_FROM = 5;
const LABEL_TO = 6;
const TEXT_FROM = 7;
const TEXT_TO = 8;

/** One page at a time adds links, so all write them to the same array, which is kept up to a size that few pages need. */
let scratch = new Int32Array(FIELDS * 1024);
const KEPT_FIELDS = FIELDS * 16_384;

/** A growing list of link records. */
export class LinkRecords {
  count = 0;
  /** The shared array until {@link seal}. */
  #fields = scratch;

  /** Adds a link; returns its index. */
  add(element: number, hrefFrom: number, hrefTo: number): number {
    const at = this.count * FIELDS;
    if (at === this.#fields.length) {
      const larger = new Int32Array(this.#fields.length * 2);
      larger.set(this.#fields);
      this.#fields = larger;
      if (larger.length <= KEPT_FIELDS) scratch = larger;
    }
    const fields = this.#fields;
    fields[at + ELEMENT] = element;
    fields[at + HREF_FROM] = hrefFrom;
    fields[at + HREF_TO] = hrefTo;
    // What an earlier page left there.
    for (let field = REL_FROM; field < FIELDS; field++) fields[at + field] = 0;
    return this.count++;
  }

  /** Ends adding: from here on the records are this page's own. */
  seal(): void {
    this.#fields = this.#fields.slice(0, this.count * FIELDS);
  }

  setRel(index: number, from: number, to: number): void {
    this.#fields[index * FIELDS + REL_FROM] = from;
    this.#fields[index * FIELDS + REL_TO] = to;
  }

  /** The `alt` that stands for a void element's text. */
  setLabel(index: number, from: number, to: number): void {
    this.#fields[index * FIELDS + LABEL_FROM] = from;
    this.#fields[index * FIELDS + LABEL_TO] = to;
  }

  openText(index: number, from: number): void {
    this.#fields[index * FIELDS + TEXT_FROM] = from;
    this.#fields[index * FIELDS + TEXT_TO] = from;
  }

  closeText(index: number, to: number): void {
    this.#fields[index * FIELDS + TEXT_TO] = to;
  }

  element(index: number): number {
    return this.#fields[index * FIELDS + ELEMENT]!;
  }

  hrefFrom(index: number): number {
    return this.#fields[index * FIELDS + HREF_FROM]!;
  }

  hrefTo(index: number): number {
    return this.#fields[index * FIELDS + HREF_TO]!;
  }

  relFrom(index: number): number {
    return this.#fields[index * FIELDS + REL_FROM]!;
  }

  relTo(index: number): number {
    return this.#fields[index * FIELDS + REL_TO]!;
  }

  labelFrom(index: number): number {
    return this.#fields[index * FIELDS + LABEL_FROM]!;
  }

  labelTo(index: number): number {
    return this.#fields[index * FIELDS + LABEL_TO]!;
  }

  textFrom(index: number): number {
    return this.#fields[index * FIELDS + TEXT_FROM]!;
  }

  textTo(index: number): number {
    return this.#fields[index * FIELDS + TEXT_TO]!;
  }
}
