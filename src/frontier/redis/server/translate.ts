// Errors of a Redis server or of its connection, in our codes.
// Promise: a message names the server without its password, and says what to do where something can be done.
import { CrawlError } from '../../../errors.js';

/** `canMove`: another server may become the master, and the address leads to it. */
export function translated(error: unknown, where: string, canMove = false): CrawlError {
  if (error instanceof CrawlError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const cause = { cause: error };
  const code = message.split(' ', 1)[0]!;
  if (code === 'OOM') {
    return new CrawlError(
      'QUEUE_FULL',
      `Redis at ${where} has reached its maxmemory: raise it, or wait until requests finish`,
      cause,
    );
  }
  if (code === 'MISCONF') {
    return new CrawlError('QUEUE_FULL', `Redis at ${where} cannot write to its disk: ${message}`, cause);
  }
  if (code === 'EMPTIED' || /\bEMPTIED\b/.test(message)) {
    return new CrawlError(
      'QUEUE_EMPTIED',
      `Redis at ${where} no longer holds the queue that was opened: it was emptied or lost its data. ` +
        'Restore it from a backup, or start fresh',
      cause,
    );
  }
  if (/\bOUTBOX\b/.test(message)) {
    return new CrawlError('QUEUE_FULL', `too many links in Redis at ${where} wait for unreachable pods`, cause);
  }
  if (/\bOVERFLOW\b/.test(message)) {
    return new CrawlError('QUEUE_FULL', `too many requests wait to be written to disk for Redis at ${where}`, cause);
  }
  if (/\bOLDCALL\b/.test(message)) {
    return new CrawlError('REQUEST_INVALID', 'the call number is too old to be repeated', cause);
  }
  if (['NOAUTH', 'WRONGPASS', 'NOPERM'].includes(code) || /invalid password|invalid username/i.test(message)) {
    return new CrawlError('QUEUE_UNSUITABLE', `Redis at ${where} refuses access: ${message}`, cause);
  }
  if (code === 'READONLY' && !canMove) {
    return new CrawlError('QUEUE_UNSUITABLE', `Redis at ${where} is a read-only replica: use its master`, cause);
  }
  const contradiction = /CORRUPT counters: ([^]*?)(?: script: |$)/.exec(message)?.[1];
  if (contradiction !== undefined) {
    return new CrawlError(
      'QUEUE_CORRUPT',
      `the counters of the queue in Redis at ${where} are inconsistent: ${contradiction}. ` +
        'Restore it from a backup, or start fresh',
      cause,
    );
  }
  // The script failed: the stored data is inconsistent, or belongs to another program.
  if (code === 'WRONGTYPE' || code === 'ERR') {
    return new CrawlError('QUEUE_CORRUPT', `the queue in Redis at ${where} failed: ${message}`, cause);
  }
  return unreachable(where, error);
}

/** The server said so itself. */
export function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

export function unreachable(where: string, cause: unknown): CrawlError {
  const reason = cause instanceof Error ? `: ${cause.message}` : '';
  return new CrawlError('QUEUE_UNREACHABLE', `Redis at ${where} does not answer${reason}`, { cause });
}

/** The server said that another has the data now: a new connection finds it. */
export function isElsewhere(error: unknown): boolean {
  return isReply(error) && /^(MOVED|READONLY) /.test((error as Error).message);
}
