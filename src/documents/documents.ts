// Reads documents in processes of their own: bytes in, a page of HTML and facts out, or a CrawlError with a code.
// Promise: a hostile file costs its own process, its time and its memory, and nothing else (a thread would not do: V8 ends
// the whole process where an array or a string gets too long); idle ones end by themselves and keep nothing alive.
import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { CrawlError } from '../errors.js';
import { limitReached, LIMITS } from '../limits.js';
import type { DocumentFormat } from './format.js';
import type { DocumentErrorCode, DocumentFacts, ReadingHint } from './model.js';
import { childFile } from './child-file.js';
import type { ReadingAnswer, ReadingJob } from './child.js';

export type { DocumentFacts, DocumentHeading } from './model.js';

/** A document as a page. */
export interface ReadDocument {
  /** UTF-8. */
  readonly html: Buffer;
  readonly facts: DocumentFacts;
}

/** How much a document may cost; for tests. */
export interface DocumentLimits {
  readonly timeMs?: number;
  readonly heapMegabytes?: number;
  /** When others get a further process. */
  readonly slowMs?: number;
}

interface Job extends ReadingJob {
  readonly url: string;
  readonly limits: DocumentLimits;
  resolve(document: ReadDocument): void;
  reject(error: CrawlError): void;
}

interface Reader {
  readonly child: ChildProcess;
  readonly heapMegabytes: number;
  documents: number;
  job: Job | undefined;
  /** The document of now takes long. */
  isSlow: boolean;
  timer: NodeJS.Timeout | undefined;
}

const MAX_READERS = 4;
/** A process that read so many is replaced: what they left behind goes with it. */
const MAX_DOCUMENTS = 100;
const IDLE_MS = 5_000;
/** What loading its code may take on a busy machine; not the document's time. */
const START_MS = 60_000;
/** A document that takes longer does not hold up the others: they get a further process. */
const SLOW_MS = 2_000;

const waiting: Job[] = [];
const readers = new Set<Reader>();

/** Reads a document in a process of its own, which is used again. */
export function readDocument(
  bytes: Uint8Array,
  format: DocumentFormat,
  hint: ReadingHint = {},
  limits: DocumentLimits = {},
): Promise<ReadDocument> {
  return new Promise((resolve, reject) => {
    // A copy: the caller's memory may be used again meanwhile.
    const copy = new Uint8Array(bytes);
    waiting.push({ bytes: copy, format, hint, url: hint.url ?? 'the document', limits, resolve, reject });
    startJobs();
  });
}

function startJobs(): void {
  while (waiting.length > 0) {
    const heapMegabytes = waiting[0]!.limits.heapMegabytes ?? LIMITS.documentHeapMegabytes.max;
    const reader = idleReader(heapMegabytes) ?? (hasRoom() ? openReader(heapMegabytes) : undefined);
    if (!reader) return;
    start(reader, waiting.shift()!);
  }
}

/** As many as there are processors, beside those that are held up by their document. */
function hasRoom(): boolean {
  const usual = Math.max(1, Math.min(MAX_READERS, availableParallelism() - 1));
  let quick = 0;
  for (const { isSlow } of readers) if (!isSlow) quick++;
  return quick < usual && readers.size < MAX_READERS;
}

function idleReader(heapMegabytes: number): Reader | undefined {
  for (const reader of readers) {
    if (reader.job !== undefined) continue;
    if (reader.heapMegabytes === heapMegabytes) return reader;
    // Another limit needs another process.
    close(reader);
  }
  return undefined;
}

