// How a request ends without its page: what is recorded of it, where a placement records fates.
// Promise: recorded in the same atomic step as the settlement, so each end has exactly one record.
import type { Request } from '../../../request/request.js';
import type { PackedPage } from '../../../store/content/page.js';
import type { Capture } from '../../../fetch/engine.js';

export interface Fate {
  readonly kind: 'failed' | 'skipped';
  /** The error's code, or the reason of the skip. */
  readonly code: string;
  readonly message?: string;
  /** Requests sent for it. */
  readonly attempts: number;
  /** The last response, if there was one. */
  readonly capture?: Pick<Capture, 'statusCode' | 'headers' | 'loadedUrl'> | undefined;
}

/** Packs the record of a fate; undefined where nothing is recorded. */
export type RecordFate = (request: Request, fate: Fate) => PackedPage | undefined;
