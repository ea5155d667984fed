// The rows of a job in the browser: those the stream brings, and windows of the others, fetched when they are looked at.
// Promise: at most MAX_ROWS are held, whatever the size of the job; each window is asked for once.
import type { NumberedRow, PageRow, RowsAnswer } from '../serve/console/wire.js';
import { ask } from './api.js';

export interface RowFilter {
  readonly search: string;
  readonly kind: string;
  readonly status: string;
  readonly code: string;
  readonly host: string;
}

export interface RowWindows {
  row(place: number): PageRow | undefined;
  put(rows: readonly NumberedRow[]): void;
  /** Fetches what is missing between two places. */
  need(from: number, to: number): void;
  close(): void;
}

const MAX_ROWS = 3_000;
const BLOCK = 100;

export function createRowWindows(id: string, onChange: () => void, onError: (error: unknown) => void): RowWindows {
  const known = new Map<number, PageRow>();
  const asked = new Set<number>();
  const over = new AbortController();

  function put(rows: readonly NumberedRow[]): void {
    for (const [place, row] of rows) {
      known.delete(place);
      known.set(place, row);
    }
    for (const place of known.keys()) {
      if (known.size <= MAX_ROWS) break;
      known.delete(place);
    }
  }

  async function fetchBlock(block: number): Promise<void> {
    asked.add(block);
    const before = (block + 1) * BLOCK;
    try {
      put((await ask<RowsAnswer>('GET', rowsPath(id, { before, max: BLOCK }), undefined, over.signal)).rows);
      onChange();
    } catch (error) {
      if (!over.signal.aborted) onError(error);
    } finally {
      asked.delete(block);
    }
  }

  return {
    row: (place) => known.get(place),
    put,
    need(from, to) {
      for (let place = Math.max(0, from); place < to; place++) {
        const block = Math.floor(place / BLOCK);
        if (!known.has(place) && !asked.has(block)) void fetchBlock(block);
      }
    },
    close: () => over.abort(),
  };
}

export function rowsPath(id: string, query: Record<string, string | number>): string {
  const words = new URLSearchParams(
    Object.entries(query)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [name, String(value)]),
  );
  return `/console/jobs/${encodeURIComponent(id)}/pages?${words.toString()}`;
}

export const isFiltered = (filter: RowFilter): boolean => Object.values(filter).some((value) => value !== '');
