// What a status means: a page for the handler, or a failure and of which kind.
// One policy for all placements; a batch, which has no handler, fails with every status of 400 or above.
import { STATUS_CODES } from 'node:http';
import { CrawlError, NonRetryableError, SessionError } from '../../errors.js';
import { bytesOf, type Capture } from '../../fetch/engine.js';
import type { Session } from '../../session/session.js';

export interface StatusRules {
  readonly ignoreHttpErrorStatusCodes: readonly number[];
  readonly additionalHttpErrorStatusCodes: readonly number[];
  readonly blockedStatusCodes: readonly number[];
  readonly retryOnBlocked: boolean;
  /** Statuses from 400 on are failures that no retry changes, unless they may be gone at the next try. */
  readonly failsFrom400?: boolean;
}

const OPENING_BRACE = 0x7b;
const MAX_REASON_BYTES = 10_000;
const MAX_REASON = 100;

/** Statuses below 500 that may be gone at the next try. */
const TRANSIENT: ReadonlySet<number> = new Set([408, 425, 429]);

/** What the pages of widespread bot protections contain and others hardly do. */
const BLOCK_PAGES = ['src="https://challenges.cloudflare.com', 'id="cf-challenge-running"', 'id="turnstile-wrapper"'];

/** Throws what a status means, unless it is a page. */
export function checkStatus(
  capture: Pick<Capture, 'statusCode' | 'body' | 'lent' | 'loadedUrl'>,
  session: Session | undefined,
  rules: StatusRules,
): void {
  const { statusCode, loadedUrl } = capture;
  if (statusCode < 400 && !rules.retryOnBlocked && rules.additionalHttpErrorStatusCodes.length === 0) return;
  if (rules.ignoreHttpErrorStatusCodes.includes(statusCode)) return;
  const where = `${loadedUrl} answered ${statusCode}`;
  if (rules.failsFrom400) {
    if (statusCode < 400) return;
    const { additionalHttpErrorStatusCodes: more } = rules;
    const isTransient = statusCode >= 500 || TRANSIENT.has(statusCode) || more.includes(statusCode);
    throw isTransient ? new CrawlError('HTTP_STATUS', where) : new NonRetryableError(where, { code: 'HTTP_STATUS' });
  }
  if (session && rules.blockedStatusCodes.includes(statusCode)) {
    if (rules.retryOnBlocked) throw new SessionError(`${where}: the session is blocked`);
    throw new CrawlError('HTTP_BLOCKED', `${where}: the session is blocked`);
  }
  // "Too many requests" is never a page: the host wants a later request.
  if (statusCode === 429) throw new CrawlError('HTTP_BLOCKED', where);
  if (rules.retryOnBlocked && BLOCK_PAGES.some((mark) => bytesOf(capture).includes(mark))) {
    throw new SessionError(`${loadedUrl} shows the page of a bot protection`);
  }
  if (statusCode >= 500 || TRANSIENT.has(statusCode) || rules.additionalHttpErrorStatusCodes.includes(statusCode)) {
    throw new CrawlError('HTTP_STATUS', `${where}${reasonOf(capture)}`);
  }
}

/** Why, as the server says it: the `message` of a JSON answer, else the name of the status. */
function reasonOf(capture: Pick<Capture, 'statusCode' | 'body' | 'lent'>): string {
  const reason = jsonMessage(bytesOf(capture)) ?? STATUS_CODES[capture.statusCode];
  return reason === undefined ? '' : ` (${reason})`;
}

function jsonMessage(body: Buffer): string | undefined {
  if (body[0] !== OPENING_BRACE || body.length > MAX_REASON_BYTES) return undefined;
  try {
    const { message } = JSON.parse(body.toString()) as { message?: unknown };
    if (typeof message !== 'string') return undefined;
    // One line of a log, whatever it holds.
    return (
      message
        .slice(0, MAX_REASON)
        .replace(/[\p{C}\s]+/gu, ' ')
        .trim() || undefined
    );
  } catch {
    return undefined;
  }
}
