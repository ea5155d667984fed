// What callers may choose about the content of a page.
// Promise: every option has a default, and means the same in text, markdown and HTML, and wherever it is given.
import type { MathStyle } from './math/formulas.js';

/** Options of the content of a page, for `extractContent` and `toMarkdown`. */
export interface ContentOptions {
  /** Text that readers cannot see: left out (`drop`, the default), or treated like any other (`keep`). */
  readonly hidden?: 'drop' | 'keep' | undefined;
  /** Formulas as `$…$` and `$$…$$` (`dollar`, the default), as code (`` $`…`$ ``), or as plain characters. */
  readonly math?: MathStyle | undefined;
  /** What to do about text that may or may not be content: leave it out, weigh it (the default), or keep it. */
  readonly favor?: 'precision' | 'balanced' | 'recall' | undefined;
  /** The page's title among the content: kept or left out; without it the models decide, and mostly leave it out. */
  readonly title?: boolean | undefined;
  /** Who wrote it and when: kept or left out; without it the models decide, and mostly leave it out. */
  readonly byline?: boolean | undefined;
  /** Captions of pictures: kept or left out; without it the models decide. */
  readonly captions?: boolean | undefined;
  /** Comments of readers: kept or left out; without it they are left out of articles and kept on forums. */
  readonly comments?: boolean | undefined;
  /** The page's own table of contents; left out unless `true`. */
  readonly contents?: boolean | undefined;
}

/**
 * What each option accepts. Option checks, the flags of the command line and the schema of the API are made of this
 * table, so that an option that is added here reaches all of them.
 */
export const CONTENT_CHOICES = {
  favor: ['precision', 'balanced', 'recall'],
  hidden: ['drop', 'keep'],
  math: ['dollar', 'code', 'text'],
  title: [true, false],
  byline: [true, false],
  captions: [true, false],
  comments: [true, false],
  contents: [true, false],
} as const satisfies { readonly [Name in keyof ContentOptions]-?: readonly NonNullable<ContentOptions[Name]>[] };

/** The options that are kept or left out. */
export const CONTENT_PARTS = ['title', 'byline', 'captions', 'comments', 'contents'] as const;
export type ContentPart = (typeof CONTENT_PARTS)[number];

/** The options that have a default, with it; what the models decide otherwise stays open. */
export interface ContentSettings extends ContentOptions {
  readonly hidden: 'drop' | 'keep';
  readonly math: MathStyle;
  readonly favor: 'precision' | 'balanced' | 'recall';
}

/** The options with their defaults. */
export function contentSettings(options: ContentOptions = {}): ContentSettings {
  const { hidden = 'drop', math = 'dollar', favor = 'balanced' } = options;
  return { ...options, hidden, math, favor };
}
