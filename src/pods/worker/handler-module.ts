// Loads the user's handler module: its `router`, else its default export; a script can use the same file.
// Promise: a module that does not load, or exports no handler, is a clear error before anything is crawled.
import { functionIn, importModule } from '../../base/import-module.js';
import type { LinkScorer } from '../../crawl/order/options.js';
import { CrawlError } from '../../errors.js';
import type { WeighedPage } from '../../fresh/remembering.js';

/** A handler of any crawler's context. */
export type PodHandler = (context: never) => unknown;

export interface HandlerModule {
  readonly handle: PodHandler;
  /** The export `scoreLink`: a scorer of the user's own for best-first crawls. */
  readonly scoreLink: LinkScorer | undefined;
  /** The export `importance`: what the freshness of a page counts, for watches with `importance: handler`. */
  readonly importance: ((page: WeighedPage) => number) | undefined;
}

export async function loadHandler(file: string, mustWeigh = false): Promise<HandlerModule> {
  const exported = await importModule(file).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CrawlError('OPTION_INVALID', `cannot load the handler module ${file}: ${reason}`, { cause });
  });
  const handle = functionIn(exported, ['router', 'default']) as PodHandler | undefined;
  if (!handle) {
    throw new CrawlError(
      'OPTION_INVALID',
      `the handler module ${file} exports neither a router nor a default function`,
    );
  }
  const scoreLink = functionIn(exported, ['scoreLink']) as LinkScorer | undefined;
  const importance = functionIn(exported, ['importance']) as HandlerModule['importance'];
  if (mustWeigh && !importance) {
    const message = `the handler module ${file} exports no function "importance", as watch.importance: handler needs`;
    throw new CrawlError('OPTION_INVALID', message);
  }
  return { handle, scoreLink, importance };
}
