// The pages of a job, for lists: a window of rows, a search through them, one page with its document, and domains.
// Promise: a search reads a bounded number of rows per request, newest first, and says where it stopped.
import { setImmediate as turn } from 'node:timers/promises';
import { LIMITS, limitReached } from '../../limits.js';
import { ApiError } from '../errors.js';
import type { Answer, Call } from '../http/router.js';
import { type PageRow, parseRow } from '../jobs/rows.js';
import type { Job } from '../jobs/store.js';
import type { DomainSort, Fold } from './fold.js';
import type { ConsoleSource } from './source.js';
import type { DomainsAnswer, NumberedRow, RowsAnswer } from './wire.js';

const MAX_ROWS = 500;
const CHUNK = 1_000;
const MAX_SEARCH = 200;
const SORTS: readonly DomainSort[] = ['pages', 'failed', 'pace', 'ms', 'bytes', 'host'];

/** `?before=N&max=N`: the rows before a place, newest first; with `search`, `kind`, `status`, `code`, `host` those that fit. */
export async function rowsAnswer({ store }: ConsoleSource, job: Job, { url, signal }: Call): Promise<Answer> {
  const max = Math.min(numberOf(url, 'max', 100), MAX_ROWS);
  const fits = filterOf(url);
  let before = Math.min(numberOf(url, 'before', job.rows), job.rows);
  const rows: NumberedRow[] = [];
  for (let scanned = 0; before > 0 && rows.length < max && scanned < LIMITS.searchedRows.max && !signal.aborted;) {
    const size = fits ? CHUNK : max - rows.length;
    const from = Math.max(0, before - size);
    const texts = await store.rows.read(job.id, from, before - from);
    let at = texts.length;
    while (at > 0 && rows.length < max) {
      const row = parseRow(texts[--at]!);
      if (!fits || fits(row)) rows.push([from + at, row]);
    }
    scanned += before - from;
    before = from + at;
    if (scanned >= LIMITS.searchedRows.max && before > 0) limitReached('searchedRows');
    if (fits) await turn();
  }
  return { json: { rows, total: job.rows, before } satisfies RowsAnswer };
}

function filterOf({ searchParams }: URL): ((row: PageRow) => boolean) | undefined {
  const text = (name: string): string => (searchParams.get(name) ?? '').slice(0, MAX_SEARCH);
  const search = text('search').toLowerCase();
  const [kind, status, code, host] = ['kind', 'status', 'code', 'host'].map(text) as [string, string, string, string];
  if (search + kind + status + code + host === '') return undefined;
  const has = (value: string | undefined): boolean => value?.toLowerCase().includes(search) === true;
  return (row) =>
    (kind === '' || row.kind === kind) &&
    (status === '' || fitsStatus(row.status, status)) &&
    (code === '' || row.code === code) &&
    (host === '' || hostIs(row.url, host)) &&
    (search === '' || has(row.url) || has(row.title) || has(row.error) || has(row.code));
}

/** `404`, or `4xx` for all of a class. */
function fitsStatus(status: number | undefined, wanted: string): boolean {
  if (status === undefined) return false;
  return wanted.endsWith('xx') ? String(status).startsWith(wanted.slice(0, 1)) : String(status) === wanted;
}

function hostIs(url: string, host: string): boolean {
  const start = url.indexOf('://') + 3;
  const rest = url.slice(start, start + host.length + 1);
  return rest === host || (rest.startsWith(host) && /[/?#]$/.test(rest));
}

/** One page: its row, and its document if it has one. */
export async function pageAnswer({ store }: ConsoleSource, job: Job, place: string): Promise<Answer> {
  const number = /^\d{1,12}$/.test(place) ? Number(place) : -1;
  const [text] = number >= 0 ? await store.rows.read(job.id, number, 1) : [];
  if (text === undefined) throw new ApiError(404, 'There is no such page in this job.', 'NOT_FOUND');
  const row = parseRow(text);
  const documents =
    row.result === undefined
      ? []
      : (await store.pages.results(job.id, row.result, { maxItems: 1, maxBytes: 1 })).documents;
  return { raw: `{"place":${number},"row":${JSON.stringify(row)},"document":${documents[0] ?? 'null'}}` };
}

export async function domainsAnswer(fold: Fold, { url }: Call): Promise<Answer> {
  const wanted = url.searchParams.get('sort');
  const sort = SORTS.find((name) => name === wanted) ?? 'pages';
  const search = (url.searchParams.get('search') ?? '').slice(0, MAX_SEARCH).toLowerCase();
  const from = numberOf(url, 'from', 0);
  const all = fold.domains(sort, search);
  const domains = all.slice(from, from + Math.min(numberOf(url, 'max', 100), MAX_ROWS));
  return { json: { domains, total: all.length } satisfies DomainsAnswer };
}

function numberOf({ searchParams }: URL, name: string, otherwise: number): number {
  const text = searchParams.get(name) ?? '';
  return /^\d{1,12}$/.test(text) ? Number(text) : otherwise;
}
