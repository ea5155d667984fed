// Turns for scrapes: so many at once in all and per token, the others wait in line, and past the line are told to come back.
import { ApiError } from '../errors.js';
import type { Token } from './tokens.js';

export interface Turns {
  take<T>(token: Token, signal: AbortSignal, use: () => Promise<T>): Promise<T>;
  readonly active: number;
  readonly waiting: number;
}

const MAX_WAITING = 2_000;

interface Waiting {
  readonly token: Token;
  readonly begin: () => void;
}

export function createTurns(limit: number): Turns {
  let active = 0;
  const byToken = new Map<string, number>();
  const line = new Set<Waiting>();
  const used = (token: Token): number => byToken.get(token.name) ?? 0;
  const isFree = (token: Token): boolean => active < limit && used(token) < token.concurrency;

  function begin(token: Token): void {
    active++;
    byToken.set(token.name, used(token) + 1);
  }

  function end(token: Token): void {
    active--;
    const left = used(token) - 1;
    if (left > 0) byToken.set(token.name, left);
    else byToken.delete(token.name);
    for (const next of line) {
      if (active >= limit) return;
      if (!isFree(next.token)) continue;
      line.delete(next);
      begin(next.token);
      next.begin();
    }
  }

  async function waitFor(token: Token, signal: AbortSignal): Promise<void> {
    if (isFree(token)) return begin(token);
    if (line.size >= MAX_WAITING) {
      throw new ApiError(429, 'Too many requests are waiting. Try again soon.', 'TOO_MANY_REQUESTS', undefined, 2);
    }
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        line.delete(waiting);
        reject(new ApiError(499, 'The client went away.', 'ABORTED'));
      };
      const waiting: Waiting = {
        token,
        begin: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      line.add(waiting);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  return {
    get active() {
      return active;
    },
    get waiting() {
      return line.size;
    },
    async take(token, signal, use) {
      await waitFor(token, signal);
      try {
        return await use();
      } finally {
        end(token);
      }
    },
  };
}
