// XML and the HTML inside of feeds and books as a small tree, by htmlparser2.
// Promise: linear, bounded in depth and nodes; any input gives a tree. No entity but XML's own is expanded.
import { Parser } from 'htmlparser2';
import { limitReached, LIMITS } from '../../limits.js';

/** Elements beyond the limit of depth after which the rest is left out: the parser's time grows with its open elements. */
const MAX_TOO_DEEP = 1_000;

export interface XmlElement {
  /** As written, with its prefix. */
  readonly name: string;
  /** Without its prefix. */
  readonly local: string;
  /**
   * Names and values by turns. As properties of an object, names that never repeat would take most of the time and memory
   * of reading.
   */
  readonly attributes: readonly string[];
  readonly children: XmlNode[];
}

export type XmlNode = XmlElement | string;

export function readXml(text: string): XmlElement {
  return readTree(text, true);
}

/** HTML, or XHTML that may be broken. */
export function readHtmlTree(text: string): XmlElement {
  return readTree(text, false);
}

function readTree(text: string, xmlMode: boolean): XmlElement {
  const root = newElement('');
  const open: OpenElement[] = [root];
  /** Its tag has begun, and may have further attributes. */
  let begun: OpenElement | undefined;
  let nodes = 0;
  let tooDeep = 0;
  let isOver = false;
  let isEnding = false;
  let hasTooMany = false;

  const parser = new Parser(
    {
      onopentagname(name) {
        place();
        if (!isOver) begun = newElement(name);
      },
      onattribute(name, value) {
        if (!begun) return;
        if (begun.attributes === NONE) begun.attributes = [];
        if (begun.attributes.length < LIMITS.documentAttributes.max * 2) begun.attributes.push(name, value);
        else hasTooMany = true;
      },
      ontext(data) {
        place();
        if (isOver) return;
        const { children } = open.at(-1)!;
        const last = children.length - 1;
        if (typeof children[last] === 'string') children[last] += data;
        else if (++nodes <= LIMITS.documentNodes.max) children.push(data);
      },
      onclosetag() {
        // A tag at the very end has nothing in it, and may be cut off.
        if (isEnding) begun = undefined;
        place();
        if (tooDeep > 0) tooDeep--;
        else if (open.length > 1) open.pop();
      },
    },
    { xmlMode, decodeEntities: true, recognizeCDATA: true },
  );
  /** Puts the element whose tag has begun where it belongs: whatever comes next, the tag is over. */
  function place(): void {
    const element = begun;
    begun = undefined;
    if (isOver || !element) return;
    if (++nodes > LIMITS.documentNodes.max) {
      limitReached('documentNodes');
      return end();
    }
    // What is deeper stands beside its parent.
    if (open.length > LIMITS.documentDepth.max) {
      if (tooDeep++ === 0) limitReached('documentDepth');
      if (tooDeep > MAX_TOO_DEEP) end();
      return;
    }
    open.at(-1)!.children.push(element);
    open.push(element);
  }
  function end(): void {
    isOver = true;
    parser.pause();
  }
  parser.write(text);
  isEnding = true;
  if (!isOver) parser.end();
  if (hasTooMany) limitReached('documentAttributes');
  return root;
}

interface OpenElement extends XmlElement {
  attributes: string[];
}

/** Most elements have none: one list for all of them. */
const NONE: string[] = [];

function newElement(name: string): OpenElement {
  return { name, local: name.slice(name.indexOf(':') + 1), attributes: NONE, children: [] };
}

export function isElement(node: XmlNode): node is XmlElement {
  return typeof node !== 'string';
}

/** The elements directly below one. */
export function elementsOf(element: XmlElement): XmlElement[] {
  return element.children.filter(isElement);
}

/** The first element directly below one, by its name without prefix. */
export function childOf(element: XmlElement | undefined, local: string): XmlElement | undefined {
  for (const child of element?.children ?? []) if (isElement(child) && child.local === local) return child;
  return undefined;
}

/** The first element at the end of a path of names. */
export function descend(element: XmlElement | undefined, ...path: readonly string[]): XmlElement | undefined {
  let at = element;
  for (const local of path) at = childOf(at, local);
  return at;
}

/** The first element of a name anywhere below one, in the order of the file. */
export function findBelow(element: XmlElement, local: string): XmlElement | undefined {
  for (const child of element.children) {
    if (!isElement(child)) continue;
    const found = child.local === local ? child : findBelow(child, local);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** An attribute by its name without prefix. */
export function attributeOf(element: XmlElement | undefined, local: string): string | undefined {
  const { attributes } = element ?? { attributes: NONE };
  for (let at = 0; at < attributes.length; at += 2) {
    const name = attributes[at]!;
    if (name === local || (name.endsWith(local) && name[name.length - local.length - 1] === ':'))
      return attributes[at + 1];
  }
  return undefined;
}

/** An attribute by its name as it is written. */
export function attributeNamed(element: XmlElement | undefined, name: string): string | undefined {
  const { attributes } = element ?? { attributes: NONE };
  for (let at = 0; at < attributes.length; at += 2) if (attributes[at] === name) return attributes[at + 1];
  return undefined;
}

/** All text below an element. */
export function textBelow(element: XmlElement | undefined): string {
  if (element === undefined) return '';
  let text = '';
  for (const child of element.children) text += typeof child === 'string' ? child : textBelow(child);
  return text;
}
