// What the API answers with when it cannot do what was asked: a status, a code and a sentence that says what to do.
import { CrawlError, type ErrorCode } from '../errors.js';

/** An answer that is an error. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly code: string = 'BAD_REQUEST',
    readonly details?: unknown,
    readonly retryAfterSecs?: number,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

/** Failures of the page that was asked for, not of the server or the network between. */
const STATUS_OF: Partial<Record<ErrorCode, number>> = {
  OPTION_INVALID: 400,
  URL_INVALID: 400,
  URL_SCHEME: 400,
  REQUEST_INVALID: 400,
  ADDRESS_REFUSED: 403,
  ROBOTS_DENIED: 403,
  CACHE_MISS: 404,
  FETCH_TIMEOUT: 408,
  WAIT_TIMEOUT: 408,
  HANDLER_TIMEOUT: 408,
  BODY_TOO_LARGE: 422,
  CONTENT_TYPE: 422,
  SCRIPT_FAILED: 422,
  VISIT_BLOCKED_LOOP: 422,
  MODEL_FAILED: 500,
  BROWSER_MISSING: 501,
  ABORTED: 503,
};

/** Anything thrown, as an answer. Of an error that nobody foresaw only its class is told. */
export function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  if (thrown instanceof CrawlError) return new ApiError(STATUS_OF[thrown.code] ?? 500, thrown.message, thrown.code);
  return new ApiError(500, 'The server failed to handle this request. Its log says why.', 'INTERNAL');
}

export const setting = (what: string, flags: string): ApiError =>
  new ApiError(400, `${what} is not configured on this server. Start it with ${flags}.`, 'NOT_CONFIGURED');
