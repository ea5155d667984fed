// The list of `orcrawl batch`: URLs on the command line, files of them, standard input.
// Promise: read only as fast as the batch needs; an invalid line becomes a failed result.
import { createReadStream, existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { UrlItem } from '../../index.js';
import { withoutLogin } from '../../request/login.js';
import { withScheme } from '../arguments.js';
import { UsageError } from '../exit-codes.js';
import type { ProxyFor } from '../flags/proxies.js';
import { shown } from '../terminal.js';

export type BatchInput = { readonly kind: 'url' | 'file' | 'stdin'; readonly text: string };

/** Extensions of list files that are not top-level domains: such a name is a missing file, not a host. */
const LIST_NAME = /\.(?:txt|csv|tsv|json|jsonl|ndjson|list|lst|urls|log|gz)$/i;

/** Said of a list without a URL, by every command that reads one. */
export function noUrls(isStdin: boolean): string {
  return `no URLs ${isStdin ? 'on standard input' : 'in the list'}: give some, one per line`;
}

/** What an argument of `batch` or `crawl` means: `-`, a URL, a file that exists, or a bare domain. */
export function inputOf(argument: string): BatchInput {
  if (argument === '-') return { kind: 'stdin', text: argument };
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(argument)) return { kind: 'url', text: argument };
  if (existsSync(argument)) return { kind: 'file', text: argument };
  if (LIST_NAME.test(argument) && !argument.includes('/')) throw new UsageError(`file not found: "${shown(argument)}"`);
  if (/^[^\s/]+\.[^\s/]+/.test(argument) || /^localhost(?:[:/]|$)/.test(argument)) {
    return { kind: 'url', text: argument };
  }
  throw new UsageError(`"${shown(argument)}" is neither a URL nor an existing file`);
}

/** URL by URL; blank lines and those that begin with `#` are skipped. */
export async function* urlsOf(
  inputs: readonly BatchInput[],
  stdin: NodeJS.ReadableStream,
  over: AbortSignal,
): AsyncGenerator<string> {
  for (const { kind, text } of inputs) {
    if (kind === 'url') yield urlOf(text);
    else yield* lines(kind === 'stdin' ? stdin : createReadStream(text), over);
  }
}

async function* lines(input: NodeJS.ReadableStream, over: AbortSignal): AsyncGenerator<string> {
  for await (const line of createInterface({ input, crlfDelay: Infinity, signal: over })) {
    const text = line.trim();
    if (text !== '' && !text.startsWith('#')) yield urlOf(text);
  }
}

/** What does not begin with a host stays as it is, and becomes a failed result. */
function urlOf(text: string): string {
  return /^[\w.-]+(?::\d+)?(?:[/?#]|$)/.test(text) && /[.:]|^localhost/.test(text) ? withScheme(text) : text;
}

/** Skips what an earlier run has done, entry by entry. Its results have URLs without passwords. */
export async function* without(urls: AsyncIterable<string>, done: Map<string, number>): AsyncGenerator<string> {
  for await (const typed of urls) {
    const { url } = withoutLogin(typed);
    const times = done.get(url) ?? 0;
    if (times > 0) done.set(url, times - 1);
    else yield typed;
  }
}

/** How every URL of a command is fetched, beyond what its config says. */
export interface ItemRules {
  readonly usesBrowser: boolean;
  /** Headers of --header. */
  readonly header?: Readonly<Record<string, string>> | undefined;
  readonly proxyFor?: ProxyFor | undefined;
}

/**
 * A URL as a batch takes it. Over HTTP its user name and password are a header, so that nothing of its result has them;
 * a browser needs them in the URL, for all that the page loads.
 */
export function itemFor(typed: string, { usesBrowser, header, proxyFor }: ItemRules): UrlItem {
  const { url, authorization } = withoutLogin(typed);
  const isPlain = authorization === undefined || usesBrowser;
  const headers = { ...(isPlain ? {} : { authorization }), ...header };
  const proxy = proxyFor?.(url);
  const config = {
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(proxy !== undefined && { proxy }),
  };
  const kept = isPlain ? typed : url;
  return Object.keys(config).length === 0 ? kept : { url: kept, config };
}

export async function* itemsFor(urls: AsyncIterable<string>, rules: ItemRules): AsyncGenerator<UrlItem> {
  for await (const url of urls) yield itemFor(url, rules);
}
