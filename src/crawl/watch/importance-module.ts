// The importance of pages as a module of the user's says, for `orcrawl watch --importance FILE`.
// Promise: a module that cannot be used is a clear error before anything is fetched.
import { functionIn, importModule } from '../../base/import-module.js';
import { CrawlError } from '../../errors.js';
import type { WeighedPage } from '../../fresh/remembering.js';

/** Its export `importance`, else its default export. */
export async function loadImportance(file: string): Promise<(page: WeighedPage) => number> {
  const exported = await importModule(file).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CrawlError('OPTION_INVALID', `cannot load the module ${file}: ${reason}`, { cause });
  });
  const found = functionIn(exported, ['importance', 'default']);
  if (found) return found as (page: WeighedPage) => number;
  throw new CrawlError(
    'OPTION_INVALID',
    `the module ${file} exports neither a function "importance" nor a default one`,
  );
}
