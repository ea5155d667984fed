// A server as a user starts it, in its own folder, and small web sites and endpoints for it to talk to.
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MAIN, type Started, startNode } from '../integration/cli-process.js';

/** Whatever serves. */
export interface Server {
  readonly url: string;
  readonly token: string;
  /** Asks the server; the body is sent as JSON. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Asked>;
  stop(): Promise<unknown>;
}

export interface ServerProcess extends Server {
  readonly dataDir: string;
  readonly process: Started;
  /** Ends it as SIGTERM does, and resolves to how. */
  stop(): Started['ended'];
  kill(): Promise<void>;
}

export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly json: any;
}

export const LOOPBACK = ['--allow-private', '127.0.0.0/8'];
const LIFE_MS = 3_600_000;

export async function startServe(
  dataDir: string,
  args: readonly string[] = LOOPBACK,
  env: Record<string, string> = {},
): Promise<ServerProcess> {
  const all = [MAIN, 'serve', '--port', '0', '--data-dir', dataDir, ...args];
  const child = startNode(all, { cwd: path.dirname(dataDir), env, timeoutMs: LIFE_MS });
  let over = false;
  void child.ended.then(() => (over = true));
  await eventually(async () => over || /^http:/m.test(child.stdout()), 'the server listens');
  if (over) throw new Error(`the server ended: ${(await child.ended).stderr}`);
  const url = child.stdout().trim().split('\n')[0]!;
  const token = args.includes('--no-auth') ? '' : (await readFile(path.join(dataDir, 'token'), 'utf8')).trim();
  return {
    url,
    token,
    dataDir,
    process: child,
    ask: (method, where, body, headers = {}) =>
      ask(url + where, method, body, { authorization: `Bearer ${token}`, ...headers }),
    async stop() {
      child.signal('SIGTERM');
      return child.ended;
    },
    async kill() {
      child.signal('SIGKILL');
      await child.ended;
    },
  };
}

export async function ask(url: string, method: string, body: unknown, headers: Record<string, string>): Promise<Asked> {
  const answer = await fetch(url, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = (answer.headers.get('content-type') ?? '').includes('json');
  return { status: answer.status, headers: answer.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

/** Lends a folder for data; it is removed afterwards. */
export async function dataFolder(): Promise<{ dir: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'orcrawl-serve-'));
  return { dir: path.join(folder, 'data'), remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

export interface Site {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

export async function startSite(
  handle: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<Site> {
  const server: HttpServer = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => handle(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A page with links, as a small site would serve it. */
export const html = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><title>${title}</title><meta name="description" content="About ${title}">` +
  `<meta property="og:title" content="${title}"></head><body><main><h1>${title}</h1>${body}</main></body></html>`;

/** Resolves when `holds` does; rejects after a while. */
export async function eventually(holds: () => Promise<boolean>, what: string, limitMs = 90_000): Promise<void> {
  for (const deadlineMs = Date.now() + limitMs; !(await holds());) {
    if (Date.now() > deadlineMs) throw new Error(`waited in vain until ${what}`);
    await new Promise((resume) => setTimeout(resume, 50));
  }
}

/** Waits until a job is no longer running and resolves to its last state. */
export async function endedAt(server: Pick<Server, 'ask'>, where: string, limitMs?: number): Promise<Asked['json']> {
  let state: Asked['json'];
  await eventually(
    async () => {
      const answer = await server.ask('GET', where);
      state = answer.json;
      return answer.status !== 200 || state.status !== 'scraping';
    },
    'the job ends',
    limitMs,
  );
  return state;
}

/** What a webhook was told, by job. */
export interface Hooks extends Site {
  readonly received: ReadonlyMap<string, readonly { readonly type: string; readonly url: string }[]>;
}

/** A webhook that takes everything. */
export async function startHooks(): Promise<Hooks> {
  const received = new Map<string, { type: string; url: string }[]>();
  const site = await startSite((_request, response, body) => {
    const { id, type, data } = JSON.parse(body) as {
      id: string;
      type: string;
      data: { metadata: { sourceURL: string } }[];
    };
    const events = received.get(id) ?? [];
    received.set(id, events);
    events.push({ type, url: data[0]?.metadata.sourceURL ?? '' });
    response.end();
  });
  return { ...site, received };
}
