// Starts the server: opens what is behind the API, listens; and stops in the reverse order.
// Promise: after stop() nothing is open, and every unfinished job goes on at the next start.
import { openConsole } from './console/console.js';
import { serverSource } from './console/server-source.js';
import { createSockets } from './watch/sockets.js';
import { docsPage, DOCS_POLICY } from './describe/docs-page.js';
import { openApiDocument } from './describe/openapi.js';
import { hintFor } from './absent.js';
import { createGate } from './http/gate.js';
import { startListener } from './http/listener.js';
import { createRouter } from './http/router.js';
import { openToAll, openTokens } from './http/tokens.js';
import { createMcpRoute } from './mcp/http.js';
import { createServerMetrics } from './metrics.js';
import { type AppOptions, openApp } from './open-app.js';
import { routesOf } from './routes.js';

export interface RunningServer {
  readonly url: string;
  /** The token that was made by this start; undefined when there was one. */
  readonly madeToken: string | undefined;
  /** Answers what is under way, gives leases back, closes every socket, within ten seconds. */
  stop(): Promise<void>;
}

const GRACE_MS = 8_000;
const LAST_ANSWERS_MS = 500;

async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => (timer = setTimeout(resolve, limitMs)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}

export async function startServer(given: AppOptions): Promise<RunningServer> {
  const opened = await openApp(given);
  const { app, options, dataDir, log } = opened;
  let madeToken: string | undefined;
  const tokens = options.auth ? await openTokens(dataDir, (token) => (madeToken = token)) : openToAll;
  const sockets = createSockets(app);
  opened.onNews(sockets.wake);
  const pageConsole = openConsole(serverSource(app, dataDir));
  opened.onKept(pageConsole.note);
  const metrics = createServerMetrics();
  const mcp = createMcpRoute(app);
  const description = openApiDocument(app.version);
  const route = createRouter(
    routesOf(app, {
      metrics: async () => ({
        text: await metrics.render(app, sockets.count),
        type: 'text/plain; version=0.0.4; charset=utf-8',
      }),
      openapi: async ({ base }) => ({ json: { ...description, servers: [{ url: base }] } }),
      docs: async ({ base, response }) => {
        response.setHeader('content-security-policy', DOCS_POLICY);
        return { text: docsPage(description, base), type: 'text/html; charset=utf-8' };
      },
      mcp: mcp.handle,
      console: pageConsole.routes,
    }),
    hintFor,
  );

  async function closeParts(): Promise<void> {
    sockets.close();
    await pageConsole.close();
    await mcp.close();
    await opened.close();
  }

  const { host, port, publicHosts, cors, trustProxy } = options;
  const listener = await startListener({
    host,
    port,
    trustProxy,
    gate: createGate({ host, publicHosts, cors, tokens }),
    route,
    open: pageConsole.open,
    health: async () => ({ status: 'ok', version: app.version }),
    onUpgrade: sockets.upgrade,
    onAnswer: metrics.answered,
    log,
  }).catch(async (error: unknown) => {
    await closeParts();
    throw error;
  });

  async function stop(): Promise<void> {
    listener.beginStop();
    sockets.close();
    const quiet = opened.stopJobs();
    await pageConsole.close();
    // Until then it listens, so that /health can say 503.
    await within(GRACE_MS, Promise.all([listener.idle(), quiet]));
    await listener.close(LAST_ANSWERS_MS);
    await quiet;
    await closeParts();
  }

  let stopped: Promise<void> | undefined;
  return { url: listener.url, madeToken, stop: () => (stopped ??= stop()) };
}
