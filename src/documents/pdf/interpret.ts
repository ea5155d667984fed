// Interprets the drawing of a page: every glyph's place gives words, every straight thin shape a rule.
// Promise: one pass; at most so many words and rules of a page; headers and footers that the file marks as such are left out.
import { limitReached, LIMITS } from '../../limits.js';
import {
  type Box,
  boxOf,
  combine,
  type FontLook,
  IDENTITY,
  type Matrix,
  type PageDrawing,
  type Rule,
  type Word,
} from './geometry.js';
import type { OperationNumbers, SourceFont, SourcePage } from './source.js';

interface Glyph {
  readonly unicode?: string;
  readonly width?: number;
  readonly isSpace?: boolean;
}

interface TextState {
  fontName: string;
  size: number;
  charSpacing: number;
  wordSpacing: number;
  scale: number;
  rise: number;
  leading: number;
}

interface Growing {
  text: string;
  /** Where each of its glyphs stands: text from right to left is put in order by it. */
  places: { x: number; text: string }[] | undefined;
  x0: number;
  x1: number;
  y: number;
  size: number;
  font: FontLook;
  hasSpace: boolean;
  hasBlank: boolean;
  order: number;
  href: string | undefined;
}

/** A gap of this part of the size is a blank. */
const BLANK = 0.14;
/** A rule is no thicker than this, in points. */
const THICKEST_RULE = 3;
const LARGEST_DOT = 9;
/** No page is so large, in points. Beyond it, and where a place is not a number, nothing is drawn that a reader sees. */
const FARTHEST = 1e6;
const isNear = (a: number, b: number, c: number, d: number): boolean =>
  Math.abs(a) < FARTHEST && Math.abs(b) < FARTHEST && Math.abs(c) < FARTHEST && Math.abs(d) < FARTHEST;
export const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

export function interpretPage(page: SourcePage, numbers: OperationNumbers): PageDrawing {
  const drawing = new Drawing(page);
  const names = handlersOf(numbers, drawing);
  for (let at = 0; at < page.operations.length; at++) {
    if (drawing.isFull) {
      limitReached('documentPageItems');
      break;
    }
    names.get(page.operations[at]!)?.(page.values[at] ?? []);
  }
  drawing.endWord();
  const { words, rules, dots } = drawing;
  return { width: page.width, height: page.height, words: words, rules, dots };
}

function handlersOf(numbers: OperationNumbers, drawing: Drawing): Map<number, (values: readonly unknown[]) => void> {
  const number = (value: unknown) => (typeof value === 'number' ? value : 0);
  const matrix = (value: unknown) => matrixOf(value) ?? IDENTITY;
  const handlers: Record<string, (values: readonly unknown[]) => void> = {
    save: () => drawing.save(),
    restore: () => drawing.restore(),
    transform: (values) => drawing.transform(matrix(values)),
    paintFormXObjectBegin: ([value]) => {
      drawing.save();
      drawing.transform(matrix(value));
    },
    paintFormXObjectEnd: () => drawing.restore(),
    beginText: () => drawing.setTextMatrix(IDENTITY),
    setTextMatrix: (values) => drawing.setTextMatrix(matrix(values.length === 6 ? values : values[0])),
    moveText: ([x, y]) => drawing.moveText(number(x), number(y)),
    setLeadingMoveText: ([x, y]) => {
      drawing.text.leading = -number(y);
      drawing.moveText(number(x), number(y));
    },
    nextLine: () => drawing.moveText(0, -drawing.text.leading),
    setLeading: ([value]) => void (drawing.text.leading = -number(value)),
    setFont: ([name, size]) => drawing.setFont(String(name), number(size)),
    setCharSpacing: ([value]) => void (drawing.text.charSpacing = number(value)),
    setWordSpacing: ([value]) => void (drawing.text.wordSpacing = number(value)),
    setHScale: ([value]) => void (drawing.text.scale = number(value) / 100),
    setTextRise: ([value]) => void (drawing.text.rise = number(value)),
    showText: ([glyphs]) => drawing.show(glyphs as readonly (Glyph | number | null)[]),
    constructPath: ([operation, data]) => {
      const isDrawn = operation !== numbers.endPath;
      const isFilled = operation !== numbers.stroke && operation !== numbers.closeStroke;
      if (isDrawn) drawing.path((data as readonly (ArrayLike<number> | null)[])[0], isFilled);
    },
    beginMarkedContent: ([tag]) => drawing.beginMark(tag === 'Artifact'),
    beginMarkedContentProps: ([tag]) => drawing.beginMark(tag === 'Artifact'),
    endMarkedContent: () => drawing.endMark(),
  };
  const byNumber = new Map<number, (values: readonly unknown[]) => void>();
  for (const [name, handle] of Object.entries(handlers)) {
    if (numbers[name] !== undefined) byNumber.set(numbers[name], handle);
  }
  return byNumber;
}

