// Reads PPTX: each slide's title is a heading, its text paragraphs and lists, its tables tables.
// Promise: slides come in the order of the show; hidden ones are left out.
import type { DocumentParts } from '../model.js';
import { addAll, type Block, type Cell, inlineHtml, type Span, writeBlocks } from '../parts/blocks.js';
import { writtenHtml } from '../parts/html.js';
import {
  attributeNamed,
  attributeOf,
  childOf,
  descend,
  elementsOf,
  findBelow,
  readXml,
  textBelow,
  type XmlElement,
} from '../parts/xml.js';
import { cellHtml } from './docx.js';
import { corePropertiesOf, mainPart, openOffice, relationsOf } from './office.js';

type Targets = ReadonlyMap<string, string>;

export function readPptx(bytes: Uint8Array): DocumentParts {
  const archive = openOffice(bytes);
  const part = mainPart(archive, 'ppt/presentation.xml');
  const { byId } = relationsOf(archive, part);
  const show = childOf(readXml(archive.text(part) ?? ''), 'presentation');
  const blocks: Block[] = [];
  let pages = 0;
  for (const entry of elementsOf(childOf(show, 'sldIdLst') ?? readXml(''))) {
    const file = byId.get(attributeNamed(entry, 'r:id') ?? '');
    const text = file === undefined ? undefined : archive.text(file);
    const slide = text === undefined ? undefined : childOf(readXml(text), 'sld');
    if (!slide || ['0', 'false'].includes(attributeOf(slide, 'show') ?? '1')) continue;
    pages++;
    const tree = descend(slide, 'cSld', 'spTree');
    const targets = relationsOf(archive, file!).byId;
    for (const block of tree ? shapesOf(tree, targets) : []) blocks.push({ ...block, page: pages });
  }
  return { facts: { ...corePropertiesOf(archive), pages }, body: writtenHtml((out) => writeBlocks(blocks, out)) };
}

/** Titles first, wherever they were drawn. */
function shapesOf(tree: XmlElement, targets: Targets): Block[] {
  const titles: Block[] = [];
  const rest: Block[] = [];
  for (const shape of elementsOf(tree)) {
    if (shape.local === 'grpSp') addAll(rest, shapesOf(shape, targets));
    else if (shape.local === 'graphicFrame') {
      const table = findBelow(shape, 'tbl');
      if (table) rest.push({ kind: 'table', rows: rowsOf(table, targets) });
    } else if (shape.local === 'sp') {
      const kind = placeOf(shape);
      if (kind === 'sldNum' || kind === 'dt' || kind === 'ftr') continue;
      const body = childOf(shape, 'txBody');
      if (!body) continue;
      if (kind === 'title' || kind === 'ctrTitle') {
        const html = paragraphsOf(body).map((paragraph) => inlineHtml(spansOf(paragraph, targets)));
        titles.push({ kind: 'heading', level: 2, html: html.filter((one) => one !== '').join(' ') });
      } else addAll(rest, textOf(body, kind, targets));
    }
  }
  return [...titles, ...rest];
}

function placeOf(shape: XmlElement): string | undefined {
  const place = descend(shape, 'nvSpPr', 'nvPr', 'ph');
  return place && (attributeOf(place, 'type') ?? 'body');
}

/** Text of a body is a list unless its paragraphs say that they have no bullets. */
function textOf(body: XmlElement, kind: string | undefined, targets: Targets): Block[] {
  return paragraphsOf(body).map((paragraph): Block => {
    const html = inlineHtml(spansOf(paragraph, targets));
    const look = childOf(paragraph, 'pPr');
    const isOrdered = childOf(look, 'buAutoNum') !== undefined;
    const hasBullet = isOrdered || childOf(look, 'buChar') !== undefined;
    const isItem = hasBullet || (kind === 'body' && childOf(look, 'buNone') === undefined);
    if (!isItem || html.trim() === '') return { kind: 'paragraph', html };
    return { kind: 'item', level: Number(attributeOf(look, 'lvl') ?? 0) || 0, isOrdered, html };
  });
}

function paragraphsOf(body: XmlElement): XmlElement[] {
  return elementsOf(body).filter(({ local }) => local === 'p');
}

function spansOf(paragraph: XmlElement, targets: Targets): Span[] {
  const spans: Span[] = [];
  for (const child of elementsOf(paragraph)) {
    if (child.local === 'br') spans.push({ text: '\n' });
    if (child.local !== 'r' && child.local !== 'fld') continue;
    const look = childOf(child, 'rPr');
    const raised = Number(attributeOf(look, 'baseline') ?? 0);
    spans.push({
      text: textBelow(childOf(child, 't')),
      bold: attributeOf(look, 'b') === '1',
      italic: attributeOf(look, 'i') === '1',
      script: raised > 0 ? 'sup' : raised < 0 ? 'sub' : undefined,
      href: targets.get(attributeNamed(childOf(look, 'hlinkClick'), 'r:id') ?? ''),
    });
  }
  return spans;
}

function rowsOf(table: XmlElement, targets: Targets): Cell[][] {
  const hasHeader = attributeOf(childOf(table, 'tblPr'), 'firstRow') === '1';
  const rows = elementsOf(table).filter(({ local }) => local === 'tr');
  return rows.map((row, at) =>
    elementsOf(row)
      .filter(
        (cell) => cell.local === 'tc' && attributeOf(cell, 'hMerge') !== '1' && attributeOf(cell, 'vMerge') !== '1',
      )
      .map((cell) => {
        const body = childOf(cell, 'txBody');
        return {
          html: body ? cellHtml(textOf(body, undefined, targets)) : '',
          isHeader: hasHeader && at === 0,
          columns: Number(attributeOf(cell, 'gridSpan') ?? 1) || 1,
          rows: Number(attributeOf(cell, 'rowSpan') ?? 1) || 1,
        };
      }),
  );
}
