// Synchronous work whose cost strangers decide, such as selectors and patterns of requests.
// Promise: it ends after the limit, whatever it does, and throws; nothing of it goes on.
import { createContext, type Context, Script } from 'node:vm';

let engine: { readonly script: Script; readonly context: Context } | undefined;

/** What `work` returns. When it takes longer than `limitMs`, it is broken off and `late` is thrown. */
export function withinTime<T>(limitMs: number, work: () => T, late: () => Error): T {
  engine ??= { script: new Script('work()'), context: createContext({ work: undefined }) };
  const { script, context } = engine;
  const before: unknown = context.work;
  context.work = work;
  try {
    return script.runInContext(context, { timeout: limitMs }) as T;
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' ? late() : error;
  } finally {
    context.work = before;
  }
}
