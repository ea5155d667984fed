// One time limit over all phases of a visit in a browser: any call to a page may hang, so none is awaited alone.
// Promise: on timeout or abort every waiter is told at once, with the phase.
import { CrawlError, type ErrorCode } from '../../errors.js';

export interface Deadline {
  readonly isOver: boolean;
  /** The result of `work`, or the error of the limit if that comes first. */
  run<T>(phase: string, work: Promise<T>, code?: ErrorCode): Promise<T>;
  /** Rejects all waiters with this error. */
  fail(error: CrawlError): void;
  /** Frees the timer; what still runs is not waited for. */
  end(): void;
}

/** Longer timers fire at once in Node. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export function createDeadline(limitMs: number, what: string, signal?: AbortSignal): Deadline {
  let phase = 'start';
  let code: ErrorCode = 'FETCH_TIMEOUT';
  let isOver = false;
  let breakOff!: (error: CrawlError) => void;
  const broken = new Promise<never>((_, reject) => {
    breakOff = (error) => {
      isOver = true;
      reject(error);
    };
  });
  // Nobody may be waiting at the moment it breaks.
  broken.catch(() => undefined);
  const timer = setTimeout(
    () => breakOff(new CrawlError(code, `${what}: timed out in ${phase}, within the visit's ${limitMs} ms`)),
    Math.min(limitMs, MAX_TIMER_MS),
  );
  const onAbort = () => breakOff(new CrawlError('ABORTED', `aborted: ${what}`, { cause: signal?.reason }));
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });

  return {
    get isOver() {
      return isOver;
    },
    run(nextPhase, work, lateCode = 'FETCH_TIMEOUT') {
      phase = nextPhase;
      code = lateCode;
      work.catch(() => undefined);
      return Promise.race([work, broken]);
    },
    fail: breakOff,
    end() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

/** True when `work` ended, well or not, within the limit. */
export async function endsWithin(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs);
  });
  const ended = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([ended, late]);
  } finally {
    clearTimeout(timer);
  }
}