function matrixOf(value: unknown): Matrix | undefined {
  const list = value as ArrayLike<number> | null | undefined;
  return list?.length === 6 ? [list[0]!, list[1]!, list[2]!, list[3]!, list[4]!, list[5]!] : undefined;
}

/** States that may be saved at once. */
const MAX_SAVED = 1_000;

class Drawing {
  readonly words: Word[] = [];
  readonly rules: Rule[] = [];
  readonly dots: Box[] = [];
  text: TextState = { fontName: '', size: 1, charSpacing: 0, wordSpacing: 0, scale: 1, rise: 0, leading: 0 };
  readonly #page: SourcePage;
  readonly #linkAt: LinkAt | undefined;
  #matrix: Matrix;
  #line: Matrix = IDENTITY;
  /** How far the line is written, in its own units. */
  #x = 0;
  readonly #saved: { matrix: Matrix; text: TextState }[] = [];
  readonly #marks: boolean[] = [];
  #artifacts = 0;
  readonly #looks = new Map<string, { look: FontLook; font: SourceFont | undefined }>();
  #word: Growing | undefined;
  #space = false;
  #order = 0;

  constructor(page: SourcePage) {
    this.#page = page;
    this.#linkAt = linkFinder(page);
    this.#matrix = page.toPage;
  }

  get isFull(): boolean {
    return this.words.length + this.rules.length + this.dots.length > LIMITS.documentPageItems.max;
  }

