// `context.change`: what a visit found, compared with the one before.
// Promise: a difference is worked out when it is asked for; what is kept for the next one is kept with the visit.
import { fieldDiff, type FieldChange } from './change/json-diff.js';
import { lineDiff, type LineDiff } from './change/line-diff.js';
import type { PageVersion } from './memory/memory.js';
import type { ChangeKind } from './memory/page-row.js';

export type { FieldChange } from './change/json-diff.js';
export type { DiffChunk, LineChange, LineDiff } from './change/line-diff.js';
export type { ChangeKind } from './memory/page-row.js';

/** Another page that says nearly the same. */
export interface DuplicateOf {
  /** The page that was seen first. */
  readonly url: string;
  /** In how many of 64 bits their simhashes differ. */
  readonly distance: number;
}

/** What a visit found of a page, compared with the visit before. */
export interface PageChange {
  /** `same` also when only furniture changed: dates, counters, links. */
  readonly kind: ChangeKind;
  /** The visit before; undefined for a page that was never there. */
  readonly lastSeen: Date | undefined;
  /** The visit that last found it new or changed; undefined for a page that was never there. */
  readonly lastChanged: Date | undefined;
  /** Visits so far, this one included, and changes that they found. */
  readonly visits: number;
  /** Visits that found the page changed, this one included. */
  readonly changes: number;
  /** The page that this one repeats; only with `duplicates`. */
  readonly duplicateOf: DuplicateOf | undefined;
  /**
   * What changed in the markdown of the main content. Undefined unless the page changed and the version before is kept:
   * `remember: { versions: true }`.
   */
  diff(): LineDiff | undefined;
  /**
   * Keeps these fields of the page, and tells which differ from those that were kept at the visit before. Undefined when
   * there were none.
   */
  diffFields(fields: object): Record<string, FieldChange> | undefined;
}

export interface ChangeParts extends Omit<PageChange, 'diff' | 'diffFields'> {
  readonly before: PageVersion | undefined;
  readonly markdown: () => string;
  /** Keeps fields with the visit. */
  readonly keepFields: (fields: unknown) => void;
}

export function createPageChange({ before, markdown, keepFields, ...facts }: ChangeParts): PageChange {
  return {
    ...facts,
    diff() {
      if (facts.kind !== 'changed' || before?.markdown === undefined) return undefined;
      return lineDiff(before.markdown, markdown());
    },
    diffFields(fields) {
      keepFields(fields);
      return before?.fields === undefined ? undefined : fieldDiff(before.fields, fields);
    },
  };
}
