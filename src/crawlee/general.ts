// Small functions of Crawlee's utils that scripts import by name.
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import { CrawlError } from '../errors.js';
import type { Dictionary, Request } from '../request/request.js';

/**
 * Pieces of an array, each of at most `size` items.
 *
 * @example
 * chunk([1, 2, 3], 2); // [[1, 2], [3]]
 */
export function chunk<T>(items: readonly T[], size: number): T[][] {
  const pieces: T[][] = [];
  for (let from = 0; from < items.length; from += Math.max(1, size)) pieces.push(items.slice(from, from + size));
  return pieces;
}

/**
 * The mean of values, each as heavy as its weight.
 *
 * @example
 * weightedAvg([1, 3], [1, 3]); // 2.5
 */
export function weightedAvg(values: readonly number[], weights: readonly number[]): number {
  let [sum, weight] = [0, 0];
  for (const [index, value] of values.entries()) {
    sum += value * weights[index]!;
    weight += weights[index]!;
  }
  return sum / weight;
}

/**
 * `some_name` as `someName`.
 *
 * @example
 * snakeCaseToCamelCase('some_name'); // 'someName'
 */
export function snakeCaseToCamelCase(name: string): string {
  const [first = '', ...others] = name.toLowerCase().split('_');
  return first + others.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

/**
 * Whether this process runs in a Docker container. Looks once per process, or again with `forceReset`.
 *
 * @example
 * if (await isDocker()) log.info('in a container');
 */
export async function isDocker(forceReset = false): Promise<boolean> {
  if (forceReset) docker = undefined;
  return (docker ??= looksLikeDocker());
}

let docker: Promise<boolean> | undefined;

async function looksLikeDocker(): Promise<boolean> {
  const [hasMark, isInGroup] = await Promise.all([
    fs.stat('/.dockerenv').then(
      () => true,
      () => false,
    ),
    fs.readFile('/proc/self/cgroup', 'utf8').then(
      (text) => text.includes('docker'),
      () => false,
    ),
  ]);
  return hasMark || isInGroup;
}

/**
 * Whether this process runs in a container of any kind.
 *
 * @example
 * const contained = await isContainerized();
 */
export async function isContainerized(): Promise<boolean> {
  return !isLambda() && (!!process.env['KUBERNETES_SERVICE_HOST'] || (await isDocker()));
}

/**
 * Whether this process runs in AWS Lambda.
 *
 * @example
 * if (isLambda()) log.info('in a function');
 */
export function isLambda(): boolean {
  return process.env['AWS_LAMBDA_FUNCTION_MEMORY_SIZE'] !== undefined;
}

/**
 * The version of the control groups that limit this process.
 *
 * @example
 * const version = await getCgroupsVersion(); // 'V1', 'V2' or null
 */
export async function getCgroupsVersion(): Promise<'V1' | 'V2' | null> {
  if (existsSync('/sys/fs/cgroup/memory')) return 'V1';
  return existsSync('/sys/fs/cgroup/cgroup.controllers') ? 'V2' : null;
}

/**
 * What is worth knowing of a request, for a log or a dataset.
 *
 * @example
 * log.info('no price', createRequestDebugInfo(request, { statusCode: 200 }));
 */
export function createRequestDebugInfo(
  request: Request,
  response: { statusCode?: number | undefined; status?: () => number } = {},
  additionalFields: Dictionary = {},
): Dictionary {
  const { id, url, loadedUrl, method, retryCount, errorMessages } = request;
  const statusCode = typeof response.status === 'function' ? response.status() : response.statusCode;
  return { requestId: id, url, loadedUrl, method, retryCount, errorMessages, statusCode, ...additionalFields };
}

/**
 * Whether something can be iterated.
 *
 * @example
 * isIterable([1, 2]); // true
 */
export function isIterable<T>(value: unknown): value is Iterable<T> {
  return Object(value) === value && Symbol.iterator in (value as object);
}

/**
 * Whether something can be iterated with `for await`.
 *
 * @example
 * isAsyncIterable((async function* () {})()); // true
 */
export function isAsyncIterable<T>(value: unknown): value is AsyncIterable<T> {
  return Object(value) === value && Symbol.asyncIterator in (value as object);
}

/**
 * Anything iterable, as an async iterable.
 *
 * @example
 * for await (const one of asyncifyIterable([1, 2])) log.info(String(one));
 */
export async function* asyncifyIterable<T>(iterable: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  yield* iterable;
}

/**
 * Items in arrays of `size`; the last may be shorter.
 *
 * @example
 * for await (const some of chunkedAsyncIterable([1, 2, 3], 2)) log.info(`${some.length} items`);
 */
export async function* chunkedAsyncIterable<T>(
  iterable: Iterable<T> | AsyncIterable<T>,
  size: number | (() => number),
): AsyncGenerator<T[]> {
  const sizeNow = (): number => {
    const now = typeof size === 'function' ? size() : size;
    if (now >= 1) return now;
    throw new CrawlError('OPTION_INVALID', `the size of a chunk must be at least 1, not ${now}`);
  };
  sizeNow();
  let piece: T[] = [];
  for await (const item of iterable) {
    piece.push(item);
    if (piece.length < sizeNow()) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

/**
 * The items of several iterables, as they arrive.
 *
 * @example
 * const both = mergeAsyncIterables(asyncifyIterable([1, 2]), asyncifyIterable([3]));
 * for await (const number of both) log.info(String(number));
 */
export async function* mergeAsyncIterables<T>(...iterables: AsyncIterable<T>[]): AsyncGenerator<T> {
  const iterators = iterables.map((one) => one[Symbol.asyncIterator]());
  const next = (index: number) => iterators[index]!.next().then((result) => ({ index, result }));
  const waiting = new Map(iterators.map((_, index) => [index, next(index)]));
  try {
    while (waiting.size > 0) {
      const { index, result } = await Promise.race(waiting.values());
      if (result.done) {
        waiting.delete(index);
        continue;
      }
      waiting.set(index, next(index));
      yield result.value;
    }
  } finally {
    for (const index of waiting.keys()) void iterators[index]!.return?.();
  }
}

/** An iterator that can be asked for the next item without taking it. */
export interface PeekableAsyncIterator<T> extends AsyncIterator<T> {
  /** The next item, which stays; undefined at the end. */
  peek(): Promise<T | undefined>;
  [Symbol.asyncIterator](): PeekableAsyncIterator<T>;
}
/** An iterable of such. */
export interface PeekableAsyncIterable<T> extends AsyncIterable<T> {
  [Symbol.asyncIterator](): PeekableAsyncIterator<T>;
}

/**
 * Anything iterable, with a look at the next item. All of its iterators take from the same items.
 *
 * @example
 * const items = peekableAsyncIterable([1, 2])[Symbol.asyncIterator]();
 * await items.peek(); // 1, and it stays
 */
export function peekableAsyncIterable<T>(iterable: AsyncIterable<T> | Iterable<T>): PeekableAsyncIterable<T> {
  const inner = asyncifyIterable(iterable)[Symbol.asyncIterator]();
  let seen: Promise<IteratorResult<T>> | undefined;
  const look = (): Promise<IteratorResult<T>> => (seen ??= inner.next());
  const peekable: PeekableAsyncIterator<T> = {
    async peek() {
      const { done, value } = await look();
      return done ? undefined : (value as T);
    },
    async next() {
      const result = await look();
      if (!result.done) seen = undefined;
      return result;
    },
    return: async () => inner.return(undefined),
    [Symbol.asyncIterator]: () => peekable,
  };
  return peekable;
}

/**
 * What a value is: `array`, `null`, `Buffer`, `Date`, or its type.
 *
 * @example
 * getObjectType([]); // 'array'
 */
export function getObjectType(value: unknown): string {
  const simple = typeof value;
  if (simple !== 'object') return simple;
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (Buffer.isBuffer(value)) return 'Buffer';
  if (value instanceof Date) return 'Date';
  return Object.prototype.toString.call(value).slice('[object '.length, -1).toLowerCase();
}

/**
 * `Object.entries` with the types of the keys.
 *
 * @example
 * for (const [name, value] of entries({ a: 1 })) log.info(`${name} is ${value}`);
 */
export function entries<T extends object>(object: T): [keyof T, T[keyof T]][] {
  return Object.entries(object) as [keyof T, T[keyof T]][];
}

/**
 * `Object.keys` with the types of the keys.
 *
 * @example
 * const names = keys({ a: 1 });
 */
export function keys<T extends object>(object: T): (keyof T)[] {
  return Object.keys(object) as (keyof T)[];
}
