// `orcrawl serve`: the HTTP API on this machine.
// Promise: loopback and a token unless told otherwise; SIGTERM and Ctrl-C stop it cleanly, a second one at once.
import type { Command } from 'commander';
import { watchSignals } from '../../crawl/run/signals.js';
import { byteSize, duration, wholeNumber } from '../arguments.js';
import { EXIT } from '../exit-codes.js';
import { type ModelFlags, modelOf } from '../flags/extract.js';
import { complain, say } from '../terminal.js';
import { version } from '../version.js';

const EXAMPLES = `
Examples:
  $ orcrawl serve                                     on 127.0.0.1:3002, data in ./orcrawl-server
  $ curl -H "Authorization: Bearer $(cat orcrawl-server/token)" localhost:3002/read/https://example.com/
  $ orcrawl serve --allow-private 10.0.0.0/8          pages of the intranet may be fetched, too
  $ orcrawl serve --llm-url http://127.0.0.1:11434/v1 --llm-model llama3.2      json, summary, extract
  $ orcrawl serve --redis redis://10.0.0.5            one of several servers that share their jobs
  $ orcrawl serve --host 0.0.0.0 --public-host crawl.example.com
See docs/serve.md for clients, deployment and security.
`;

interface ServeFlags extends ModelFlags {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly redis?: string;
  readonly concurrency?: number;
  readonly allowPrivate?: string[];
  readonly auth: boolean;
  readonly retention?: number;
  readonly maxDisk?: number;
  readonly allowScripts?: boolean;
  readonly publicHost?: string[];
  readonly cors?: string[];
  readonly trustProxy?: boolean;
  readonly searxng?: string;
}

export function addServeCommand(program: Command, onExit: (code: number) => void): void {
  program
    .command('serve')
    .summary("serve Firecrawl's API, MCP and a reader over HTTP")
    .description("Serves Firecrawl's API (versions 2 and 1), MCP at /mcp and a reader at /read/URL.")
    .option('--host <ADDRESS>', 'where to listen', '127.0.0.1')
    .option('--port <N>', '0: any free one', wholeNumber(0, 65_535), 3_002)
    .option('--data-dir <DIR>', 'jobs, results and the token', './orcrawl-server')
    .option('--redis <URL>', 'share jobs with other servers')
    .option('--concurrency <N>', 'pages at once, over all jobs (default: 50)', wholeNumber(1, 10_000))
    .option('--allow-private <CIDR...>', 'private addresses that may be fetched')
    .option('--no-auth', 'needs no token; on loopback only')
    .option('--retention <TIME>', 'how long results are kept, such as 24h or 7d (default: 24h)', duration)
    .option('--max-disk <SIZE>', 'largest size of all results (default: 10GB)', byteSize)
    .option('--allow-scripts', 'allows the action executeJavascript')
    .option('--public-host <NAME...>', 'a host name that the server is reached by')
    .option('--cors <ORIGIN...>', 'origins whose pages may use the server')
    .option('--trust-proxy', 'trust X-Forwarded-Proto: the server is behind your own proxy')
    .option('--llm-url <URL>', 'an OpenAI-compatible endpoint, for json, summary and extract')
    .option('--llm-model <NAME>', 'the model to ask there')
    .option('--llm-key-env <NAME>', 'the environment variable with its key')
    .option('--searxng <URL>', 'a SearXNG server, for search')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: ServeFlags) => onExit(await serve(flags)));
}

async function serve(flags: ServeFlags): Promise<number> {
  const { startServer } = await import('../../serve/server.js');
  forgetEnvironment();
  const server = await startServer({
    host: flags.host,
    port: flags.port,
    dataDir: flags.dataDir,
    redis: flags.redis,
    concurrency: flags.concurrency,
    allowPrivate: flags.allowPrivate,
    auth: flags.auth,
    retentionMs: flags.retention,
    maxDiskBytes: flags.maxDisk,
    allowScripts: flags.allowScripts,
    publicHosts: flags.publicHost,
    cors: flags.cors,
    trustProxy: flags.trustProxy,
    llm: modelOf(flags),
    searxng: flags.searxng,
    version: version(),
  });
  complain(`Serving at ${server.url} (data in ${flags.dataDir}). Ctrl-C stops.`);
  if (server.madeToken !== undefined)
    complain(`Token, shown this once and kept in ${flags.dataDir}/token: ${server.madeToken}`);
  const enter = flags.auth ? ' and enter the token' : '';
  complain(`Console: open ${server.url}/${enter}. API: ${server.url}/docs`);
  say(server.url);
  await new Promise((resolve) => watchSignals(resolve));
  // Crawls that are broken off here go on at the next start: that is no failure.
  process.exitCode = EXIT.done;
  await server.stop();
  return EXIT.done;
}

/** The environment's settings of storages are for scripts; every job here has its own folder. */
export function forgetEnvironment(): void {
  for (const prefix of ['ORCRAWL_', 'CRAWLEE_']) {
    for (const name of ['STORAGE_DIR', 'PURGE_ON_START', 'PERSIST_STORAGE', 'DEFAULT_REQUEST_QUEUE_ID', 'REDIS_URL']) {
      delete process.env[prefix + name];
    }
  }
}
