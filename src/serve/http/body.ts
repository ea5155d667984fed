// Bodies of requests: read within limits, parsed, and checked by the schema of their route.
// Promise: no more than the limit is ever held, and no body is waited for without end; what is wrong is named with its place.
import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { nestsDeeperThan } from '../../base/json-depth.js';
import { ApiError } from '../errors.js';

export const MAX_BODY_BYTES = 1_000_000;
const MAX_SHOWN = 5;
/** So long may a body take; one of any length may take so long until something of it comes. */
const BODY_MS = 60_000;

export async function readBody(request: IncomingMessage, maxBytes = MAX_BODY_BYTES): Promise<Buffer> {
  const deadlineMs = performance.now() + BODY_MS;
  const tooLarge = new ApiError(413, `The body is larger than ${maxBytes} bytes.`, 'BODY_TOO_LARGE');
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of inTime(request, () => deadlineMs - performance.now())) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The same chunks, each within the time that is left for it. Who stops reading can still answer: nothing is closed. */
async function* inTime(chunks: AsyncIterable<Buffer>, leftMs: () => number): AsyncGenerator<Buffer> {
  const iterator = chunks[Symbol.asyncIterator]();
  let timer: NodeJS.Timeout | undefined;
  const tooLate = (resolve: (late: undefined) => void): void =>
    void (timer = setTimeout(resolve, Math.max(0, leftMs()), undefined));
  for (;;) {
    const coming = iterator.next();
    const next = await Promise.race([coming, new Promise<undefined>(tooLate)]).finally(() => clearTimeout(timer));
    if (next === undefined) {
      coming.catch(() => undefined);
      throw new ApiError(408, 'The body did not arrive in time.', 'REQUEST_TIMEOUT');
    }
    if (next.done === true) return;
    yield next.value;
  }
}

/** The lines of a body of any length. No more than one line is ever held; a longer one is refused as it comes. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  maxCharacters: number,
  pauseMs = BODY_MS,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of inTime(chunks, () => pauseMs)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
    rest = lines.pop()!;
    for (const line of lines) yield within(line);
    within(rest);
  }
  yield rest + decoder.decode();

  function within(line: string): string {
    if (line.length <= maxCharacters) return line;
    throw new ApiError(413, `A line is longer than ${maxCharacters} characters.`, 'BODY_TOO_LARGE');
  }
}

export function parseJson(text: string): unknown {
  if (nestsDeeperThan(text, 100)) throw new ApiError(400, 'The body is nested too deeply.', 'BAD_REQUEST');
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ApiError(400, `The body is not valid JSON: ${(error as Error).message}`, 'BAD_REQUEST');
  }
}

/** What passed the schema, or a 400 that names what did not. */
export function checked<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issues = result.error.issues
    .slice(0, MAX_SHOWN)
    .map((issue) => ({ path: issue.path.join('.'), message: messageOf(issue) }));
  const text = issues.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join('; ');
  throw new ApiError(400, `The body is invalid: ${text}`, 'BAD_REQUEST', issues);
}

/** What is left out is said as such, not as a wrong type. */
function messageOf({ code, message }: { readonly code?: string | undefined; readonly message: string }): string {
  return code === 'invalid_type' && message.endsWith('received undefined') ? 'is missing' : message;
}
