// What to do next about a failure, by its code: one line each.
import type { ErrorCode } from '../errors.js';

const ADVICE: Partial<Record<ErrorCode, string>> = {
  DNS_NOT_FOUND: 'Is the name spelled right, and are you online?',
  CONNECT_REFUSED: 'Does the server run, and is the port right?',
  CONNECT_TIMEOUT: 'Is the host up? A firewall or a missing --proxy can be the reason, too.',
  CONNECT_FAILED: 'Is it https or http, and is the port right?',
  TLS_INVALID: 'Use --insecure to fetch it anyway.',
  PROXY_FAILED: 'Check --proxy, HTTP_PROXY and HTTPS_PROXY, or use --no-proxy.',
  ADDRESS_REFUSED: 'It leads to a private address. Use --allow-private if that is meant.',
  ROBOTS_DENIED: 'Leave out --respect-robots to fetch it anyway.',
  ROBOTS_UNREACHABLE: 'Try again later, or crawl without its rules: --ignore-robots.',
  BROWSER_MISSING: 'Install Chromium or Chrome, or leave out --browser and --auto.',
  WAIT_TIMEOUT: 'What --wait-for names did not appear. Check it, or raise --timeout.',
  FETCH_TIMEOUT: 'Raise --timeout, or try again later.',
  HTTP_BLOCKED: 'The site blocks crawlers. Slow down with --delay, or try --browser.',
};

const LOGIN = 'It wants a login: give -H, --cookies or --user-data-dir.';

/** `status`: of the response, where it says more than the code. */
export function adviceFor(code: string | null | undefined, status?: number | null): string | undefined {
  return status === 401 ? LOGIN : ADVICE[code as ErrorCode];
}
