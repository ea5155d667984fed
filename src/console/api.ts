// Requests of the page to its own server, with the token in the header.
// Promise: an answer that is not a success is an error with a sentence for people.
let token = '';

export function useTokenOf(value: string): void {
  token = value;
}

export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly code = '',
  ) {
    super(message);
  }
}

export const authorization = (): Record<string, string> => (token === '' ? {} : { authorization: `Bearer ${token}` });

export async function ask<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      method,
      headers: { ...authorization(), ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      referrerPolicy: 'no-referrer',
      credentials: 'omit',
    });
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw error;
    throw new ApiFailure(0, 'The server does not answer. Is it still running?');
  }
  const value = (await answer.json().catch(() => ({}))) as { error?: unknown; code?: unknown };
  if (!answer.ok) {
    const message = typeof value.error === 'string' ? value.error : `The server answered ${answer.status}.`;
    throw new ApiFailure(answer.status, message, String(value.code ?? ''));
  }
  return value as T;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Saves a job's results: the ticket is fetched by the browser itself, so a file of any size goes to the disk. */
export async function download(job: string, format: 'jsonl' | 'csv' | 'zip'): Promise<void> {
  const { path } = await ask<{ path: string }>('POST', `/console/jobs/${job}/download`, { format });
  const link = document.createElement('a');
  link.href = path;
  link.download = '';
  document.body.append(link);
  link.click();
  link.remove();
}
