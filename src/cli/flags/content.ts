// The flags about the content of a page as the options of the library.
// Promise: flags that are not given set nothing; a part that is both kept and left out is refused.
import type { ContentOptions, ContentPart } from '../../extract/content-options.js';
import { UsageError } from '../exit-codes.js';

export interface ContentFlags extends Pick<ContentOptions, 'favor' | 'hidden' | 'math'> {
  readonly keep?: readonly ContentPart[];
  readonly leaveOut?: readonly ContentPart[];
}

export function contentOf(flags: ContentFlags): { readonly content?: ContentOptions } {
  const { favor, hidden, math, keep = [], leaveOut = [] } = flags;
  const both = keep.find((part) => leaveOut.includes(part));
  if (both !== undefined) throw new UsageError(`--keep and --leave-out both name "${both}": give it to one of them`);
  const content: ContentOptions = {
    ...(favor !== undefined && { favor }),
    ...(hidden !== undefined && { hidden }),
    ...(math !== undefined && { math }),
    ...Object.fromEntries([
      ...keep.map((part) => [part, true] as const),
      ...leaveOut.map((part) => [part, false] as const),
    ]),
  };
  return Object.keys(content).length > 0 ? { content } : {};
}
