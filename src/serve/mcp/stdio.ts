// `orcrawl mcp`: the tools on standard input and output, for one client that started this process.
// Promise: nothing but the protocol is written to standard output; jobs are gone when the client is.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { OWNER } from '../http/tokens.js';
import { openApp } from '../open-app.js';
import type { ServeOptions } from '../options.js';

export async function runMcp(options: ServeOptions & { readonly version: string }): Promise<void> {
  const { app, close } = await openApp(options);
  const { createMcpTools } = await import('./tools.js');
  const handle = serveStdio(() => createMcpTools(app, OWNER));
  await new Promise<void>((resolve) => {
    process.stdin.once('end', resolve).once('close', resolve);
    process.once('SIGINT', resolve).once('SIGTERM', resolve);
  });
  await handle.close();
  await close();
}
