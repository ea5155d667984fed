// What each tag asks of the collector, as tables by tag number, so that the common tag costs one look.
// Promise: a tag that is in none of the special tables does nothing but make its break.
import { NestingContext } from './nesting.js';
import { tagNumber, tagSet } from '../tokens/tags.js';
import type { ContentModel } from '../tokens/tokenizer.js';
import { DATA, ESCAPABLE, PLAINTEXT, RAW, SCRIPT } from '../tokens/tokenizer.js';

/** Tags with a rule of their own in the collector; for all others the break they make is everything. */
export const HAS_RULE = tagSet(
  'a area base br form frameset html iframe image img link listing meta pre script template',
);
const READ_BY_RULES = 'a area base form html iframe link meta script font annotation-xml';
/** Tags whose attributes some rule reads, here or in foreign content. */
export const READS_ATTRIBUTES = tagSet(READ_BY_RULES);
/** The same when images are links. */
export const READS_ATTRIBUTES_AND_IMAGES = tagSet(`${READ_BY_RULES} image img`);
/** End tags at which an unclosed `pre` is taken to have ended: a tree closes it with its parent. */
export const ENDS_PRE = tagSet('article body li main section td th');
/** Until one of these (or text) is met, a `frameset` may still replace the body. */
export const MAKES_BODY = tagSet(
  'applet area body br button embed hr iframe image img input keygen li dd dt listing marquee object pre select table ' +
    'textarea wbr xmp',
);

/** How the content after a start tag is read. */
export const MODEL_OF = new Uint8Array(256) as Uint8Array & Record<number, ContentModel>;
for (const name of ['title', 'textarea']) MODEL_OF[tagNumber(name)] = ESCAPABLE;
for (const name of ['style', 'xmp', 'iframe', 'noembed', 'noframes', 'noscript']) MODEL_OF[tagNumber(name)] = RAW;
MODEL_OF[tagNumber('script')] = SCRIPT;
MODEL_OF[tagNumber('plaintext')] = PLAINTEXT;

/** Tags that do nothing but make a break, or not even that, where content is ordinary. */
export const ONLY_BREAKS = new Uint8Array(256);
for (let tag = 0; tag < 256; tag++) {
  const isSpecial = HAS_RULE[tag] === 1 || MODEL_OF[tag] !== DATA || NestingContext.concerns(tag);
  if (!isSpecial && tag !== tagNumber('svg') && tag !== tagNumber('math')) ONLY_BREAKS[tag] = 1;
}
