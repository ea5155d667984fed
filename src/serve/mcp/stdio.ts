// `orcrawl mcp`: the tools on standard input and output, for one client that started this process.
// Promise: nothing but the protocol is written to standard output; jobs are gone when the client is, or when it sends a
// message that is longer than any can be: the rest of it could not be told from the next one.
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { CrawlError } from '../../errors.js';
import { OWNER } from '../http/tokens.js';
import { openApp } from '../open-app.js';
import type { ServeOptions } from '../options.js';

/** The longest that a tool takes is a list of 1,000 URLs. */
const MAX_MESSAGE_BYTES = 10_000_000;

export async function runMcp(options: ServeOptions & { readonly version: string }): Promise<void> {
  const { app, close } = await openApp(options);
  const { createMcpTools } = await import('./tools.js');
  const wire = new StdioServerTransport(process.stdin, process.stdout, { maxBufferSize: MAX_MESSAGE_BYTES });
  const closeWire = wire.close.bind(wire);
  let handle: ReturnType<typeof serveStdio> | undefined;
  let isTooLong = false;
  await new Promise<void>((resolve) => {
    wire.close = async () => {
      await closeWire();
      resolve();
    };
    handle = serveStdio(() => createMcpTools(app, OWNER), {
      transport: wire,
      onerror: (error) => {
        if (error.message.includes('maximum size')) isTooLong = true;
      },
    });
    process.stdin.once('end', resolve).once('close', resolve);
    process.once('SIGINT', resolve).once('SIGTERM', resolve);
  });
  await handle?.close();
  await close();
  if (isTooLong) {
    throw new CrawlError('BODY_TOO_LARGE', `a message of the client is longer than ${MAX_MESSAGE_BYTES} bytes`);
  }
}
