// The styles of an OpenDocument file that mean something: bold, italic, raised text, titles, counted lists.
import type { Span } from '../parts/blocks.js';
import { attributeOf, childOf, elementsOf, type XmlElement } from '../parts/xml.js';

export interface OdfStyles {
  /** Whether the tables of the file are its sheets. */
  readonly isSpreadsheet: boolean;
  marksOf(style: string | undefined): Omit<Span, 'text'>;
  isTitle(style: string | undefined): boolean;
  /** Whether a list of this style counts at a level, from 0. */
  isOrdered(style: string | undefined, level: number): boolean;
}

export function readOdfStyles(parts: readonly (XmlElement | undefined)[]): OdfStyles {
  const marks = new Map<string, Omit<Span, 'text'>>();
  const parents = new Map<string, string>();
  const ordered = new Map<string, Set<number>>();
  for (const style of parts.flatMap(stylesIn)) {
    const name = attributeOf(style, 'name');
    if (name === undefined) continue;
    if (style.name === 'text:list-style') ordered.set(name, countedLevels(style));
    else if (attributeOf(style, 'family') === 'text') marks.set(name, marksIn(childOf(style, 'text-properties')));
    else if (attributeOf(style, 'family') === 'paragraph') {
      const parent = attributeOf(style, 'parent-style-name');
      if (parent !== undefined) parents.set(name, parent);
    }
  }
  return {
    isSpreadsheet: parts.some((part) => childOf(childOf(part, 'body'), 'spreadsheet') !== undefined),
    marksOf: (style) => (style === undefined ? {} : (marks.get(style) ?? {})),
    isTitle: (style) => style !== undefined && (style === 'Title' || parents.get(style) === 'Title'),
    isOrdered: (style, level) => style !== undefined && (ordered.get(style)?.has(level) ?? false),
  };
}

function stylesIn(part: XmlElement | undefined): XmlElement[] {
  if (part === undefined) return [];
  return ['styles', 'automatic-styles'].flatMap((local) => {
    const list = childOf(part, local);
    return list ? elementsOf(list) : [];
  });
}

function countedLevels(list: XmlElement): Set<number> {
  const levels = new Set<number>();
  for (const level of elementsOf(list)) {
    // A level that counts in nothing is not counted.
    if (level.local !== 'list-level-style-number' || attributeOf(level, 'num-format') === '') continue;
    levels.add(Number(attributeOf(level, 'level')) - 1);
  }
  return levels;
}

function marksIn(properties: XmlElement | undefined): Omit<Span, 'text'> {
  const position = attributeOf(properties, 'text-position') ?? '';
  return {
    ...(attributeOf(properties, 'font-weight') === 'bold' && { bold: true }),
    ...(attributeOf(properties, 'font-style') === 'italic' && { italic: true }),
    ...(position.startsWith('super') && { script: 'sup' as const }),
    ...(position.startsWith('sub') && { script: 'sub' as const }),
  };
}
