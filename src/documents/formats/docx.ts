// Reads DOCX: paragraphs with the styles that make them headings and list items, tables, links, notes.
// Promise: what was deleted under tracked changes is not read; text boxes are read once.
import type { DocumentParts } from '../model.js';
import { addAll, type Block, type Cell, inlineHtml, type Span, writeBlocks } from '../parts/blocks.js';
import { writtenHtml } from '../parts/html.js';
import {
  attributeNamed,
  attributeOf,
  childOf,
  descend,
  elementsOf,
  isElement,
  readXml,
  type XmlElement,
} from '../parts/xml.js';
import { type DocxStyles, readStyles } from './docx-styles.js';
import { corePropertiesOf, mainPart, openOffice, relationsOf } from './office.js';

type Marks = Omit<Span, 'text'>;

/** Not in the text: deleted, moved away, the other form of what is already read, or settings. */
const SKIPPED = new Set(
  'del moveFrom Fallback instrText delText pPr rPr tblPr tblGrid sectPr sdtPr sdtEndPr'.split(' '),
);

export function readDocx(bytes: Uint8Array): DocumentParts {
  const archive = openOffice(bytes);
  const part = mainPart(archive, 'word/document.xml');
  const relations = relationsOf(archive, part);
  const styles = readStyles(archive, relations);
  const xml = archive.text(part) ?? '';
  const reader = new Reader(styles, relations.byId);
  const body = descend(readXml(xml), 'document', 'body');
  const blocks = body ? reader.blocksOf(body) : [];
  for (const kind of ['footnotes', 'endnotes']) {
    const text = archive.text(relations.byType.get(kind)?.[0] ?? '');
    if (text !== undefined) addAll(blocks, reader.notes(readXml(text), kind === 'footnotes' ? 'footnote' : 'endnote'));
  }
  return { facts: corePropertiesOf(archive), body: writtenHtml((out) => writeBlocks(blocks, out)) };
}

class Reader {
  /** The address of the field that is being read, by the depth of fields. */
  readonly #fields: { instruction: string; href: string | undefined; isResult: boolean }[] = [];
  readonly #noteNumbers = new Map<string, number>();

  constructor(
    readonly styles: DocxStyles,
    readonly targets: ReadonlyMap<string, string>,
  ) {}

  blocksOf(parent: XmlElement, blocks: Block[] = []): Block[] {
    for (const element of elementsOf(parent)) {
      if (SKIPPED.has(element.local)) continue;
      if (element.local === 'p') addAll(blocks, this.#paragraph(element));
      else if (element.local === 'tbl') blocks.push({ kind: 'table', rows: this.#rows(element) });
      else this.blocksOf(element, blocks);
    }
    return blocks;
  }

  notes(root: XmlElement, kind: string): Block[] {
    const notes: Block[] = [];
    for (const note of elementsOf(root).flatMap(elementsOf)) {
      const number = this.#noteNumbers.get(`${kind} ${attributeOf(note, 'id')}`);
      if (number === undefined) continue;
      const inner = this.blocksOf(note).map((block) => ('html' in block ? block.html : ''));
      notes.push({ kind: 'paragraph', html: `[${number}] ${inner.join(' ').trim()}` });
    }
    return notes;
  }

  #paragraph(paragraph: XmlElement): Block[] {
    const spans: Span[] = [];
    const boxes: Block[] = [];
    this.#spans(paragraph, {}, spans, boxes);
    const html = inlineHtml(spans);
    const { level, list } = this.styles.paragraph(childOf(paragraph, 'pPr'));
    // A heading says by itself that it is one.
    const plain = () => inlineHtml(spans.map((span) => ({ ...span, bold: false })));
    if (level !== undefined && html !== '') return [{ kind: 'heading', level, html: plain() }, ...boxes];
    if (list !== undefined && html !== '') return [{ kind: 'item', ...list, html }, ...boxes];
    return [{ kind: 'paragraph', html }, ...boxes];
  }

  #spans(parent: XmlElement, marks: Marks, spans: Span[], boxes: Block[]): void {
    for (const child of parent.children) {
      if (!isElement(child)) continue;
      const add = (text: string) => void spans.push({ ...marks, text, href: marks.href ?? this.#fieldHref() });
      switch (child.local) {
        case 'r':
          this.#spans(child, this.#marksOf(childOf(child, 'rPr'), marks), spans, boxes);
          break;
        case 't':
          add(child.children.filter((node) => typeof node === 'string').join(''));
          break;
        case 'tab':
        case 'ptab':
          add('\t');
          break;
        case 'br':
        case 'cr':
          add(attributeOf(child, 'type') === 'page' ? ' ' : '\n');
          break;
        case 'noBreakHyphen':
          add('\u2011');
          break;
        case 'sym': {
          const code = parseInt(attributeOf(child, 'char') ?? '', 16);
          // Below 0xf000 a character of the font is one of Unicode.
          if (code > 0 && code < 0xe000) add(String.fromCodePoint(code));
          break;
        }
        case 'hyperlink':
          this.#spans(child, { ...marks, href: this.targets.get(attributeNamed(child, 'r:id') ?? '') }, spans, boxes);
          break;
        case 'fldSimple':
          this.#spans(child, { ...marks, href: hrefIn(attributeOf(child, 'instr') ?? '') ?? marks.href }, spans, boxes);
          break;
        case 'fldChar':
          this.#field(attributeOf(child, 'fldCharType'));
          break;
        case 'instrText':
          this.#instruct(child.children.filter((node) => typeof node === 'string').join(''));
          break;
        case 'footnoteReference':
        case 'endnoteReference':
          spans.push({ text: `[${this.#noteNumber(child)}]`, script: 'sup' });
          break;
        case 'txbxContent':
          this.blocksOf(child, boxes);
          break;
        default:
          if (!SKIPPED.has(child.local)) this.#spans(child, marks, spans, boxes);
      }
    }
  }

  #noteNumber(reference: XmlElement): number {
    const id = `${reference.local.replace('Reference', '')} ${attributeOf(reference, 'id')}`;
    if (!this.#noteNumbers.has(id)) this.#noteNumbers.set(id, this.#noteNumbers.size + 1);
    return this.#noteNumbers.get(id)!;
  }

  #marksOf(properties: XmlElement | undefined, marks: Marks): Marks {
    if (properties === undefined) return marks;
    const align = attributeOf(childOf(properties, 'vertAlign'), 'val');
    return {
      ...marks,
      bold: isOn(childOf(properties, 'b')) ?? marks.bold,
      italic: isOn(childOf(properties, 'i')) ?? marks.italic,
      struck: isOn(childOf(properties, 'strike')) ?? marks.struck,
      script: align === 'superscript' ? 'sup' : align === 'subscript' ? 'sub' : marks.script,
    };
  }

  #field(type: string | undefined): void {
    if (type === 'begin') this.#fields.push({ instruction: '', href: undefined, isResult: false });
    else if (type === 'end') this.#fields.pop();
    else if (type === 'separate' && this.#fields.length > 0) {
      const field = this.#fields.at(-1)!;
      field.isResult = true;
      field.href = hrefIn(field.instruction);
    }
  }

  #instruct(text: string): void {
    const field = this.#fields.at(-1);
    if (field && !field.isResult && field.instruction.length < 10_000) field.instruction += text;
  }

