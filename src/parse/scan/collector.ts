// Listens to the tokenizer and keeps what a crawl needs: text, links, metadata, as a tree built with scripting on.
// Promise: the few rules of tree building that change those outputs, each in constant time, without building the tree.
import type { AttributeList } from '../tokens/attributes.js';
import { CR, LESS_THAN, LF, ascii, seek } from '../../base/bytes.js';
import { ForeignContent } from '../tokens/foreign.js';
import { LinkRecords } from './link-records.js';
import { PageMetadata, isJsonLd } from './metadata.js';
import { NestingContext } from './nesting.js';
import { BREAK_OF, WORD_BREAK, tagNumber } from '../tokens/tags.js';
import { ENDS_PRE, HAS_RULE, MAKES_BODY, MODEL_OF, ONLY_BREAKS } from './tag-rules.js';
import { READS_ATTRIBUTES, READS_ATTRIBUTES_AND_IMAGES } from './tag-rules.js';
import type { TextOutput } from './text-output.js';
import type { ContentModel, TokenSink } from '../tokens/tokenizer.js';
import { DATA, ESCAPABLE } from '../tokens/tokenizer.js';

const A = tagNumber('a');
const AREA = tagNumber('area');
const BASE = tagNumber('base');
const BR = tagNumber('br');
const FORM = tagNumber('form');
const FRAMESET = tagNumber('frameset');
const HTML = tagNumber('html');
const IFRAME = tagNumber('iframe');
const IMAGE = tagNumber('image');
const IMG = tagNumber('img');
const LINK = tagNumber('link');
const LISTING = tagNumber('listing');
const MATH = tagNumber('math');
const META = tagNumber('meta');
const P = tagNumber('p');
const PRE = tagNumber('pre');
const SCRIPT_TAG = tagNumber('script');
const SVG = tagNumber('svg');
const TEMPLATE = tagNumber('template');
const TEXTAREA = tagNumber('textarea');
const TITLE = tagNumber('title');
const XMP = tagNumber('xmp');
const PLAINTEXT_TAG = tagNumber('plaintext');

const HREF = ascii('href');
const SRC = ascii('src');
const ACTION = ascii('action');
const REL = ascii('rel');
const ALT = ascii('alt');

/** Shared by all pages: one is scanned at a time. */
const openElements = new Int32Array(256);

/** What is asked of a page. */
export interface Wanted {
  /** Images are links too. */
  readonly images: boolean;
  /** No text, of the page or of its links. */
  readonly linksOnly: boolean;
}

/** Collects one page. */
export class PageCollector implements TokenSink {
  readonly links = new LinkRecords();
  readonly metadata = new PageMetadata();
  readonly readsAttributes: Uint8Array;
  readonly #attributes: AttributeList;
  readonly #text: TextOutput;
  readonly #images: boolean;
  /** Nobody reads text: only what decides whether there can be a frameset is looked at. */
  readonly #linksOnly: boolean;
  readonly #foreign = new ForeignContent();
  readonly #nesting = new NestingContext();
  /** How many HTML elements of each kind are open, not knowing their order. */
  readonly #open = openElements.fill(0);
  /** Depth of foreign content at each open `template`. */
  readonly #templates: number[] = [];
  /** The link whose text is being read, or -1, and how many markers were open when it began. */
  #link = -1;
  #linkMarkers = 0;
  #linkOpen = false;
  #formOpen = false;
  #framesetPossible = true;
  #inFrameset = false;
  #preDepth = 0;
  #preJustOpened = false;
  /** True where nothing counts: in a template, a frameset, an SVG title. */
  #silent = false;
  /** True where text is not kept. */
  #mute = false;
  /** True where most of a page is: not silent, foreign or preformatted, and too late for a frameset. */
  #ordinary = false;
  #rawTag = 0;
  #scriptIsJsonLd = false;

  constructor(attributes: AttributeList, text: TextOutput, { images, linksOnly }: Wanted) {
    this.#attributes = attributes;
    this.#text = text;
    this.#images = images;
    this.#linksOnly = linksOnly;
    this.readsAttributes = images ? READS_ATTRIBUTES_AND_IMAGES : READS_ATTRIBUTES;
  }

  get inForeignContent(): boolean {
    return this.#foreign.inside;
  }

