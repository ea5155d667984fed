// Follows a parsed XPath through the compact tree.
// Promise: results are in document order without repeats; the work per query is bounded, beyond it results end.
import { limitReached, LIMITS } from '../../limits.js';
import type { PageTree } from '../../parse/tree/tree.js';
import { RAW, TEXT } from '../page/elements.js';
import type { Expression, Path, Step } from './xpath.js';

/** An element or text by its row, or an attribute as text. */
export type Found = { readonly node: number } | { readonly value: string };

/** Small pages may be looked through as if they were this large. */
const FREE_ROWS = 2_000;

type Value = string | number | boolean | readonly Found[];

interface Context {
  readonly node: number;
  readonly position: number;
  readonly last: number;
}

/** Runs paths from a node. */
export class XPathQuery {
  readonly #tree: PageTree;
  #left: number;

  constructor(tree: PageTree) {
    this.#tree = tree;
    // Rows looked at, predicates included: far beyond any real page, soon reached by hostile ones.
    this.#left = LIMITS.xpathSteps.max * (tree.count + FREE_ROWS);
  }

  select(paths: readonly Path[], from: number): Found[] {
    const nodes = new Set<number>();
    const values: Found[] = [];
    for (const path of paths) {
      let current: number[] = [path.absolute ? 0 : from];
      for (const step of path.steps) current = this.#step(step, current);
      if (path.attribute === null) for (const node of current) nodes.add(node);
      else for (const node of current) this.#attributes(node, path.attribute, values);
    }
    const found: Found[] = [...nodes].sort((a, b) => a - b).map((node) => ({ node }));
    return [...found, ...values];
  }

