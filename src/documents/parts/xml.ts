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
  readonly attributes: Readonly<Record<string, string>>;
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
  const root = newElement('', {});
  const open: XmlElement[] = [root];
  let nodes = 0;
  let tooDeep = 0;
  let isOver = false;

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (isOver) return;
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
        const element = newElement(name, attributes);
        open.at(-1)!.children.push(element);
        open.push(element);
      },
      ontext(data) {
        if (isOver) return;
        const { children } = open.at(-1)!;
        const last = children.length - 1;
        if (typeof children[last] === 'string') children[last] += data;
        else if (++nodes <= LIMITS.documentNodes.max) children.push(data);
      },
      onclosetag() {
        if (tooDeep > 0) tooDeep--;
        else if (open.length > 1) open.pop();
      },
    },
    { xmlMode, decodeEntities: true, recognizeCDATA: true },
  );
  function end(): void {
    isOver = true;
    parser.pause();
  }
  parser.write(text);
  if (!isOver) parser.end();
  return root;
}

function newElement(name: string, attributes: Record<string, string>): XmlElement {
  return { name, local: name.slice(name.indexOf(':') + 1), attributes, children: [] };
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
  if (element === undefined) return undefined;
  for (const name in element.attributes) {
    if (name === local || (name.endsWith(local) && name[name.length - local.length - 1] === ':'))
      return element.attributes[name];
  }
  return undefined;
}

/** All text below an element. */
export function textBelow(element: XmlElement | undefined): string {
  if (element === undefined) return '';
  let text = '';
  for (const child of element.children) text += typeof child === 'string' ? child : textBelow(child);
  return text;
}
