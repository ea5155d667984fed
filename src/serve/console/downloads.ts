// Results of a job as one file: JSON lines, CSV, or a zip of markdown. A browser's download cannot carry a token, so it
// is given a ticket: for one file, once, for a minute.
// Promise: a download is written as it is read, at the pace of its reader; the ticket tells nothing of the token.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { csvRow } from '../../store/dataset/csv.js';
import { fileNamePart } from '../../store/names.js';
import { ApiError } from '../errors.js';
import { parseRow } from '../jobs/rows.js';
import type { ConsoleSource } from './source.js';
import { createZip } from '../../base/zip.js';

export type DownloadFormat = 'jsonl' | 'csv' | 'zip';

export interface Downloads {
  /** The path of a file that may be fetched once. */
  ticket(job: string, format: DownloadFormat): string;
  /** Writes the file of a ticket. */
  serve(ticket: string, response: ServerResponse): Promise<void>;
}

const TYPES: Readonly<Record<DownloadFormat, string>> = {
  jsonl: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  zip: 'application/zip',
};
const TICKET_MS = 60_000;
const UNREAD_MS = 300_000;
const MAX_TICKETS = 1_000;
const ROWS_AT_ONCE = 1_000;
const DOCUMENTS_AT_ONCE = { maxItems: 200, maxBytes: 4_000_000 };
export const DOWNLOADS = '/console/files/';

export const isFormat = (value: unknown): value is DownloadFormat =>
  typeof value === 'string' && Object.hasOwn(TYPES, value);

export function createDownloads({ store }: ConsoleSource): Downloads {
  const tickets = new Map<string, { job: string; format: DownloadFormat; untilMs: number }>();

  async function* documents(job: string): AsyncGenerator<string> {
    for (let from: number | undefined = 0; from !== undefined;) {
      const page: { documents: readonly string[]; next: number | undefined } = await store.pages.results(
        job,
        from,
        DOCUMENTS_AT_ONCE,
      );
      yield* page.documents;
      from = page.next;
    }
  }

  async function* jsonl(job: string): AsyncGenerator<string> {
    for await (const document of documents(job)) yield `${document}\n`;
  }

  async function* csv(job: string): AsyncGenerator<string> {
    yield csvRow(['url', 'fate', 'status', 'title', 'type', 'bytes', 'ms', 'at', 'code', 'error']);
    for (let from = 0; ;) {
      const rows = await store.rows.read(job, from, ROWS_AT_ONCE);
      if (rows.length === 0) return;
      from += rows.length;
      yield rows
        .map((text) => {
          const { url, kind, status, title, type, bytes, ms, atMs, code, error } = parseRow(text);
          return csvRow([url, kind, status, title, type, bytes, ms, new Date(atMs).toISOString(), code, error]);
        })
        .join('');
    }
  }

  async function* zip(job: string): AsyncGenerator<Buffer> {
    const archive = createZip(new Date());
    let number = 0;
    for await (const text of documents(job)) {
      const { markdown, text: plain, metadata, url } = JSON.parse(text) as Record<string, unknown>;
      const body = typeof markdown === 'string' ? markdown : typeof plain === 'string' ? plain : '';
      const source = (metadata as { sourceURL?: unknown } | undefined)?.sourceURL ?? url ?? '';
      const name = fileNamePart(String(source).replace(/^https?:\/\//, ''));
      yield archive.file(`${String(++number).padStart(6, '0')}-${name}.md`, body);
    }
    yield archive.end();
  }

  const pieces = { jsonl, csv, zip };

  return {
    ticket(job, format) {
      const nowMs = Date.now();
      for (const [name, { untilMs }] of tickets) if (untilMs < nowMs) tickets.delete(name);
      if (tickets.size >= MAX_TICKETS) throw new ApiError(429, 'Too many downloads are waiting.', 'TOO_MANY_REQUESTS');
      const name = randomBytes(24).toString('base64url');
      tickets.set(name, { job, format, untilMs: nowMs + TICKET_MS });
      return `${DOWNLOADS}${name}`;
    },
    async serve(ticket, response) {
      const found = tickets.get(ticket);
      tickets.delete(ticket);
      if (!found || found.untilMs < Date.now()) {
        throw new ApiError(404, 'This download has expired. Start it again in the console.', 'NOT_FOUND');
      }
      const { job, format } = found;
      const gone = once(response, 'close');
      response.setTimeout(UNREAD_MS);
      response.writeHead(200, {
        'content-type': TYPES[format],
        'content-disposition': `attachment; filename="orcrawl-${fileNamePart(job)}.${format}"`,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'content-security-policy': "default-src 'none'; sandbox",
      });
      for await (const piece of pieces[format](job)) {
        if (response.destroyed) return;
        if (!response.write(piece)) await Promise.race([once(response, 'drain'), gone]);
      }
      response.end();
    },
  };
}
