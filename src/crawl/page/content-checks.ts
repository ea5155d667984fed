// The checks of the options of content, made of the one table of what they accept.
// Promise: whoever takes these options (extractors, handlers, runs) refuses the same values in the same words.
import { CONTENT_CHOICES, type ContentOptions } from '../../extract/content-options.js';
import { aBoolean, type Check, oneOf } from '../../option-checks.js';

export const CONTENT_CHECKS = Object.fromEntries(
  Object.entries(CONTENT_CHOICES).map(([name, choices]: [string, readonly (string | boolean)[]]) => [
    name,
    choices.includes(true) ? aBoolean : oneOf(choices),
  ]),
) as { readonly [Name in keyof ContentOptions]-?: Check };
