// WebSockets that watch a job: first what there is (`catchup`), then each `document`, at the end `done`.
// Promise: a slow client holds a bounded part of its results in memory; every document is sent once, in order.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { summaryOf, jobOf } from '../api/jobs.js';
import type { App } from '../app.js';
import { ApiError, asApiError } from '../errors.js';
import type { Token } from '../http/tokens.js';
import type { JobKind } from '../jobs/store.js';

export interface Sockets {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, token: Token): void;
  /** A job has something new. */
  wake(id: string): void;
  readonly count: number;
  close(): void;
}

const LOOK_MS = 1_000;
const PING_MS = 30_000;
const MAX_BUFFERED_BYTES = 8_000_000;
const MAX_CATCHUP_BYTES = 9_000_000;
const MAX_SOCKETS = 1_000;
const PATHS = /^\/v[12]\/(crawl|batch\/scrape)\/([\w-]{1,100})\/?$/;

export function createSockets(app: App): Sockets {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: 64_000,
    perMessageDeflate: false,
    // The key comes as the subprotocol: clients close a connection that does not echo it.
    handleProtocols: (protocols) => [...protocols][0] ?? false,
  });
  const watching = new Map<WebSocket, { id: string; wake: () => void }>();

  async function watch(socket: WebSocket, kind: JobKind, id: string, token: Token): Promise<void> {
    let wake: () => void = () => undefined;
    watching.set(socket, { id, wake: () => wake() });
    const pinging = setInterval(() => socket.ping(), PING_MS);
    let next = 0;
    let isCaughtUp = false;
    try {
      while (socket.readyState === socket.OPEN) {
        const job = await jobOf(app, { params: { id }, token }, kind);
        const page = await app.store.pages.results(id, next, { maxItems: 500, maxBytes: MAX_CATCHUP_BYTES });
        const isAll = page.next === undefined && next + page.documents.length >= job.completed;
        const summary = { success: true, ...summaryOf(app, job) };
        if (!isCaughtUp) {
          // A status that says "completed" ends the watching: not before everything was sent.
          const status = isAll ? job.status : 'scraping';
          await send(socket, withDocuments({ type: 'catchup' }, { ...summary, status }, page.documents));
          isCaughtUp = true;
        } else for (const document of page.documents) await send(socket, `{"type":"document","data":${document}}`);
        next += page.documents.length;
        if (job.status !== 'scraping' && isAll) {
          const type =
            job.status === 'failed' ? { type: 'error', error: job.reason ?? 'the job failed' } : { type: 'done' };
          await send(socket, withDocuments(type, summary, []));
          return;
        }
        if (isAll) await new Promise<void>((resume) => void ((wake = resume), setTimeout(resume, LOOK_MS)));
      }
    } catch (error) {
      await send(socket, JSON.stringify({ type: 'error', error: asApiError(error).message })).catch(() => undefined);
    } finally {
      clearInterval(pinging);
      watching.delete(socket);
      socket.close(1000);
    }
  }

  return {
    upgrade(request, socket, head, token) {
      const [, path, id] = PATHS.exec(new URL(request.url ?? '/', 'http://server.invalid').pathname) ?? [];
      if (!id) throw new ApiError(404, 'There is nothing to watch at this path.', 'NOT_FOUND');
      if (watching.size >= MAX_SOCKETS)
        throw new ApiError(429, 'Too many are watching already. Try again later.', 'TOO_MANY_REQUESTS', undefined, 10);
      server.handleUpgrade(request, socket, head, (opened) => {
        opened.on('error', () => opened.terminate());
        void watch(opened, path === 'crawl' ? 'crawl' : 'batch', id, token);
      });
    },
    wake(id) {
      for (const one of watching.values()) if (one.id === id) one.wake();
    },
    get count() {
      return watching.size;
    },
    close() {
      for (const socket of watching.keys()) socket.close(1001);
      for (const socket of watching.keys()) setTimeout(() => socket.terminate(), 500).unref();
      server.close();
    },
  };
}

function withDocuments(type: object, summary: object, documents: readonly string[]): string {
  const data = `${JSON.stringify(summary).slice(0, -1)},"data":[${documents.join(',')}]}`;
  return `${JSON.stringify(type).slice(0, -1)},"data":${data}}`;
}

/** Waits until the client took most of what was sent. */
async function send(socket: WebSocket, text: string): Promise<void> {
  while (socket.bufferedAmount > MAX_BUFFERED_BYTES && socket.readyState === socket.OPEN) {
    await new Promise((resume) => setTimeout(resume, 20));
  }
  if (socket.readyState === socket.OPEN) socket.send(text);
}
