// Bodies of requests: read within limits, parsed, and checked by the schema of their route.
// Promise: no more than the limit is ever held; what is wrong is named with its place.
import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { nestsDeeperThan } from '../../base/json-depth.js';
import { ApiError } from '../errors.js';

export const MAX_BODY_BYTES = 1_000_000;
const MAX_SHOWN = 5;

export async function readBody(request: IncomingMessage, maxBytes = MAX_BODY_BYTES): Promise<Buffer> {
  const tooLarge = new ApiError(413, `The body is larger than ${maxBytes} bytes.`, 'BODY_TOO_LARGE');
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxBytes) throw tooLarge;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** The lines of a body of any length. No more than one line is ever held; a longer one is refused as it comes. */
export async function* readLines(request: AsyncIterable<Buffer>, maxCharacters: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of request) {
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
