// The styles and numberings of a DOCX: which paragraphs are headings, and which are items of which list.
// Promise: a circle of styles ends.
import type { Archive } from '../parts/zip.js';
import { attributeOf, childOf, descend, elementsOf, readXml, type XmlElement } from '../parts/xml.js';
import type { Relations } from './office.js';

export interface ParagraphLook {
  /** Of a heading. */
  readonly level?: number;
  readonly list?: { readonly level: number; readonly isOrdered: boolean };
}

export interface DocxStyles {
  paragraph(properties: XmlElement | undefined): ParagraphLook;
}

interface Style {
  readonly name: string;
  readonly basedOn: string | undefined;
  /** What decides of its paragraph properties: a style may have a million others, and is asked by every paragraph. */
  readonly properties: XmlElement | undefined;
}

/** Styles that build on others do so this often, at most. */
const MAX_STEPS = 20;

export function readStyles(archive: Archive, relations: Relations): DocxStyles {
  const styles = stylesOf(archive.text(relations.byType.get('styles')?.[0] ?? ''));
  const isOrdered = numberingsOf(archive.text(relations.byType.get('numbering')?.[0] ?? ''));

  function chainOf(id: string | undefined): Style[] {
    const chain: Style[] = [];
    for (let at = id; at !== undefined && chain.length < MAX_STEPS;) {
      const style = styles.get(at);
      if (!style) break;
      chain.push(style);
      at = style.basedOn;
    }
    return chain;
  }

  return {
    paragraph(properties) {
      const chain = chainOf(attributeOf(childOf(properties, 'pStyle'), 'val'));
      const places = [properties, ...chain.map((style) => style.properties)];
      const level = headingOf(places, chain);
      if (level !== undefined) return { level };
      const numbering = firstOf(places, 'numPr');
      const number = attributeOf(childOf(numbering, 'numId'), 'val');
      if (number === undefined || number === '0') return {};
      const depth = Number(attributeOf(childOf(numbering, 'ilvl'), 'val') ?? 0);
      const place = Number.isInteger(depth) && depth > 0 ? Math.min(depth, 8) : 0;
      return { list: { level: place, isOrdered: isOrdered(number, place) } };
    },
  };
}

function headingOf(places: readonly (XmlElement | undefined)[], chain: readonly Style[]): number | undefined {
  for (const { name } of chain) {
    const level = /^heading ([1-9])$/i.exec(name)?.[1];
    if (level !== undefined) return Number(level);
    if (/^title$/i.test(name)) return 1;
  }
  const outline = Number(attributeOf(firstOf(places, 'outlineLvl'), 'val') ?? 9);
  return outline >= 0 && outline < 9 ? outline + 1 : undefined;
}

function firstOf(places: readonly (XmlElement | undefined)[], local: string): XmlElement | undefined {
  for (const place of places) {
    const found = childOf(place, local);
    if (found) return found;
  }
  return undefined;
}

function stylesOf(text: string | undefined): Map<string, Style> {
  const styles = new Map<string, Style>();
  const root = text === undefined ? undefined : childOf(readXml(text), 'styles');
  for (const style of root ? elementsOf(root) : []) {
    const id = attributeOf(style, 'styleId');
    if (style.local !== 'style' || id === undefined) continue;
    styles.set(id, {
      name: attributeOf(childOf(style, 'name'), 'val') ?? id,
      basedOn: attributeOf(childOf(style, 'basedOn'), 'val'),
      properties: decisive(childOf(style, 'pPr')),
    });
  }
  return styles;
}

function decisive(properties: XmlElement | undefined): XmlElement | undefined {
  if (properties === undefined) return undefined;
  const children = ['numPr', 'outlineLvl'].flatMap((local) => childOf(properties, local) ?? []);
  return { ...properties, children };
}

/** Whether a level of a numbering counts. */
function numberingsOf(text: string | undefined): (number: string, level: number) => boolean {
  const formats = new Map<string, Map<number, string>>();
  const abstractOf = new Map<string, string>();
  const root = text === undefined ? undefined : childOf(readXml(text), 'numbering');
  for (const element of root ? elementsOf(root) : []) {
    const abstract = attributeOf(element, 'abstractNumId');
    const number = attributeOf(element, 'numId');
    if (element.local === 'abstractNum' && abstract !== undefined) {
      const levels = new Map<number, string>();
      for (const level of elementsOf(element)) {
        if (level.local !== 'lvl') continue;
        levels.set(Number(attributeOf(level, 'ilvl')), attributeOf(childOf(level, 'numFmt'), 'val') ?? 'decimal');
      }
      formats.set(abstract, levels);
    } else if (element.local === 'num' && number !== undefined) {
      const target = attributeOf(descend(element, 'abstractNumId'), 'val');
      if (target !== undefined) abstractOf.set(number, target);
    }
  }
  return (number, level) => {
    const format = formats.get(abstractOf.get(number) ?? '')?.get(level) ?? 'bullet';
    return format !== 'bullet' && format !== 'none';
  };
}