function openReader(heapMegabytes: number): Reader {
  const { file, execArgv } = childFile();
  const child = fork(file, [], {
    execArgv: [...execArgv, `--max-old-space-size=${heapMegabytes}`],
    // It needs nothing of the process's surroundings, and what pdf.js warns of is of no interest.
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  });
  const reader: Reader = { child, heapMegabytes, documents: 0, job: undefined, isSlow: false, timer: undefined };
  readers.add(reader);
  child.on('message', (answer: ReadingAnswer) => receive(reader, answer));
  child.on('error', (error) => fail(reader, 'DOCUMENT_INVALID', `cannot be handed to its reader: ${error.message}`));
  child.on('exit', (code, signal) => {
    const isMemory = signal === null ? FATAL_CODES.has(code ?? 0) : FATAL_SIGNALS.has(signal);
    if (isMemory && reader.job) limitReached('documentHeapMegabytes');
    const what = isMemory ? `needs more than ${heapMegabytes} MB of memory` : 'ended its reader';
    fail(reader, isMemory ? 'DOCUMENT_LIMIT' : 'DOCUMENT_INVALID', what);
  });
  return reader;
}

/** How Node ends where memory does, or where a value gets longer than V8 can hold; and how Linux ends whom it has none for. */
const FATAL_SIGNALS: ReadonlySet<NodeJS.Signals> = new Set(['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGKILL']);
const FATAL_CODES: ReadonlySet<number> = new Set([133, 134, 137]);

function start(reader: Reader, job: Job): void {
  reader.job = job;
  reader.isSlow = false;
  keepAlive(reader, true);
  const { bytes, format, hint } = job;
  try {
    reader.child.send({ bytes, format, hint } satisfies ReadingJob, (error) => {
      if (error && reader.job === job)
        fail(reader, 'DOCUMENT_INVALID', `cannot be handed to its reader: ${error.message}`);
    });
  } catch (error) {
    return fail(reader, 'DOCUMENT_INVALID', `cannot be handed to its reader: ${(error as Error).message}`);
  }
  // One that is still loading gets its time afterwards.
  limitTime(reader, reader.documents === 0 ? START_MS : timeOf(job));
  if (reader.documents > 0) noteSlow(reader, job);
}

function noteSlow(reader: Reader, job: Job): void {
  setTimeout(() => {
    if (reader.job !== job) return;
    reader.isSlow = true;
    startJobs();
  }, job.limits.slowMs ?? SLOW_MS).unref();
}

function timeOf({ limits }: Job): number {
  return limits.timeMs ?? LIMITS.documentMs.max;
}

function limitTime(reader: Reader, ms: number): void {
  clearTimeout(reader.timer);
  reader.timer = setTimeout(() => {
    limitReached('documentMs');
    fail(reader, 'DOCUMENT_LIMIT', `takes more than ${ms / 1000} s to read`);
  }, ms);
}

function receive(reader: Reader, answer: ReadingAnswer): void {
  const { job } = reader;
  if (answer.kind === 'ready') {
    if (!job) return;
    limitTime(reader, timeOf(job));
    noteSlow(reader, job);
    return;
  }
  if (!job) return;
  reader.documents++;
  for (const name of answer.limits) limitReached(name);
  if (answer.kind === 'read') {
    const { html, facts } = answer.document;
    job.resolve({ html: Buffer.from(html), facts });
  } else job.reject(new CrawlError(answer.code, `${job.url}: ${answer.message}`));
  rest(reader);
}

/** A process without work ends after a while, and does not keep its owner alive until then. */
function rest(reader: Reader): void {
  reader.job = undefined;
  reader.isSlow = false;
  clearTimeout(reader.timer);
  if (reader.documents >= MAX_DOCUMENTS) close(reader);
  else {
    keepAlive(reader, false);
    reader.timer = setTimeout(() => close(reader), IDLE_MS).unref();
  }
  startJobs();
}

function keepAlive({ child }: Reader, isKept: boolean): void {
  if (isKept) {
    child.ref();
    child.channel?.ref();
  } else {
    child.unref();
    child.channel?.unref();
  }
}

function fail(reader: Reader, code: DocumentErrorCode, what: string): void {
  const { job } = reader;
  reader.job = undefined;
  close(reader);
  job?.reject(new CrawlError(code, `${job.url} ${what}`));
  startJobs();
}

function close(reader: Reader): void {
  clearTimeout(reader.timer);
  readers.delete(reader);
  reader.child.removeAllListeners('exit');
  keepAlive(reader, false);
  reader.child.kill('SIGKILL');
}
