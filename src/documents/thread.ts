// The thread that reads documents: one at a time, nothing of the process in its reach but the bytes it is given.
// Its owner gives it time and heap; what it may hold outside of the heap it limits itself.
import { parentPort } from 'node:worker_threads';
import { limitsReached, LIMITS, type LimitName } from '../limits.js';
import { convertDocument, type ConvertedDocument } from './convert.js';
import type { DocumentFormat } from './format.js';
import { type DocumentErrorCode, DocumentFailure, type ReadingHint } from './model.js';
import { limitBuffers } from './parts/buffer-limit.js';

/** A document to read. */
export interface ThreadJob {
  readonly bytes: Uint8Array;
  readonly format: DocumentFormat;
  readonly hint: ReadingHint;
}

export type ThreadAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'read'; readonly document: ConvertedDocument; readonly limits: readonly LimitName[] }
  | {
      readonly kind: 'failed';
      readonly code: DocumentErrorCode;
      readonly message: string;
      readonly limits: readonly LimitName[];
    };

const takeRefused = limitBuffers();
// What a reader leaves behind must not end the thread: the job has its own outcome.
process.on('unhandledRejection', () => undefined);

parentPort!.on('message', ({ bytes, format, hint }: ThreadJob) => {
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

function answer(message: ThreadAnswer): void {
  parentPort!.postMessage(message);
}

function failureOf(error: unknown): ThreadAnswer {
  if (error instanceof DocumentFailure) {
    return { kind: 'failed', code: error.code, message: error.message, limits: newlyReached() };
  }
  const message = error instanceof Error ? error.message : String(error);
  return {
    kind: 'failed',
    code: 'DOCUMENT_INVALID',
    message: `the file is damaged: ${message.slice(0, 300)}`,
    limits: newlyReached(),
  };
}
