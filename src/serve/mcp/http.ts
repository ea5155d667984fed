// /mcp of the server: streamable HTTP for clients of both protocol eras, behind the same token as everything else.
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { App } from '../app.js';
import { readBody } from '../http/body.js';
import type { Call, Handle } from '../http/router.js';
import type { Token } from '../http/tokens.js';
import { createMcpTools } from './tools.js';

export interface McpRoute {
  readonly handle: Handle;
  close(): Promise<void>;
}

const MAX_HANDLERS = 1_000;

export function createMcpRoute(app: App): McpRoute {
  /** One per token: what a tool sees is the token's own. */
  const handlers = new Map<string, ReturnType<typeof createMcpHandler>>();

  function handlerFor(token: Token): ReturnType<typeof createMcpHandler> {
    let handler = handlers.get(token.name);
    if (!handler) {
      if (handlers.size >= MAX_HANDLERS) handlers.clear();
      handlers.set(token.name, (handler = createMcpHandler(() => createMcpTools(app, token))));
    }
    return handler;
  }

  return {
    async handle(call) {
      const body = call.request.method === 'POST' ? await readBody(call.request) : undefined;
      const request = new Request(`${call.base}${call.url.pathname}`, {
        method: call.request.method ?? 'GET',
        headers: webHeaders(call),
        signal: call.signal,
        ...(body && { body: new Uint8Array(body) }),
      });
      await pipe(await handlerFor(call.token).fetch(request), call);
      return 'written';
    },
    async close() {
      await Promise.all([...handlers.values()].map((handler) => handler.close()));
    },
  };
}

function webHeaders({ request }: Call): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    // The token ends here.
    if (value !== undefined && name !== 'authorization')
      headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return headers;
}

async function pipe(answer: Response, { response, signal }: Call): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  const reader = answer.body?.getReader();
  if (!reader) return void response.end();
  const leave = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', leave, { once: true });
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      if (!response.write(value))
        await new Promise<void>((resume) => void response.once('drain', resume).once('close', resume));
    }
  } finally {
    signal.removeEventListener('abort', leave);
    response.end();
  }
}
