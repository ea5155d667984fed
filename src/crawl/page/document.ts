// Composes parse and handle into `$`: the document from the page's bytes, cheerio around it.
// Promise: cheerio loads when the first page is asked for, and not before.
import type { CheerioAPI } from 'cheerio';
import { cheerioOn, nodePrototypes } from '../../handle/document.js';
import { readDocument } from '../../parse/document/document.js';
import { inheritFrom } from '../../parse/document/nodes.js';
import type { DocumentSource } from '../../parse/document/source.js';

let inherited = false;

/** `$` of an HTML page in UTF-8. */
export function documentOf(page: Buffer | DocumentSource): CheerioAPI {
  if (!inherited) {
    inheritFrom(nodePrototypes());
    inherited = true;
  }
  return cheerioOn(readDocument(page));
}
