// Where in the user's code a failure started, for the log of failed requests.
// Promise: returns the first line that is not ours, a package's or Node's; nothing if there is none.
import { fileURLToPath } from 'node:url';
import { Configuration } from '../../configuration.js';
import { LogLevel, type Log } from '../../observe/log.js';

/** Of this package: `…/src/` when it is developed, `…/dist/` where it is used. */
const OWN = /^.*\/(?:src|dist)\//.exec(fileURLToPath(import.meta.url).replaceAll('\\', '/'))?.[0];
const FRAME = /^\s+at (?:async )?(?:.*\()?(?:file:\/\/)?(\/?[^():][^()]*?):(\d+):\d+\)?$/;

/** `/home/me/crawl.ts:12`, from the text of a stack. */
export function userFrame(stack: string | undefined, own = OWN): string | undefined {
  for (const line of stack?.split('\n') ?? []) {
    const [, file, number] = FRAME.exec(line) ?? [];
    if (file === undefined || /^(?:node:|internal\/)/.test(file) || file.includes('node_modules')) continue;
    if (own !== undefined && file.replaceAll('\\', '/').startsWith(own)) continue;
    return `${file}:${number}`;
  }
  return undefined;
}

/** ` at /home/me/crawl.ts:12` for an error that user code threw; empty for anything else. */
export function placeOf(error: Error): string {
  const thrown = error.cause instanceof Error ? error.cause : error;
  const frame = userFrame(thrown.stack);
  return frame === undefined ? '' : ` at ${frame}`;
}

/** The stack of what failed on lines of its own, if stacks are wanted; else nothing. */
export function stackOf(log: Log, error: Error): string {
  if (!wantsStacks(log)) return '';
  const thrown = error.cause instanceof Error ? error.cause : error;
  return thrown.stack === undefined ? '' : `\n${thrown.stack}`;
}

/** Whether whole stacks are wanted: `verboseLog` (ORCRAWL_VERBOSE_LOG), or a log at DEBUG. */
function wantsStacks(log: Log): boolean {
  if (log.getLevel() >= LogLevel.DEBUG) return true;
  try {
    return Configuration.getGlobalConfig().get('verboseLog') === true;
  } catch {
    return false;
  }
}
