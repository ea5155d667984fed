// The name of the process in the system's list, which every user can read.
// Promise: once the program runs, no header value and no password of its command line is there.
import { hideLogins } from '../request/login.js';

const HEADER_FLAGS = /^(?:-H|--header)$/;
const HEADER_TOGETHER = /^(?:-H|--header=)(?=.)/;
const PROXY_TOGETHER = /^--proxy=/;
const PASSWORD_TOGETHER = /^(--redis-password=).+$/;

/** The command line without its secrets; undefined when it has none. */
export function harmlessTitle(args: readonly string[]): string | undefined {
  const shown = args.map((argument, index) => {
    if (HEADER_FLAGS.test(args[index - 1] ?? '') || HEADER_TOGETHER.test(argument)) {
      const name = /^((?:-H|--header=)?[\w-]+):/.exec(argument)?.[1];
      return name === undefined ? '…' : `${name}:…`;
    }
    if (args[index - 1] === '--redis-password') return '…';
    if (PASSWORD_TOGETHER.test(argument)) return argument.replace(PASSWORD_TOGETHER, '$1…');
    // A proxy may be typed without http://.
    const isProxy = args[index - 1] === '--proxy' || PROXY_TOGETHER.test(argument);
    return isProxy
      ? argument.replace(/^(--proxy=)?.*@/, '$1…@')
      : hideLogins(argument).replace(/([?&]password=)[^&]*/g, '$1…');
  });
  if (shown.every((argument, index) => argument === args[index])) return undefined;
  return ['orcrawl', ...shown].join(' ');
}

export function hideArguments(args: readonly string[]): void {
  const title = harmlessTitle(args);
  if (title !== undefined) process.title = title;
}
