// The list of `orcrawl batch`: URLs on the command line, files of them, standard input.
// Promise: read only as fast as the batch goes; a line that is no URL is passed on and becomes a failed result.
import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { UrlItem } from '../../index.js';
import { withoutLogin } from '../../request/login.js';
import { UsageError } from '../exit-codes.js';
import { shown } from '../terminal.js';

export type BatchInput = { readonly kind: 'url' | 'file' | 'stdin'; readonly text: string };

/** How the names of lists end, and no domain does: a missing one is a slip, not a host. */
const LIST_NAME = /\.(?:txt|csv|tsv|json|jsonl|ndjson|list|lst|urls|log|gz)$/i;

/** What an argument means: `-`, a URL, a file that exists, or a bare domain. */
export function inputOf(argument: string): BatchInput {
  if (argument === '-') return { kind: 'stdin', text: argument };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(argument)) return { kind: 'url', text: argument };
  if (existsSync(argument)) return { kind: 'file', text: argument };
  if (LIST_NAME.test(argument) && !argument.includes('/'))
    throw new UsageError(`there is no file "${shown(argument)}"`);
  if (/^[^\s/]+\.[^\s/]+/.test(argument) || /^localhost(?:[:/]|$)/.test(argument)) {
    return { kind: 'url', text: argument };
  }
  throw new UsageError(`"${shown(argument)}" is neither a URL nor a file that exists`);
}

/** URL by URL; blank lines and those that begin with `#` are passed over. */
export async function* urlsOf(
  inputs: readonly BatchInput[],
  stdin: NodeJS.ReadableStream,
  over: AbortSignal,
): AsyncGenerator<string> {
  for (const { kind, text } of inputs) {
    if (kind === 'url') yield withScheme(text);
    else yield* lines(kind === 'stdin' ? stdin : createReadStream(text), over);
  }
}

async function* lines(input: NodeJS.ReadableStream, over: AbortSignal): AsyncGenerator<string> {
  for await (const line of createInterface({ input, crlfDelay: Infinity, signal: over })) {
    const text = line.trim();
    if (text !== '' && !text.startsWith('#')) yield withScheme(text);
  }
}

/** A bare domain gets https, or http when it names this machine or an IP address. */
function withScheme(text: string): string {
  if (
    /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(text) ||
    !/^[\w.-]+(?::\d+)?(?:[/?#]|$)/.test(text) ||
    !/[.:]|^localhost/.test(text)
  ) {
    return text;
  }
  return `${/^(?:localhost|[\d.]+)(?:[:/?#]|$)/.test(text) ? 'http' : 'https'}://${text}`;
}

/** Leaves out what an earlier run has done, entry by entry. Its results name URLs without their passwords. */
export async function* without(urls: AsyncIterable<string>, done: Map<string, number>): AsyncGenerator<string> {
  for await (const typed of urls) {
    const { url } = withoutLogin(typed);
    const times = done.get(url) ?? 0;
    if (times > 0) done.set(url, times - 1);
    else yield typed;
  }
}

/**
 * A URL as a batch takes it. Over HTTP its user name and password are a header, so that nothing of its result has them;
 * a browser needs them in the URL, for all that the page loads.
 */
export function itemFor(typed: string, usesBrowser: boolean): UrlItem {
  const { url, authorization } = withoutLogin(typed);
  return authorization === undefined || usesBrowser ? typed : { url, config: { headers: { authorization } } };
}

export async function* itemsFor(urls: AsyncIterable<string>, usesBrowser: boolean): AsyncGenerator<UrlItem> {
  for await (const url of urls) yield itemFor(url, usesBrowser);
}
