// Bytes of a page in, what a crawl needs out: one synchronous pass, no tree, strings made only when read.
// Promise: links, title and text as a tree built with scripting on would give them, for any bytes, in linear time.
import { EXEMPLAR } from './exemplar.js';
import { AttributeList } from '../tokens/attributes.js';
import { PageCollector } from './collector.js';
import { detectEncoding, toUtf8 } from '../encoding/encoding.js';
import { ReferenceReader } from '../tokens/entities.js';
import type { ScannedPage } from './scanned-page.js';
import { anchorUrlsOf, createScannedPage } from './scanned-page.js';
import { TextOutput } from './text-output.js';
import { tokenize } from '../tokens/tokenizer.js';
import { ValueDecoder } from '../tokens/values.js';

export type { PageLink } from './page-links.js';
export type { PageFacts, ScannedPage } from './scanned-page.js';

/** Options of {@link scanPage}. */
export interface ScanOptions {
  /** Where the page was loaded from; links are resolved against it. */
  readonly url: string;
  /** The response's Content-Type header. */
  readonly contentType?: string | null | undefined;
  /** Also report `img` elements as links. */
  readonly images?: boolean | undefined;
}

// Scanning is synchronous and never re-enters itself, so all pages share these.
const references = new ReferenceReader();
const attributes = new AttributeList();
const textOutput = new TextOutput(references);
const values = new ValueDecoder(references);

/**
 * One object of each kind that a scan makes stays alive. V8 forgets the hidden class of objects of which none is alive at a
 * full collection, and with it the machine code made for them: the first 25 MB after each collection took three times as
 * long. The last collector holds numbers only, no page.
 */
const alive: { collector?: PageCollector; page?: ScannedPage } = {};
/**
 * Reads a page's links, text, title and metadata from its bytes.
 *
 * @example
 * const page = scanPage(Buffer.from(html), { url: 'https://example.com/', contentType: 'text/html; charset=utf-8' });
 * console.log(page.title, page.links.map((link) => link.url));
 */
export function scanPage(body: Uint8Array, options: ScanOptions): ScannedPage {
  if (unrehearsed > 0 && --unrehearsed === 0) alive.page = rehearse();
  return scan(body, options, false);
}

/** The pages before the rehearsal. On cold code it costs as much as hundreds of pages: a short crawl does without. */
let unrehearsed = 50;
/** V8 notes what a function meets once it ran a few times. */
const REHEARSALS = 20;

/** Scans a page with a bit of everything, several times. */
function rehearse(): ScannedPage {
  const page = Buffer.from(EXEMPLAR);
  for (let k = 1; k < REHEARSALS; k++) readWhole(scan(page, { url: 'https://example.com/a/b?c#d' }, k % 4 === 0));
  return readWhole(scan(page, { url: 'https://example.com/' }, false));
}

/**
 * As {@link scanPage} for who wants the links and facts of a page only: `text` and the texts of links stay empty, which
 * spares half the time.
 */
export function scanLinks(body: Uint8Array, options: ScanOptions): ScannedPage {
  return scan(body, options, true);
}

function scan(body: Uint8Array, options: ScanOptions, linksOnly: boolean): ScannedPage {
  const encoding = detectEncoding(body, options.contentType);
  const bytes = toUtf8(body, encoding);
  const collector = new PageCollector(attributes, textOutput, { images: options.images ?? false, linksOnly });
  alive.collector = collector;
  textOutput.start(bytes);
  tokenize(bytes, attributes, collector);
  collector.finish();
  attributes.release();
  return createScannedPage({
    bytes,
    text: linksOnly ? NO_TEXT : textOutput.take(),
    links: collector.links,
    metadata: collector.metadata,
    url: options.url,
    charset: encoding.name,
    values,
  });
}

const NO_TEXT = Buffer.alloc(0);

/** The page, with every property read as a user might. */
function readWhole(page: ScannedPage): ScannedPage {
  void JSON.stringify(page);
  anchorUrlsOf(page);
  return page;
}