  #fieldHref(): string | undefined {
    return this.#fields.at(-1)?.href;
  }

  #rows(table: XmlElement): Cell[][] {
    const rows: Cell[][] = [];
    // By column: the cell that one below continues.
    const above = new Map<number, { cell: { rows: number } & Cell }>();
    for (const row of rowsOf(table)) {
      const isHeader = isOn(descend(row, 'trPr', 'tblHeader')) === true || (rows.length === 0 && hasFirstRow(table));
      const cells: Cell[] = [];
      let column = 0;
      for (const element of cellsOf(row)) {
        const properties = childOf(element, 'tcPr');
        const columns = spanOf(attributeOf(childOf(properties, 'gridSpan'), 'val'));
        const merge = childOf(properties, 'vMerge');
        const isContinued = merge !== undefined && attributeOf(merge, 'val') !== 'restart';
        const upper = above.get(column);
        if (isContinued && upper) upper.cell.rows++;
        else {
          const cell = { html: cellHtml(this.blocksOf(element)), isHeader, columns, rows: 1 };
          cells.push(cell);
          if (merge === undefined) above.delete(column);
          else above.set(column, { cell });
        }
        column += columns;
      }
      rows.push(cells);
    }
    return rows;
  }
}

/** The blocks of a cell: one paragraph is its text alone. */
export function cellHtml(blocks: readonly Block[]): string {
  const filled = blocks.filter((block) => !('html' in block) || block.html.trim() !== '');
  const [only] = filled;
  if (filled.length === 1 && only!.kind === 'paragraph') return only!.html;
  return writtenHtml((out) => writeBlocks(filled, out));
}

function rowsOf(table: XmlElement): XmlElement[] {
  return elementsOf(table).flatMap((child) => (child.local === 'tr' ? [child] : wrapped(child, 'tr')));
}

function cellsOf(row: XmlElement): XmlElement[] {
  return elementsOf(row).flatMap((child) => (child.local === 'tc' ? [child] : wrapped(child, 'tc')));
}

/** Rows and cells may stand in controls. */
function wrapped(child: XmlElement, local: string): XmlElement[] {
  const content = child.local === 'sdt' ? childOf(child, 'sdtContent') : undefined;
  return content ? elementsOf(content).filter((element) => element.local === local) : [];
}

function hasFirstRow(table: XmlElement): boolean {
  const look = descend(table, 'tblPr', 'tblLook');
  if (look === undefined) return false;
  const first = attributeOf(look, 'firstRow');
  return first !== undefined ? first === '1' : (parseInt(attributeOf(look, 'val') ?? '0', 16) & 0x20) !== 0;
}

function spanOf(value: string | undefined): number {
  const count = Number(value);
  return Number.isInteger(count) && count > 1 ? Math.min(count, 1000) : 1;
}

/** A property that is there is on, unless it says otherwise. */
export function isOn(property: XmlElement | undefined): boolean | undefined {
  if (property === undefined) return undefined;
  return !['0', 'false', 'off', 'none'].includes(attributeOf(property, 'val') ?? '1');
}

function hrefIn(instruction: string): string | undefined {
  return /^\s*HYPERLINK\s+"([^"]+)"/.exec(instruction)?.[1];
}
