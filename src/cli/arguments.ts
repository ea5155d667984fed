// Reads single command-line arguments: numbers, sizes, URLs, headers, ranges.
// Promise: invalid arguments are rejected before anything starts, with a line that says what was expected.
import { existsSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { CrawlError } from '../errors.js';
import { parseByteSize } from '../option-checks.js';
import { parsePattern } from '../request/pattern.js';
import { parseHttpUrl } from '../request/url.js';
import { UsageError } from './exit-codes.js';
import { quoted, shown } from './terminal.js';

/** A whole number from `from` on. */
export function wholeNumber(from: number, to = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text.trim()) ? Number(text) : NaN;
    if (value >= from && value <= to) return value;
    const range = to === Number.MAX_SAFE_INTEGER ? `from ${from}` : `from ${from} to ${to}`;
    throw new InvalidArgumentError(`Expected a whole number ${range}.`);
  };
}

/** A number above 0. */
export function positiveNumber(text: string): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new InvalidArgumentError('Expected a number above 0.');
}

/** Seconds: 0 or more, fractions allowed. */
export function seconds(text: string): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError('Expected seconds such as 2 or 0.5.');
}

/** A share: 0 to 1. */
export function share(text: string): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (value >= 0 && value <= 1) return value;
  throw new InvalidArgumentError('Expected a number from 0 to 1.');
}

/** Bytes as a number, or with k, M, G or T (powers of 1,024): `500k`, `10MB`. */
export function byteSize(text: string): number {
  const bytes = parseByteSize(text);
  if (bytes !== undefined) return bytes;
  throw new InvalidArgumentError('Expected a size such as 500k, 10M or 1G.');
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ...{ s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000, y: 365 * 86_400_000 },
};

/** Milliseconds of a text such as `90s`, `12h`, `7d` or `2y`. */
export function duration(text: string): number {
  const [, count, unit] = /^(\d+(?:\.\d+)?)\s*([smhdwy])$/.exec(text.trim()) ?? [];
  if (unit !== undefined) return Number(count) * UNIT_MS[unit]!;
  throw new InvalidArgumentError('Expected a time such as 30m, 12h or 7d.');
}

/** Milliseconds, or a range of them: `20`, `5-40`. */
export function millisecondRange(text: string): number | [number, number] {
  const [, low, high] = /^(\d+(?:\.\d+)?)(?:-(\d+(?:\.\d+)?))?$/.exec(text.trim()) ?? [];
  if (low !== undefined && high === undefined) return Number(low);
  if (low !== undefined && Number(high) >= Number(low)) return [Number(low), Number(high)];
  throw new InvalidArgumentError('Expected milliseconds such as 20, or a range such as 5-40.');
}

/** Collects a repeated pattern, each checked; kept as text so that it can be saved. */
export function patterns(text: string, before: readonly string[] = []): string[] {
  try {
    parsePattern(text);
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message}.`);
  }
  return [...before, text];
}

/** Collects repeated `Name: value` headers. */
export function headers(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):(\t*[\x20-\x7e]*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('Expected "Name: value".');
  return { ...before, [name.toLowerCase()]: value.trim() };
}

/** A URL as people type it, complete. */
export function seedUrl(text: string): string {
  const typed = text.trim();
  if (typed === '' || /\s/.test(typed)) throw new CrawlError('URL_INVALID', `not a URL: "${shown(typed)}"`);
  return parseHttpUrl(withScheme(typed)).href;
}

/** Without a scheme it gets https, or http for localhost and IP addresses. */
export function withScheme(typed: string): string {
  // A colon before digits starts a port (localhost:8080), otherwise it ends a scheme.
  if (/^[a-z][a-z0-9+.-]*:(?!\d)/i.test(typed)) return typed;
  const isLocal = /^(?:localhost|\d+\.\d+\.\d+\.\d+|\[[0-9a-f:.]+\])(?:[:/?#]|$)/i.test(typed);
  return `${isLocal ? 'http' : 'https'}://${typed}`;
}

/** The URL of one page: a file where a URL is meant is named, not looked up as a host. */
export function pageUrl(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) && existsSync(text)) {
    throw new UsageError(`"${shown(text)}" is a file: to fetch every URL in it, use orcrawl batch ${quoted(text)}`);
  }
  return seedUrl(text);
}
