// Reads the options that preNavigationHooks changed, with got's meaning, before the request is built.
// Promise: nothing is ignored silently; a name without effect warns once.
import { CrawlError } from '../../errors.js';
import { withQuery } from '../../fetch/http/send-request.js';
import type { HttpHookOptions } from '../../handle/context.js';

const KNOWN: ReadonlySet<string> = new Set([
  'headers',
  'method',
  'payload',
  'proxyUrl',
  'timeoutMs',
  'timeout',
  'searchParams',
  'useHeaderGenerator',
  'headerGeneratorOptions',
] satisfies (keyof HttpHookOptions)[]);

export interface HookOptionsReader {
  /** The URL and the time limit of the request. */
  read(options: HttpHookOptions, url: string, warn: (message: string) => void): { url: string; timeoutMs: number };
}

export function createHookOptionsReader(): HookOptionsReader {
  const told = new Set<string>();
  return {
    read(options, url, warn) {
      for (const name in options) {
        const isOwnUrl = name === 'url' && (options as { url?: unknown }).url === url;
        if (isOwnUrl || KNOWN.has(name) || told.has(name)) continue;
        told.add(name);
        warn(`A navigation hook set the option "${name}", which has no effect; known: ${[...KNOWN].join(', ')}`);
      }
      return { url: withQuery(url, options.searchParams), timeoutMs: timeoutOf(options) };
    },
  };
}

function timeoutOf({ timeout, timeoutMs }: HttpHookOptions): number {
  const chosen = typeof timeout === 'object' ? timeout?.request : timeout;
  if (chosen === undefined) return timeoutMs;
  if (typeof chosen === 'number' && chosen > 0) return chosen;
  throw new CrawlError('OPTION_INVALID', 'the timeout that a navigation hook sets must be milliseconds above 0');
}
