// What a process of `batch --processes` is told.
import type { Part, SentResult } from '../result-view.js';
import type { BatchSettings } from '../run.js';

export interface VisitorSettings extends Pick<
  BatchSettings,
  'permits' | 'delay' | 'memoryThresholdPercent' | 'config' | 'crawler' | 'format' | 'fields'
> {
  readonly wanted: readonly Part[];
  /** Whether whoever has the list compares the pages. */
  readonly compares: boolean;
  /** Whether somebody is shown what starts. */
  readonly tells: boolean;
}

/** A result on its way, with what the monitor shows of it. */
export interface ToldResult extends SentResult {
  readonly success: boolean;
  readonly errorCode: string | null;
  readonly statusCode: number | null;
  readonly bytes: number;
}

export function told(sent: SentResult): ToldResult {
  const { success, errorCode, statusCode, bytes } = sent.facts;
  return { ...sent, success, errorCode, statusCode, bytes };
}
