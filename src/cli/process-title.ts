// The name of the process in the system's list, which every user can read.
// Promise: once the program runs, no header value, no password and no secret address of its command line is there.
import { hideLogins } from '../request/login.js';

const HEADER_FLAGS = /^(?:-H|--header)$/;
const HEADER_TOGETHER = /^(?:-H|--header=)(?=.)/;
const PROXY_TOGETHER = /^--proxy=/;
const PASSWORD_TOGETHER = /^(--redis-password=).+$/;
/** Services that take webhooks put the secret into the path, others put a key into the query. */
const ADDRESS_FLAGS = /^--(?:webhook|llm-url|searxng)$/;
const ADDRESS_TOGETHER = /^--(?:webhook|llm-url|searxng)=/;

/** The command line without its secrets; undefined when it has none. */
export function harmlessTitle(args: readonly string[]): string | undefined {
  const shown = args.map((argument, index) => {
    if (HEADER_FLAGS.test(args[index - 1] ?? '') || HEADER_TOGETHER.test(argument)) {
      const name = /^((?:-H|--header=)?[\w-]+):/.exec(argument)?.[1];
      return name === undefined ? '…' : `${name}:…`;
    }
    if (args[index - 1] === '--redis-password') return '…';
    if (PASSWORD_TOGETHER.test(argument)) return argument.replace(PASSWORD_TOGETHER, '$1…');
    if (ADDRESS_FLAGS.test(args[index - 1] ?? '')) return hostOnly(argument);
    const [flag] = ADDRESS_TOGETHER.exec(argument) ?? [];
    if (flag !== undefined) return flag + hostOnly(argument.slice(flag.length));
    // A proxy may be typed without http://.
    const isProxy = args[index - 1] === '--proxy' || PROXY_TOGETHER.test(argument);
    return isProxy
      ? argument.replace(/^(--proxy=)?.*@/, '$1…@')
      : hideLogins(argument).replace(/([?&]password=)[^&]*/g, '$1…');
  });
  if (shown.every((argument, index) => argument === args[index])) return undefined;
  return ['orcrawl', ...shown].join(' ');
}

/** An address up to its host. */
function hostOnly(address: string): string {
  const shown = hideLogins(address);
  const [origin] = /^https?:\/\/[^\s/?#@]+/i.exec(shown) ?? [];
  if (origin === undefined) return '…';
  return /^\/?$/.test(shown.slice(origin.length)) ? shown : `${origin}/…`;
}

export function hideArguments(args: readonly string[]): void {
  const title = harmlessTitle(args);
  if (title !== undefined) process.title = title;
}