  #attributes(node: number, name: string, out: Found[]): void {
    const tree = this.#tree;
    if (isText(tree, node) || node === 0) return;
    if (name !== '*') {
      const value = tree.attribute(node, name);
      if (value !== null) out.push({ value });
      return;
    }
    const list = tree.attributes(node);
    for (let k = 0; k < list.count; k++) out.push({ value: tree.decodeAttribute(list.valueFrom(k), list.valueTo(k)) });
  }

  #step(step: Step, from: readonly number[]): number[] {
    const out: number[] = [];
    // No node is the child of two: most steps need no set, which takes longer than to find its nodes.
    const seen = from.length > 1 && step.axis !== 'child' && step.axis !== 'self' ? new Set<number>() : undefined;
    for (const node of from) {
      let found = this.#axis(step, node);
      for (const predicate of step.predicates) found = this.#filter(found, predicate);
      for (const one of found) {
        if (seen?.has(one)) continue;
        seen?.add(one);
        out.push(one);
      }
      if (this.#left <= 0) break;
    }
    return out;
  }

  #axis({ axis, test }: Step, node: number): number[] {
    const { end, parent } = this.#tree;
    const found: number[] = [];
    const take = (candidate: number): void => {
      if (--this.#left === 0) limitReached('xpathSteps');
      if (this.#matches(candidate, test)) found.push(candidate);
    };
    switch (axis) {
      case 'self':
        take(node);
        break;
      case 'child':
        for (let at = node + 1; at < end[node]! && this.#left > 0; at = end[at]!) take(at);
        break;
      case 'descendant-or-self':
      case 'descendant':
        for (let at = axis === 'descendant' ? node + 1 : node; at < end[node]! && this.#left > 0; at++) take(at);
        break;
      case 'parent':
        if (node > 0) take(parent[node]!);
        break;
      case 'ancestor':
        for (let at = node; at > 0 && this.#left > 0; at = parent[at]!) take(parent[at]!);
        break;
      case 'following-sibling':
        if (node > 0) for (let at = end[node]!; at < end[parent[node]!]! && this.#left > 0; at = end[at]!) take(at);
        break;
      case 'preceding-sibling':
        if (node > 0) for (let at = parent[node]! + 1; at < node && this.#left > 0; at = end[at]!) take(at);
        // The axis counts away from the node.
        found.reverse();
        break;
      default:
        return axis satisfies never;
    }
    return found;
  }

  #matches(node: number, test: string): boolean {
    if (test === 'node()') return true;
    const text = isText(this.#tree, node);
    if (test === 'text()') return text;
    if (text || node === 0) return false;
    return test === '*' || this.#tree.name(node) === test;
  }

  #filter(nodes: readonly number[], predicate: Expression): number[] {
    return nodes.filter((node, index) => {
      if (this.#left <= 0) return false;
      const value = this.#evaluate(predicate, { node, position: index + 1, last: nodes.length });
      return typeof value === 'number' ? value === index + 1 : truth(value);
    });
  }

  #evaluate(expression: Expression, context: Context): Value {
    switch (expression.kind) {
      case 'number':
      case 'text':
        return expression.value;
      case 'path':
        return this.select(expression.paths, context.node);
      case 'call':
        return this.#call(expression.name, expression.given, context);
      case 'operation':
        return this.#operate(expression.operator, expression.left, expression.right, context);
      default:
        return expression satisfies never;
    }
  }

  #operate(operator: string, left: Expression, right: Expression, context: Context): Value {
    const a = this.#evaluate(left, context);
    if (operator === 'and') return truth(a) && truth(this.#evaluate(right, context));
    if (operator === 'or') return truth(a) || truth(this.#evaluate(right, context));
    const b = this.#evaluate(right, context);
    if (operator === '+') return Number(this.#text(a)) + Number(this.#text(b));
    if (operator === '-') return Number(this.#text(a)) - Number(this.#text(b));
    // A set of nodes is compared by any of its members.
    for (const x of this.#members(a)) for (const y of this.#members(b)) if (compare(operator, x, y)) return true;
    return false;
  }

  #members(value: Value): readonly (string | number | boolean)[] {
    return typeof value === 'object' ? value.map((found) => this.textOf(found)) : [value];
  }

  #call(name: string, given: readonly Expression[], context: Context): Value {
    const text = (k: number): string => {
      const argument = given[k];
      return argument === undefined
        ? this.textOf({ node: context.node })
        : this.#text(this.#evaluate(argument, context));
    };
    switch (name) {
      case 'contains':
        return text(0).includes(text(1));
      case 'starts-with':
        return text(0).startsWith(text(1));
      case 'normalize-space':
        return text(0).replace(/\s+/g, ' ').trim();
      case 'string':
        return text(0);
      case 'string-length':
        return text(0).length;
      case 'concat':
        return given.map((_, k) => text(k)).join('');
      case 'not':
        return given[0] === undefined || !truth(this.#evaluate(given[0], context));
      case 'count': {
        const value = given[0] === undefined ? [] : this.#evaluate(given[0], context);
        return typeof value === 'object' ? value.length : 0;
      }
      case 'last':
        return context.last;
      case 'position':
        return context.position;
      case 'true':
        return true;
      default:
        return false;
    }
  }

  #text(value: Value): string {
    if (typeof value !== 'object') return String(value);
    return value[0] === undefined ? '' : this.textOf(value[0]);
  }

  /** The string value: an attribute's value, or all text inside. */
  textOf(found: Found): string {
    if ('value' in found) return found.value;
    const tree = this.#tree;
    let text = '';
    const end = isText(tree, found.node) ? found.node + 1 : tree.end[found.node]!;
    for (let at = found.node; at < end; at++) {
      if (--this.#left === 0) limitReached('xpathSteps');
      if (tree.flags[at] === 1 && at > found.node) text += ' ';
      if (tree.tag[at] === TEXT) text += tree.decode(tree.from[at]!, tree.to[at]!);
      else if (tree.tag[at] === RAW) text += tree.raw(tree.from[at]!, tree.to[at]!);
    }
    return text;
  }
}

function isText(tree: PageTree, node: number): boolean {
  return tree.tag[node] === TEXT || tree.tag[node] === RAW;
}

function truth(value: Value): boolean {
  return typeof value === 'object' ? value.length > 0 : Boolean(value);
}

function compare(operator: string, a: string | number | boolean, b: string | number | boolean): boolean {
  if (operator === '=' || operator === '!=') {
    const same = typeof a === 'number' || typeof b === 'number' ? Number(a) === Number(b) : String(a) === String(b);
    return same === (operator === '=');
  }
  const [x, y] = [Number(a), Number(b)];
  return operator === '<' ? x < y : operator === '<=' ? x <= y : operator === '>' ? x > y : x >= y;
}
