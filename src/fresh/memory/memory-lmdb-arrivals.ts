// The pages that all writers of a memory saw lately, so that each of them finds the near copies of what others saw.
// Promise: a bounded list; a row is written in the transaction that writes its visit aside, so it costs none of its own.
import type { Database } from 'lmdb';
import type { Arrivals, PageVisit } from './memory.js';
import { KEY_BYTES, packKey, unpackKey } from './page-row.js';

/** Whoever is further behind has missed some; 100,000 rows take some 15 MB on disk. */
const KEPT = 100_000;

type Table = Database<Buffer, number>;

/** Within a transaction. */
export function noteArrivals(table: Table, visits: readonly PageVisit[]): void {
  const seen = visits.filter(isOriginal);
  if (seen.length === 0) return;
  let number = newest(table);
  for (const { key, page, names } of seen) {
    void table.put(++number, Buffer.concat([packKey(key), packKey(page.simhash), Buffer.from(names.url)]));
    if (number > KEPT) void table.remove(number - KEPT);
  }
}

export function arrivalsOf(table: Table): Arrivals {
  return {
    lastArrival: () => newest(table),
    arrivalsAfter: (after, max) =>
      [...table.getRange({ start: after + 1, limit: max })].map(({ key: number, value }) => ({
        number,
        key: unpackKey(value),
        simhash: unpackKey(value, KEY_BYTES),
        url: value.toString('utf8', 2 * KEY_BYTES),
      })),
  };
}

/** New or changed, there, with content, and not a copy itself. */
function isOriginal({ page, isCopy }: PageVisit): boolean {
  const { found, visits, statusCode, simhash } = page;
  if (isCopy || visits === 0 || statusCode >= 400) return false;
  return (found === 'new' || found === 'changed') && (simhash.hi | simhash.lo) !== 0;
}

function newest(table: Table): number {
  const [number = 0] = table.getKeys({ reverse: true, limit: 1 });
  return number;
}
