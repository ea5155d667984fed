// Reads a page's bytes into a PageTree, whatever their encoding.
import { detectEncoding, toUtf8 } from '../encoding/encoding.js';
import { AttributeList } from '../tokens/attributes.js';
import { tagName } from '../tokens/tags.js';
import { tokenize } from '../tokens/tokenizer.js';
import { TreeBuilder } from './builder.js';
import { placeStreamedParts } from './streamed-parts.js';
import type { PageTree } from './tree.js';

/** Reads pages into trees whose `tag` column counts in `names`; `names[0]` stands for every other element. */
export function createTreeReader(
  names: readonly string[],
): (body: Uint8Array, contentType?: string | null) => PageTree {
  const own = new Uint8Array(256);
  for (let tag = 1; tag < 256 && tagName(tag) !== undefined; tag++) own[tag] = Math.max(0, names.indexOf(tagName(tag)));
  const text = names.indexOf('#text');
  const raw = names.indexOf('#raw');
  const attributes = new AttributeList();
  const builder = new TreeBuilder(attributes, own, text, raw);
  return (body, contentType) => {
    const bytes = placeStreamedParts(toUtf8(body, detectEncoding(body, contentType)));
    builder.start();
    tokenize(bytes, attributes, builder);
    attributes.release();
    return builder.take(bytes);
  };
}
