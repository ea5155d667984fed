// A request as it was before its first attempt, to queue it again after it failed.
import { Request, RequestState } from './request.js';

/** Longer ones have a payload: an index does not keep them. */
const MAX_RECORD_LENGTH = 16_384;

/** The request as it was before its first attempt; '' if it is too long to be kept, or may hold a secret. */
export function recordToRetry(request: Request): string {
  // Headers and payloads may hold secrets: they stay in the queue and go into no file.
  if (Object.keys(request.headers ?? {}).length > 0 || request.payload !== undefined) return '';
  const fresh = Request.fromRecord(request.toRecord());
  fresh.retryCount = fresh.sessionRotationCount = fresh.retryAfterCount = 0;
  fresh.errorMessages = [];
  fresh.state = RequestState.UNPROCESSED;
  fresh.handledAt = undefined;
  fresh.loadedUrl = undefined;
  const record = fresh.toRecord();
  return record.length <= MAX_RECORD_LENGTH ? record : '';
}
