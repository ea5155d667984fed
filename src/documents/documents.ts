// Reads documents in threads: bytes in, a page of HTML and facts out, or a CrawlError with a code.
// Promise: a hostile file costs its own thread, its time and its memory, and nothing else; idle threads end by themselves and
// keep no process alive.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { CrawlError } from '../errors.js';
import { limitReached, LIMITS } from '../limits.js';
import type { DocumentFormat } from './format.js';
import type { DocumentErrorCode, DocumentFacts, ReadingHint } from './model.js';
import { threadFile } from './thread-file.js';
import type { ThreadAnswer, ThreadJob } from './thread.js';

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
}

interface Job extends ThreadJob {
  readonly url: string;
  readonly limits: DocumentLimits;
  resolve(document: ReadDocument): void;
  reject(error: CrawlError): void;
}

interface Thread {
  readonly worker: Worker;
  readonly heapMegabytes: number;
  documents: number;
  job: Job | undefined;
  timer: NodeJS.Timeout | undefined;
}

const MAX_THREADS = 4;
/** A thread that read so many is replaced: what its readers left behind goes with it. */
const MAX_DOCUMENTS = 100;
const IDLE_MS = 5_000;
/** What loading a thread's code may take on a busy machine; not the document's time. */
const START_MS = 60_000;

const waiting: Job[] = [];
const threads = new Set<Thread>();

/** Reads a document in a thread of its own, which is used again. */
export function readDocument(
  bytes: Uint8Array,
  format: DocumentFormat,
  hint: ReadingHint = {},
  limits: DocumentLimits = {},
): Promise<ReadDocument> {
  return new Promise((resolve, reject) => {
    // The thread gets a copy: the caller's memory may be used again meanwhile.
    const copy = new Uint8Array(bytes);
    waiting.push({ bytes: copy, format, hint, url: hint.url ?? 'the document', limits, resolve, reject });
    startJobs();
  });
}

function startJobs(): void {
  while (waiting.length > 0) {
    const heapMegabytes = waiting[0]!.limits.heapMegabytes ?? LIMITS.documentHeapMegabytes.max;
    const thread = idleThread(heapMegabytes) ?? (threads.size < mostThreads() ? openThread(heapMegabytes) : undefined);
    if (!thread) return;
    start(thread, waiting.shift()!);
  }
}

function mostThreads(): number {
  return Math.max(1, Math.min(MAX_THREADS, availableParallelism() - 1));
}

function idleThread(heapMegabytes: number): Thread | undefined {
  for (const thread of threads) {
    if (thread.job !== undefined) continue;
    if (thread.heapMegabytes === heapMegabytes) return thread;
    // Another limit needs another thread.
    close(thread);
  }
  return undefined;
}

function openThread(heapMegabytes: number): Thread {
  const { file, execArgv } = threadFile();
  const worker = new Worker(file, {
    execArgv,
    // The thread needs nothing of the process's surroundings.
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes, stackSizeMb: 4 },
  });
  const thread: Thread = { worker, heapMegabytes, documents: 0, job: undefined, timer: undefined };
  threads.add(thread);
  // What pdf.js warns of is of no interest, and must not fill a pipe.
  worker.stdout.resume();
  worker.stderr.resume();
  worker.on('message', (answer: ThreadAnswer) => receive(thread, answer));
  worker.on('error', (error: NodeJS.ErrnoException) => {
    const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    if (isMemory) limitReached('documentHeapMegabytes');
    const what = isMemory ? `needs more than ${heapMegabytes} MB of memory` : `ended its reader: ${error.message}`;
    fail(thread, isMemory ? 'DOCUMENT_LIMIT' : 'DOCUMENT_INVALID', what);
  });
  worker.on('exit', () => fail(thread, 'DOCUMENT_INVALID', 'ended its reader'));
  return thread;
}

function start(thread: Thread, job: Job): void {
  thread.job = job;
  thread.worker.ref();
  clearTimeout(thread.timer);
  const { bytes, format, hint } = job;
  try {
    thread.worker.postMessage({ bytes, format, hint } satisfies ThreadJob, [bytes.buffer as ArrayBuffer]);
  } catch (error) {
    return fail(thread, 'DOCUMENT_INVALID', `cannot be handed to its reader: ${(error as Error).message}`);
  }
  // A thread that is still loading gets its time afterwards.
  limitTime(thread, thread.documents === 0 ? START_MS : timeOf(job));
}

function timeOf({ limits }: Job): number {
  return limits.timeMs ?? LIMITS.documentMs.max;
}

function limitTime(thread: Thread, ms: number): void {
  clearTimeout(thread.timer);
  thread.timer = setTimeout(() => {
    limitReached('documentMs');
    fail(thread, 'DOCUMENT_LIMIT', `takes more than ${ms / 1000} s to read`);
  }, ms);
}

function receive(thread: Thread, answer: ThreadAnswer): void {
  const { job } = thread;
  if (answer.kind === 'ready') {
    if (job) limitTime(thread, timeOf(job));
    return;
  }
  if (!job) return;
  thread.documents++;
  for (const name of answer.limits) limitReached(name);
  if (answer.kind === 'read') {
    const { html, facts } = answer.document;
    job.resolve({ html: Buffer.from(html), facts });
  } else job.reject(new CrawlError(answer.code, `${job.url}: ${answer.message}`));
  rest(thread);
}

/** A thread without work ends after a while, and does not keep the process alive until then. */
function rest(thread: Thread): void {
  thread.job = undefined;
  clearTimeout(thread.timer);
  if (thread.documents >= MAX_DOCUMENTS) close(thread);
  else {
    thread.worker.unref();
    thread.timer = setTimeout(() => close(thread), IDLE_MS).unref();
  }
  startJobs();
}

function fail(thread: Thread, code: DocumentErrorCode, what: string): void {
  const { job } = thread;
  thread.job = undefined;
  close(thread);
  job?.reject(new CrawlError(code, `${job.url} ${what}`));
  startJobs();
}

function close(thread: Thread): void {
  clearTimeout(thread.timer);
  threads.delete(thread);
  thread.worker.removeAllListeners('exit');
  void thread.worker.terminate();
}
