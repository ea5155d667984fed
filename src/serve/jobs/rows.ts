// What a list shows of one outcome of a job: a short row that is kept together with the outcome itself.
// Promise: a row is at most a few kilobytes of JSON, whatever the page says; rows are in the order of the outcomes.
import { type LimitName, LIMITS, limitReached } from '../../limits.js';
import { hideLogins } from '../../request/login.js';
import type { PageFacts, PageRow } from './row-types.js';
import type { Outcome } from './store.js';

export type { PageFacts, PageRow };

/** The facts that a document tells of its page, and what else is known. */
export function factsOf(metadata: Readonly<Record<string, unknown>>, more: Pick<PageFacts, 'bytes' | 'ms'>): PageFacts {
  const { statusCode, title, contentType } = metadata;
  return {
    ...more,
    ...(typeof statusCode === 'number' && { status: statusCode }),
    ...(typeof title === 'string' && { title }),
    ...(typeof contentType === 'string' && { type: contentType }),
  };
}

/** Rows by their place among all outcomes of a job. */
export interface JobRows {
  /** As `joinRow` makes them. */
  read(id: string, from: number, max: number): Promise<string[]>;
}

function cut(text: string, max: number, name: LimitName): string {
  if (text.length > max) limitReached(name);
  return text.slice(0, max);
}

/** The row without its result's number, which only the store knows. */
export function rowText(outcome: Outcome, atMs: number): string {
  const { status, title, type, bytes, ms } = outcome.facts ?? {};
  const facts = {
    atMs,
    status,
    title: title === undefined ? undefined : cut(title, LIMITS.rowTitleCharacters.max, 'rowTitleCharacters'),
    type: type?.slice(0, 100),
    bytes,
    ms: ms === undefined ? undefined : Math.round(ms),
  };
  switch (outcome.kind) {
    case 'document':
      return JSON.stringify({ kind: 'page', url: shortUrl(outcome.url ?? ''), ...facts });
    case 'error': {
      const { url, code, error } = outcome.error;
      const failure = { code, error: hideLogins(cut(error, LIMITS.rowErrorCharacters.max, 'rowErrorCharacters')) };
      return JSON.stringify({ kind: 'failed', url: shortUrl(url), ...facts, ...failure });
    }
    case 'robots':
      return JSON.stringify({ kind: 'robots', url: shortUrl(outcome.url), ...facts });
    default:
      return outcome satisfies never;
  }
}

/** As it is kept: the number of the result, `-` for an outcome without one, and the row. */
export const joinRow = (result: number | undefined, text: string): string => `${result ?? '-'} ${text}`;

export function parseRow(joined: string): PageRow {
  const space = joined.indexOf(' ');
  const row = JSON.parse(joined.slice(space + 1)) as PageRow;
  return space === 1 && joined.startsWith('-') ? row : { ...row, result: Number(joined.slice(0, space)) };
}

const shortUrl = (url: string): string => hideLogins(cut(url, LIMITS.rowUrlCharacters.max, 'rowUrlCharacters'));
