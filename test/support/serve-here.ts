// A server in the process of the test, from the source: for what needs no process of its own.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ServeOptions } from '../../src/serve/options.js';
import { startServer } from '../../src/serve/server.js';
import { silent } from './crawl.js';
import { ask, type Server } from './serve.js';

export async function startServeHere(dataDir: string, options: ServeOptions): Promise<Server> {
  const running = await startServer({ port: 0, dataDir, version: 'test', log: silent, ...options });
  const token = (await readFile(path.join(dataDir, 'token'), 'utf8')).trim();
  return {
    url: running.url,
    token,
    ask: (method, where, body, headers = {}) =>
      ask(running.url + where, method, body, { authorization: `Bearer ${token}`, ...headers }),
    stop: running.stop,
  };
}
