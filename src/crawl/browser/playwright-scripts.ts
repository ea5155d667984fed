// Compiles page scripts given as text.
import vm from 'node:vm';
import { CrawlError } from '../../errors.js';
import type { CompiledScriptFunction } from '../../handle/browser-context.js';

/** Crawlee's: a function from text, for scripts that come with a configuration. The text is the user's own. */
export function compileScript(scriptString: string, context: Record<string, unknown> = {}): CompiledScriptFunction {
  const source = `async ({ page, request }) => {${scriptString}}`;
  try {
    return vm.runInNewContext(source, context) as CompiledScriptFunction;
  } catch (cause) {
    throw new CrawlError('OPTION_INVALID', `compileScript: ${(cause as Error).message}`, { cause });
  }
}
