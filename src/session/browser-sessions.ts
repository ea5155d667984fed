// Named live pages: the calls of one session run one after another on the same page, in order.
// Promise: two sessions never share a page; a session that idles too long, is killed or crashes returns its page.
import { CrawlError } from '../errors.js';

export interface BrowserSessionParts<Page> {
  readonly open: (id: string) => Promise<Page>;
  readonly close: (page: Page, id: string) => Promise<void>;
  /** False if the page crashed or its browser ended. */
  readonly isAlive: (page: Page) => boolean;
  readonly ttlMs: number;
  /** Most live pages at once; default no limit. */
  readonly maxPages?: number | undefined;
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
}

export interface BrowserSessions<Page> {
  /** Names a session; its page opens with its first call. */
  create(): string;
  /**
   * Runs `work` on the session's page after all earlier calls. An unknown session is started, or with `mustExist` fails
   * with `SESSION_UNKNOWN`.
   */
  use<T>(
    id: string,
    ask: { readonly mustExist: boolean; readonly signal?: AbortSignal },
    work: (page: Page) => Promise<T>,
  ): Promise<T>;
  /** Closes the page at once; running and waiting calls fail. False if there is no such session. */
  kill(id: string): Promise<boolean>;
  list(): string[];
  close(): Promise<void>;
}

interface Live<Page> {
  page: Page | undefined;
  /** Resolves when the last call has ended. */
  tail: Promise<void>;
  /** Calls that run or wait. */
  calls: number;
  lastUsedMs: number;
  isKilled: boolean;
}

const SWEEP_MS = 1_000;

export function createBrowserSessions<Page>(parts: BrowserSessionParts<Page>): BrowserSessions<Page> {
  const now = parts.now ?? (() => performance.now());
  const sessions = new Map<string, Live<Page>>();
  const closings = new Set<Promise<void>>();
  const maxPages = parts.maxPages ?? Infinity;
  /** Pages that are being opened. */
  let opening = 0;
  let freed = createSignal();
  const sweeper = setInterval(sweep, Math.min(SWEEP_MS, parts.ttlMs)).unref();

  function begin(id: string): Live<Page> {
    const live: Live<Page> = {
      page: undefined,
      tail: Promise.resolve(),
      calls: 0,
      lastUsedMs: now(),
      isKilled: false,
    };
    sessions.set(id, live);
    return live;
  }

  function end(id: string, live: Live<Page>): Promise<void> {
    live.isKilled = true;
    if (sessions.get(id) === live) sessions.delete(id);
    const { page } = live;
    live.page = undefined;
    if (page === undefined) return Promise.resolve();
    const closing = parts.close(page, id).finally(() => {
      closings.delete(closing);
      freed.tell();
    });
    closings.add(closing);
    return closing;
  }

  function sweep(): void {
    for (const [id, live] of sessions) {
      if (live.calls === 0 && now() - live.lastUsedMs >= parts.ttlMs) void end(id, live).catch(() => undefined);
    }
  }

  const livePages = () =>
    opening + closings.size + [...sessions.values()].filter(({ page }) => page !== undefined).length;

  /** Waits until one more page may be open; whoever was idle longest gives way. */
  async function makeRoom(signal: AbortSignal | undefined): Promise<void> {
    while (livePages() >= maxPages) {
      const idle = [...sessions]
        .filter(([, live]) => live.page !== undefined && live.calls === 0)
        .sort(([, a], [, b]) => a.lastUsedMs - b.lastUsedMs)[0];
      if (idle) await end(...idle).catch(() => undefined);
      else {
        freed = freed.isTold ? createSignal() : freed;
        await untilFree(freed.told, signal);
      }
    }
    opening++;
  }

  const unknown = (id: string, why: string) => new CrawlError('SESSION_UNKNOWN', `session "${id}" ${why}`);

  return {
    create() {
      const id = `session_${Math.random().toString(36).slice(2, 12).padEnd(10, '0')}`;
      begin(id);
      return id;
    },
    async use(id, { mustExist, signal }, work) {
      const live = sessions.get(id) ?? (mustExist ? undefined : begin(id));
      if (!live) throw unknown(id, 'has no live page: load one with this sessionId first');
      live.calls++;
      const before = live.tail;
      let leave!: () => void;
      live.tail = new Promise((resolve) => (leave = resolve));
      try {
        await untilFree(before, signal);
        if (live.isKilled) throw unknown(id, 'was killed');
        if (live.page !== undefined && !parts.isAlive(live.page)) {
          await parts.close(live.page, id);
          live.page = undefined;
        }
        if (live.page === undefined) {
          if (mustExist) throw unknown(id, 'has no live page any more');
          await makeRoom(signal);
          try {
            const page = await parts.open(id);
            // Killed while its page opened.
            if (live.isKilled) {
              await parts.close(page, id);
              throw unknown(id, 'was killed');
            }
            live.page = page;
          } finally {
            opening--;
          }
        }
        return await work(live.page);
      } finally {
        live.calls--;
        live.lastUsedMs = now();
        freed.tell();
        // A call that gave up waiting must not let the next one in early.
        void before.then(leave);
      }
    },
    async kill(id) {
      const live = sessions.get(id);
      if (!live) return false;
      await end(id, live);
      return true;
    },
    list: () => [...sessions.keys()],
    async close() {
      clearInterval(sweeper);
      await Promise.allSettled([...sessions].map(([id, live]) => end(id, live)));
      await Promise.allSettled(closings);
    },
  };
}

interface Signal {
  readonly told: Promise<void>;
  readonly isTold: boolean;
  tell(): void;
}

function createSignal(): Signal {
  let isTold = false;
  let resolveTold!: () => void;
  const told = new Promise<void>((resolve) => (resolveTold = resolve));
  return {
    told,
    get isTold() {
      return isTold;
    },
    tell() {
      isTold = true;
      resolveTold();
    },
  };
}

function untilFree(before: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return before;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new CrawlError('ABORTED', 'aborted while waiting for its session'));
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    void before.then(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
  });
}
