// Loads the user's handler module: its `router`, else its default export; a script can use the same file.
// Promise: a module that does not load, or exports no handler, is a clear error before anything is crawled.
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { LinkScorer } from '../../crawl/order/options.js';
import { CrawlError } from '../../errors.js';

/** A handler of any crawler's context. */
export type PodHandler = (context: never) => unknown;

const TYPESCRIPT = new Set(['.ts', '.mts', '.cts', '.tsx']);

export interface HandlerModule {
  readonly handle: PodHandler;
  /** The export `scoreLink`: a scorer of the user's own for best-first crawls. */
  readonly scoreLink: LinkScorer | undefined;
}

export async function loadHandler(file: string): Promise<HandlerModule> {
  const exported = await importModule(file).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CrawlError('OPTION_INVALID', `cannot load the handler module ${file}: ${reason}`, { cause });
  });
  // A CommonJS module's exports are the default of its namespace.
  const nested = exported.default as Record<string, unknown> | undefined;
  const candidates = [exported.router, nested?.router, exported.default, nested?.default];
  const handler = candidates.find((candidate) => typeof candidate === 'function');
  const scoreLink = [exported.scoreLink, nested?.scoreLink].find((candidate) => typeof candidate === 'function');
  if (handler) return { handle: handler as PodHandler, scoreLink: scoreLink as LinkScorer | undefined };
  throw new CrawlError('OPTION_INVALID', `the handler module ${file} exports neither a router nor a default function`);
}

async function importModule(file: string): Promise<Record<string, unknown>> {
  if (!TYPESCRIPT.has(extname(file))) return (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  const { createJiti } = createRequire(import.meta.url)('jiti') as typeof import('jiti');
  return createJiti(import.meta.url).import<Record<string, unknown>>(file);
}
