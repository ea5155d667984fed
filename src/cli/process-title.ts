// The name of the process in the system's list, which every user can read.
// Promise: once the program runs, no header value and no password of its command line is there.
import { hideLogins } from '../request/login.js';

const HEADER_FLAGS = /^(?:-H|--header)$/;
const HEADER_TOGETHER = /^(?:-H|--header=)(?=.)/;

/** The command line without its secrets; undefined when it has none. */
export function harmlessTitle(args: readonly string[]): string | undefined {
  const shown = args.map((argument, index) => {
    if (HEADER_FLAGS.test(args[index - 1] ?? '') || HEADER_TOGETHER.test(argument)) {
      const name = /^((?:-H|--header=)?[\w-]+):/.exec(argument)?.[1];
      return name === undefined ? '…' : `${name}:…`;
    }
    return hideLogins(argument);
  });
  if (shown.every((argument, index) => argument === args[index])) return undefined;
  return ['orcrawl', ...shown].join(' ');
}

export function hideArguments(args: readonly string[]): void {
  const title = harmlessTitle(args);
  if (title !== undefined) process.title = title;
}
