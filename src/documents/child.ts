// The process that reads documents: one at a time, with nothing of its owner in reach but the bytes it is given.
// Its owner gives it time and heap; what it may hold outside of the heap it limits itself. It ends with its owner.
import { Worker } from 'node:worker_threads';
import { limitsReached, LIMITS, type LimitName } from '../limits.js';
import { convertDocument, type ConvertedDocument } from './convert.js';
import type { DocumentFormat } from './format.js';
import { type DocumentErrorCode, DocumentFailure, type ReadingHint } from './model.js';
import { limitBuffers } from './parts/buffer-limit.js';

/** A document to read. */
export interface ReadingJob {
  readonly bytes: Uint8Array;
  readonly format: DocumentFormat;
  readonly hint: ReadingHint;
}

export type ReadingAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'read'; readonly document: ConvertedDocument; readonly limits: readonly LimitName[] }
  | {
      readonly kind: 'failed';
      readonly code: DocumentErrorCode;
      readonly message: string;
      readonly limits: readonly LimitName[];
    };

const takeRefused = limitBuffers();
// What a reader leaves behind must not end the process: the job has its own outcome.
process.on('unhandledRejection', () => undefined);
process.on('disconnect', () => process.exit());
endWithOwner();

process.on('message', ({ bytes, format, hint }: ReadingJob) => {
  takeRefused();
  convertDocument(bytes, format, hint).then(
    (document) => answer({ kind: 'read', document, limits: newlyReached() }),
    // pdf.js goes on after an allocation that was refused, and then finds nothing.
    (error: unknown) => answer(failureOf(takeRefused() ?? error)),
  );
});
answer({ kind: 'ready' });

const NAMES = Object.keys(LIMITS) as LimitName[];
const counted = new Map<LimitName, number>();

/** The limits that this document reached: they are counted where the metrics are. */
function newlyReached(): LimitName[] {
  return NAMES.filter((name) => {
    const isNew = limitsReached(name) > (counted.get(name) ?? 0);
    counted.set(name, limitsReached(name));
    return isNew;
  });
}

function answer(message: ReadingAnswer): void {
  process.send!(message);
}

function failureOf(error: unknown): ReadingAnswer {
  if (error instanceof DocumentFailure) {
    return { kind: 'failed', code: error.code, message: error.message, limits: newlyReached() };
  }
  const message = error instanceof Error ? error.message : String(error);
  // A string or an array that would be longer than V8 allows, where it says so in time.
  if (error instanceof RangeError) {
    const told = `the file is too large to be read: ${message.slice(0, 300)}`;
    return { kind: 'failed', code: 'DOCUMENT_LIMIT', message: told, limits: newlyReached() };
  }
  return {
    kind: 'failed',
    code: 'DOCUMENT_INVALID',
    message: `the file is damaged: ${message.slice(0, 300)}`,
    limits: newlyReached(),
  };
}

/** A file that keeps this process busy keeps it from hearing that its owner is gone: a thread of its own looks. */
function endWithOwner(): void {
  const look = `const owner = ${process.ppid};
    setInterval(() => process.ppid === owner || process.kill(process.pid, 'SIGKILL'), 1000);`;
  new Worker(look, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 16 } }).unref();
}