  save(): void {
    if (this.#saved.length < MAX_SAVED) this.#saved.push({ matrix: this.#matrix, text: { ...this.text } });
  }

  restore(): void {
    const state = this.#saved.pop();
    if (state) ({ matrix: this.#matrix, text: this.text } = state);
  }

  transform(matrix: Matrix): void {
    this.#matrix = combine(this.#matrix, matrix);
  }

  setTextMatrix(matrix: Matrix): void {
    this.#line = matrix;
    this.#x = 0;
  }

  moveText(x: number, y: number): void {
    this.setTextMatrix(combine(this.#line, [1, 0, 0, 1, x, y]));
  }

  setFont(name: string, size: number): void {
    this.text.fontName = name;
    this.text.size = size;
  }

  beginMark(isArtifact: boolean): void {
    if (this.#marks.length < MAX_SAVED) this.#marks.push(isArtifact);
    if (isArtifact) this.#artifacts++;
  }

  endMark(): void {
    if (this.#marks.pop()) this.#artifacts--;
  }

  show(glyphs: readonly (Glyph | number | null)[] | undefined): void {
    if (!Array.isArray(glyphs)) return;
    const { fontName, size, charSpacing, wordSpacing, scale, rise } = this.text;
    const { look, font } = this.#lookOf(fontName);
    const unit = size * (font?.fontMatrix?.[0] ?? 0.001);
    const whole = combine(this.#matrix, this.#line);
    const height = Math.hypot(whole[2], whole[3]) * Math.abs(size);
    const isLevel = Math.abs(whole[1]) <= Math.abs(whole[0]) * 0.02 && whole[0] > 0;
    for (const glyph of glyphs as readonly (Glyph | number | null)[]) {
      if (this.isFull) return;
      if (glyph === null) continue;
      if (typeof glyph === 'number') {
        this.#x -= (glyph * size * scale) / 1000;
        continue;
      }
      const spacing = charSpacing + (glyph.isSpace ? wordSpacing : 0);
      const from = this.#x;
      const advance = (glyph.width ?? 0) * unit * scale;
      this.#x += advance + spacing * scale;
      if (this.#artifacts > 0 || font?.vertical || !isLevel) continue;
      const x0 = whole[0] * from + whole[2] * rise + whole[4];
      const y = whole[1] * from + whole[3] * rise + whole[5];
      const x1 = x0 + whole[0] * advance;
      if (isNear(x0, x1, y, height)) this.#place(glyph.unicode ?? '', x0, x1, y, height, look);
    }
  }

  #place(unicode: string, x0: number, x1: number, y: number, size: number, look: FontLook): void {
    const text = cleaned(unicode);
    if (text.trim() === '') {
      this.endWord();
      this.#space = true;
      return;
    }
    const word = this.#word;
    const gap = word ? x0 - word.x1 : 0;
    // A full stop behind a link is none of it, though it stands as close as a letter.
    const href = this.#linkAt?.((x0 + x1) / 2, y - size * 0.3);
    const isSameLine = word !== undefined && Math.abs(word.y - y) < 0.02 * size + 0.1 && gap > -size && gap < size * 6;
    const isSameLook = word?.font === look && word.href === href;
    if (word && isSameLine && isSameLook && gap < size * BLANK && Math.abs(word.size - size) < 0.1) {
      word.text += text;
      word.places?.push({ x: x0, text });
      word.x0 = Math.min(word.x0, x0);
      word.x1 = Math.max(word.x1, x1);
      return;
    }
    // Where a word only changes its look, no blank is in between.
    const hasBlank = this.#space;
    const hasSpace = hasBlank || !isSameLine || gap >= size * BLANK;
    this.endWord();
    if (size < 0.5) return;
    const places = RIGHT_TO_LEFT.test(text) ? [{ x: x0, text }] : undefined;
    this.#word = { text, places, x0, x1, y, size, font: look, hasSpace, hasBlank, order: this.#order++, href };
  }

  endWord(): void {
    if (this.#word) {
      const { places, ...word } = this.#word;
      places?.sort((a, b) => b.x - a.x);
      this.words.push(places ? { ...word, text: places.map((place) => place.text).join('') } : word);
    }
    this.#word = undefined;
    this.#space = false;
  }

  #lookOf(name: string): { look: FontLook; font: SourceFont | undefined } {
    let known = this.#looks.get(name);
    if (!known) {
      const font = this.#page.font(name);
      const title = (font?.name ?? '').replace(/^[A-Z]{6}\+/, '');
      const look = {
        isBold:
          (font?.bold ?? false) || /bold|black|heavy|semibd|demi|cmbx|cmb\d|sfbx|ecbx|medi(?:ital)?$/i.test(title),
        isItalic: (font?.italic ?? false) || /ital|obli|cmti|cmsl|sfti|ecti/i.test(title),
        isMono: (font?.isMonospace ?? false) || /mono|courier|consol|cmtt|sftt|ectt|menlo|typewriter/i.test(title),
      };
      this.#looks.set(name, (known = { look, font }));
    }
    return known;
  }

  /** The shapes of a path: move 0, line 1, curves 2 and 3, end 4, each followed by its points. */
  path(data: ArrayLike<number> | null | undefined, isFilled: boolean): void {
    if (!data || this.#artifacts > 0) return;
    let box: [number, number, number, number] | undefined;
    let isStraight = true;
    let last: [number, number] = [0, 0];
    let outer: Box | undefined;
    const add = (x: number, y: number): void => {
      box = box ? [Math.min(box[0], x), Math.min(box[1], y), Math.max(box[2], x), Math.max(box[3], y)] : [x, y, x, y];
    };
    const flush = (): void => {
      if (box) {
        const shape = boxOf(this.#matrix, ...box);
        // A frame is filled between its inner and its outer edge.
        const isFrame = isFilled && isStraight && outer !== undefined && isEdgeOf(outer, shape);
        this.#shape(shape, isFilled && !isFrame, isStraight);
        outer = isStraight ? shape : undefined;
      }
      box = undefined;
      isStraight = true;
    };
    for (let at = 0; at < data.length && !this.isFull;) {
      const kind = data[at++]!;
      if (kind === 0) flush();
      const points = kind <= 1 ? 1 : kind === 2 ? 3 : kind === 3 ? 2 : 0;
      if (points > 1) isStraight = false;
      for (let n = 0; n < points; n++, at += 2) {
        last = [data[at]!, data[at + 1]!];
        add(...last);
      }
    }
    flush();
  }

  #shape(box: Box, isFilled: boolean, isStraight: boolean): void {
    if (!isNear(box.x0, box.y0, box.x1, box.y1)) return;
    const width = box.x1 - box.x0;
    const height = box.y1 - box.y0;
    const isRule = Math.min(width, height) <= THICKEST_RULE && Math.max(width, height) > THICKEST_RULE * 2;
    if (isRule) this.rules.push(box);
    else if (isFilled && Math.max(width, height) <= LARGEST_DOT && Math.min(width, height) > 1) this.dots.push(box);
    else if (!isStraight && width < LARGEST_DOT && height < LARGEST_DOT && width > 1) this.dots.push(box);
    else if (!isFilled && isStraight && width > 6 && height > 6) {
      const { x0, y0, x1, y1 } = box;
      this.rules.push({ x0, y0, x1, y1: y0 }, { x0, y0: y1, x1, y1 }, { x0, y0, x1: x0, y1 }, { x0: x1, y0, x1, y1 });
    }
  }
}

/** Whether two boxes are the edges of one frame, no thicker than a rule. */
function isEdgeOf(a: Box, b: Box): boolean {
  const gaps = [a.x0 - b.x0, a.y0 - b.y0, b.x1 - a.x1, b.y1 - a.y1];
  return gaps.every((gap) => gap > 0 && gap <= THICKEST_RULE) || gaps.every((gap) => gap < 0 && -gap <= THICKEST_RULE);
}

/** Ligatures as letters, without characters that show nothing. */
function cleaned(unicode: string): string {
  const text = unicode.replace(/[\u0000-\u001f\u00ad\u200b-\u200f\u2060\ufeff\ue000-\uf8ff]/g, '');
  return /[\ufb00-\ufb06\u2126\u212b]/.test(text) ? text.normalize('NFKC') : text;
}

/** Where a point of the page leads. */
type LinkAt = (x: number, y: number) => string | undefined;

/** Links are found by their height, in strips: a glyph looks only at those of its own. */
function linkFinder(page: SourcePage): LinkAt | undefined {
  if (page.links.length === 0) return undefined;
  const strips = new Map<number, { box: Box; href: string }[]>();
  for (const { box: area, href } of page.links.slice(0, MAX_LINKS)) {
    const box = boxOf(page.toPage, area[0]!, area[1]!, area[2]!, area[3]!);
    if (!isNear(box.x0, box.y0, box.x1, box.y1)) continue;
    const first = Math.floor(box.y0 / STRIP);
    const last = Math.min(Math.floor(box.y1 / STRIP), first + MAX_STRIPS);
    for (let key = first; key <= last; key++) {
      const strip = strips.get(key);
      if (!strip) strips.set(key, [{ box, href }]);
      else if (strip.length < MAX_LINKS_IN_STRIP) strip.push({ box, href });
    }
  }
  return (x, y) =>
    strips.get(Math.floor(y / STRIP))?.find(({ box }) => y >= box.y0 && y <= box.y1 && x >= box.x0 && x <= box.x1)
      ?.href;
}

const MAX_LINKS = 5_000;
const MAX_LINKS_IN_STRIP = 64;
/** Points. */
const STRIP = 12;
const MAX_STRIPS = 200;