  text(bytes: Buffer, from: number, end: number): number {
    if (this.#mute) return seek(bytes, LESS_THAN, from + 1, end);
    if (this.#preDepth > 0) {
      const to = seek(bytes, LESS_THAN, from + 1, end);
      this.#preformatted(bytes, from, to, true);
      return to;
    }
    return this.#text.append(bytes, from, end);
  }

  space(): boolean {
    if (this.#mute) return true;
    if (this.#preDepth > 0) return false;
    this.#text.owe(WORD_BREAK);
    return true;
  }

  characterData(bytes: Buffer, from: number, to: number): void {
    if (!this.#mute) this.#text.appendPreformatted(bytes, from, to, false);
  }

  startTag(bytes: Buffer, tag: number, nameFrom: number, nameTo: number): ContentModel {
    if (this.#ordinary && ONLY_BREAKS[tag] === 1) {
      this.#text.owe(BREAK_OF[tag]!);
      this.#open[tag]!++;
      return DATA;
    }
    if (this.#ordinary && tag === A) {
      this.#open[A]!++;
      this.#startLink(bytes);
      return DATA;
    }
    return this.#startSpecial(bytes, tag, nameFrom, nameTo);
  }

  endTag(bytes: Buffer, tag: number, nameFrom: number, nameTo: number): void {
    if (this.#ordinary && ONLY_BREAKS[tag] === 1 && this.#open[tag]! > 0) {
      this.#text.owe(BREAK_OF[tag]!);
      this.#open[tag]!--;
      return;
    }
    this.#endSpecial(bytes, tag, nameFrom, nameTo);
  }

  #startSpecial(bytes: Buffer, tag: number, nameFrom: number, nameTo: number): ContentModel {
    if (tag === SVG || tag === MATH || this.#foreign.depth > 0) {
      const foreign = this.#foreign.startTag(bytes, tag, nameFrom, nameTo, this.#attributes);
      this.#checkContent();
      if (foreign) return DATA;
    }
    if (tag === 0) return DATA;
    if (!this.#silent) {
      if (NestingContext.concerns(tag)) {
        if (this.#nesting.ignores(tag)) return DATA;
        this.#afterNesting(this.#nesting.startTag(tag));
      }
      const level = BREAK_OF[tag]!;
      if (level !== 0) this.#text.owe(level);
      this.#open[tag]!++;
      if (MAKES_BODY[tag] === 1 && this.#framesetPossible) {
        this.#framesetPossible = false;
        this.#checkContent();
      }
      if (HAS_RULE[tag] === 1) this.#applyRule(bytes, tag);
    } else {
      this.#open[tag]!++;
      if (tag === TEMPLATE && !this.#inFrameset) this.#templates.push(this.#foreign.depth);
    }
    this.#rawTag = tag;
    return MODEL_OF[tag]!;
  }

  #endSpecial(bytes: Buffer, tag: number, nameFrom: number, nameTo: number): void {
    if (this.#foreign.depth > 0) {
      const closed = this.#foreign.endTag(bytes, nameFrom, nameTo);
      // An end tag of an HTML element around the drawing closes the drawing with it.
      const endsHtml = tag === P || tag === BR || (tag !== 0 && this.#open[tag]! > 0);
      if (!closed && this.#foreign.inside && endsHtml) this.#foreign.leave();
      this.#checkContent();
      if (closed || this.#foreign.inside) return;
    }
    if (tag === 0) return;
    if (this.#open[tag]! > 0) this.#open[tag]!--;
    else if (tag !== P && tag !== BR) return;
    if (tag === TEMPLATE) {
      const depth = this.#templates.pop();
      if (depth !== undefined) this.#foreign.truncate(depth);
      this.#checkContent();
    }
    if (this.#silent) return;
    const level = BREAK_OF[tag]!;
    if (level !== 0) this.#text.owe(level);
    if (NestingContext.concerns(tag)) this.#afterNesting(this.#nesting.endTag(tag));
    if (tag === BR) {
      this.#text.oweLine();
    } else if (tag === A) {
      if (this.#linkOpen && this.#linkMarkers === this.#nesting.markers) this.#closeLink();
    } else if (tag === FORM) {
      this.#formOpen = false;
    } else if (tag === PRE || tag === LISTING) {
      if (this.#preDepth > 0) this.#preDepth--;
      this.#checkContent();
    } else if (ENDS_PRE[tag] === 1 && this.#preDepth > 0) {
      this.#preDepth = 0;
      this.#checkContent();
    }
  }

  content(bytes: Buffer, from: number, to: number, model: ContentModel): void {
    if (this.#silent) return;
    switch (this.#rawTag) {
      case TITLE:
        this.metadata.title ??= { from, to };
        break;
      case SCRIPT_TAG:
        if (this.#scriptIsJsonLd) this.metadata.jsonLd.push({ from, to });
        break;
      case TEXTAREA:
      case XMP:
      case PLAINTEXT_TAG:
        this.#preJustOpened = true;
        if (!this.#mute) this.#preformatted(bytes, from, to, model === ESCAPABLE);
        break;
      default:
        break;
    }
  }

  /** No output depends on comments and declarations. */
  comment(): void {}
  declaration(): void {}

  /** Ends what the end of the input leaves open. */
  finish(): void {
    if (this.#linkOpen) this.#closeLink();
    this.links.seal();
  }

  #applyRule(bytes: Buffer, tag: number): void {
    switch (tag) {
      case A:
        this.#startLink(bytes);
        break;
      case AREA:
        this.#addLink(bytes, AREA, HREF);
        break;
      case IMG:
      case IMAGE:
        if (this.#images) this.#addLink(bytes, IMG, SRC);
        break;
      case IFRAME:
        this.#addLink(bytes, IFRAME, SRC);
        break;
      case FORM:
        // A form inside a form is no element.
        if (!this.#formOpen) this.#addLink(bytes, FORM, ACTION);
        this.#formOpen = true;
        break;
      case LINK: {
        const link = this.#addLink(bytes, LINK, HREF);
        if (link < 0) break;
        const href = { from: this.links.hrefFrom(link), to: this.links.hrefTo(link) };
        this.metadata.takeLink(bytes, href, this.links.relFrom(link), this.links.relTo(link));
        break;
      }
      case BASE:
        this.metadata.takeBase(bytes, this.#attributes);
        break;
      case META:
        this.metadata.takeMeta(bytes, this.#attributes);
        break;
      case HTML:
        this.metadata.takeHtml(bytes, this.#attributes);
        break;
      case BR:
        this.#text.oweLine();
        break;
      case PRE:
      case LISTING:
        this.#preDepth++;
        this.#preJustOpened = true;
        this.#checkContent();
        break;
      case SCRIPT_TAG:
        this.#scriptIsJsonLd = isJsonLd(bytes, this.#attributes);
        break;
      case TEMPLATE:
        this.#templates.push(this.#foreign.depth);
        this.#checkContent();
        break;
      case FRAMESET:
        if (this.#framesetPossible && this.#text.length === 0) this.#inFrameset = true;
        this.#checkContent();
        break;
      default:
        break;
    }
  }

  /** A link inside a link ends the outer one. */
  #startLink(bytes: Buffer): void {
    if (this.#linkOpen) this.#closeLink();
    this.#link = this.#addLink(bytes, A, HREF);
    this.#linkOpen = true;
    this.#linkMarkers = this.#nesting.markers;
    if (this.#link >= 0) this.links.openText(this.#link, this.#text.length);
  }

  /** Notes the link of the current tag; -1 when it has no such attribute. */
  #addLink(bytes: Buffer, element: number, attribute: Uint8Array): number {
    const attributes = this.#attributes;
    const href = attributes.find(bytes, attribute);
    if (href < 0) return -1;
    const link = this.links.add(element, attributes.valueFrom(href), attributes.valueTo(href));
    const rel = attributes.find(bytes, REL);
    if (rel >= 0) this.links.setRel(link, attributes.valueFrom(rel), attributes.valueTo(rel));
    if (element === AREA || element === IMG) {
      const alt = attributes.find(bytes, ALT);
      if (alt >= 0) this.links.setLabel(link, attributes.valueFrom(alt), attributes.valueTo(alt));
    }
    return link;
  }

  #closeLink(): void {
    if (this.#link >= 0 && !this.#linksOnly) this.links.closeText(this.#link, this.#text.length);
    this.#linkOpen = false;
  }

  /** A table cell or object that closes takes the link opened in it along. */
  #afterNesting(markers: number): void {
    if (this.#linkOpen && markers < this.#linkMarkers) this.#closeLink();
  }

  #preformatted(bytes: Buffer, from: number, to: number, decode: boolean): void {
    let start = from;
    if (this.#preJustOpened) {
      this.#preJustOpened = false;
      if (start < to && bytes[start] === CR) start++;
      if (start < to && bytes[start] === LF) start++;
    }
    this.#text.appendPreformatted(bytes, start, to, decode);
  }

  /** To be called when anything that makes content silent or special has changed. */
  #checkContent(): void {
    this.#silent = this.#templates.length > 0 || this.#inFrameset || this.#foreign.isMuted;
    this.#mute = this.#silent || (this.#linksOnly && !this.#framesetPossible);
    this.#ordinary = !this.#silent && this.#foreign.depth === 0 && this.#preDepth === 0 && !this.#framesetPossible;
  }
}
