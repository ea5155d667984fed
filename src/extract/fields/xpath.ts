// XPath over the compact tree: the part of version 1.0 that people write for scraping (docs/content.md lists it).
// Promise: an unsupported path is rejected with its position; a query takes bounded time.
import { CrawlError } from '../../errors.js';

export type Axis =
  | 'child'
  | 'descendant'
  | 'descendant-or-self'
  | 'parent'
  | 'ancestor'
  | 'self'
  | 'following-sibling'
  | 'preceding-sibling';

export interface Step {
  readonly axis: Axis;
  /** A name, `*`, `text()` or `node()`. */
  readonly test: string;
  readonly predicates: readonly Expression[];
}

/** One alternative of a union. */
export interface Path {
  readonly absolute: boolean;
  readonly steps: readonly Step[];
  /** The attribute that the path ends in, or `null`; `*` for all. */
  readonly attribute: string | null;
}

export type Expression =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'path'; readonly paths: readonly Path[] }
  | { readonly kind: 'call'; readonly name: string; readonly given: readonly Expression[] }
  | { readonly kind: 'operation'; readonly operator: string; readonly left: Expression; readonly right: Expression };

const TOKEN =
  /\s*(::|\/\/|\.\.|!=|<=|>=|[/()[\]@,.|=<>*+-]|"[^"]*"|'[^']*'|\d+(?:\.\d+)?|[A-Za-z_][\w.-]*(?::[A-Za-z_*][\w.-]*)?)/y;
const AXES = new Set<string>([
  'child',
  'descendant',
  'descendant-or-self',
  'parent',
  'ancestor',
  'self',
  'following-sibling',
  'preceding-sibling',
]);
const FUNCTIONS = new Set([
  'contains',
  'starts-with',
  'normalize-space',
  'not',
  'last',
  'position',
  'count',
  'string',
  'string-length',
  'true',
  'false',
  'concat',
]);
const MAX_LENGTH = 2_000;
const PRECEDENCE = [['or'], ['and'], ['=', '!='], ['<', '<=', '>', '>='], ['+', '-']];

/** Reads a path, or several joined with `|`. */
export function parseXPath(source: string): readonly Path[] {
  return new XPathParser(source).parse();
}

class XPathParser {
  readonly #source: string;
  readonly #tokens: { readonly text: string; readonly at: number }[] = [];
  #next = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
    if (source.length > MAX_LENGTH) this.#refuse('is too long', 0);
    TOKEN.lastIndex = 0;
    let at = 0;
    while (at < source.trimEnd().length) {
      TOKEN.lastIndex = at;
      const match = TOKEN.exec(source);
      if (match === null) this.#refuse('has an unknown character', at);
      this.#tokens.push({ text: match![1]!, at });
      at = TOKEN.lastIndex;
    }
  }

  parse(): readonly Path[] {
    const paths = this.#union();
    if (this.#next < this.#tokens.length) this.#refuse(`has an unexpected "${this.#peek()}"`);
    return paths;
  }

  #peek(ahead = 0): string {
    return this.#tokens[this.#next + ahead]?.text ?? '';
  }

  #accept(text: string): boolean {
    if (this.#peek() !== text) return false;
    this.#next++;
    return true;
  }

  #expect(text: string): void {
    if (!this.#accept(text)) this.#refuse(`lacks "${text}"`);
  }

  #refuse(problem: string, at = this.#tokens[this.#next]?.at ?? this.#source.length): never {
    throw new CrawlError(
      'OPTION_INVALID',
      `the XPath ${JSON.stringify(this.#source.slice(0, 200))} ${problem} at ${at}`,
    );
  }

  #union(): Path[] {
    const paths = [this.#path()];
    while (this.#accept('|')) paths.push(this.#path());
    return paths;
  }

  #path(): Path {
    const steps: Step[] = [];
    const absolute = this.#peek() === '/' || this.#peek() === '//';
    let attribute: string | null = null;
    if (this.#accept('//')) steps.push(ANYWHERE);
    else this.#accept('/');
    for (;;) {
      if (this.#accept('@')) {
        attribute = this.#name().toLowerCase();
        break;
      }
      steps.push(this.#step());
      if (this.#accept('//')) steps.push(ANYWHERE);
      else if (!this.#accept('/')) break;
    }
    return { absolute, steps, attribute };
  }

  #step(): Step {
    if (this.#accept('.')) return { axis: 'self', test: 'node()', predicates: this.#predicates() };
    if (this.#accept('..')) return { axis: 'parent', test: 'node()', predicates: this.#predicates() };
    let axis: Axis = 'child';
    if (this.#peek(1) === '::') {
      if (!AXES.has(this.#peek())) this.#refuse(`has the unknown axis "${this.#peek()}"`);
      axis = this.#peek() as Axis;
      this.#next += 2;
    }
    let test = this.#name();
    if ((test === 'text' || test === 'node') && this.#peek() === '(') {
      this.#next++;
      this.#expect(')');
      test = `${test}()`;
    } else test = test.toLowerCase();
    return { axis, test, predicates: this.#predicates() };
  }

  #name(): string {
    const text = this.#peek();
    if (text !== '*' && !/^[A-Za-z_]/.test(text)) this.#refuse('lacks a name');
    this.#next++;
    return text;
  }

  #predicates(): Expression[] {
    const list: Expression[] = [];
    while (this.#accept('[')) {
      list.push(this.#expression());
      this.#expect(']');
    }
    return list;
  }

  #expression(level = 0): Expression {
    if (++this.#depth > 100) this.#refuse('is nested too deep');
    let left = level === PRECEDENCE.length ? this.#operand() : this.#expression(level + 1);
    while (level < PRECEDENCE.length && PRECEDENCE[level]!.includes(this.#peek())) {
      const operator = this.#peek();
      this.#next++;
      left = { kind: 'operation', operator, left, right: this.#expression(level + 1) };
    }
    this.#depth--;
    return left;
  }

  #operand(): Expression {
    const text = this.#peek();
    if (/^["']/.test(text)) {
      this.#next++;
      return { kind: 'text', value: text.slice(1, -1) };
    }
    if (/^\d/.test(text)) {
      this.#next++;
      return { kind: 'number', value: Number(text) };
    }
    if (this.#accept('(')) {
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    if (this.#peek(1) === '(' && text !== 'text' && text !== 'node') {
      if (!FUNCTIONS.has(text)) this.#refuse(`calls the unknown function "${text}"`);
      this.#next += 2;
      const given: Expression[] = [];
      if (!this.#accept(')')) {
        do given.push(this.#expression());
        while (this.#accept(','));
        this.#expect(')');
      }
      return { kind: 'call', name: text, given };
    }
    return { kind: 'path', paths: this.#union() };
  }
}

const ANYWHERE: Step = { axis: 'descendant-or-self', test: 'node()', predicates: [] };
