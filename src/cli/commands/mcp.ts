// `orcrawl mcp`: tools for an agent, on standard input and output.
// Promise: nothing but protocol on standard output; its jobs live in a folder that goes with it, unless one is named.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { EXIT } from '../exit-codes.js';
import { version } from '../version.js';
import { forgetEnvironment } from './serve.js';

const EXAMPLES = `
Examples:
  $ claude mcp add orcrawl -- npx orcrawl mcp
  { "mcpServers": { "orcrawl": { "command": "npx", "args": ["orcrawl", "mcp"] } } }      Claude Desktop, Cursor
`;

interface McpFlags {
  readonly dataDir?: string;
  readonly allowPrivate?: string[];
  readonly searxng?: string;
}

export function addMcpCommand(program: Command, onExit: (code: number) => void): void {
  program
    .command('mcp')
    .summary('tools for agents over MCP')
    .description('Serves scrape, map, crawl, batch and extraction as tools of the Model Context Protocol, on stdio.')
    .option('--data-dir <DIR>', 'where jobs are kept (default: a folder that is removed at the end)')
    .option('--allow-private <CIDR...>', 'private addresses that may be fetched')
    .option('--searxng <URL>', 'a SearXNG server, for the tool search')
    .addHelpText('after', EXAMPLES)
    .action(async (flags: McpFlags) => onExit(await mcp(flags)));
}

async function mcp({ dataDir, allowPrivate, searxng }: McpFlags): Promise<number> {
  const { runMcp } = await import('../../serve/mcp/stdio.js');
  forgetEnvironment();
  const own = dataDir ?? (await mkdtemp(path.join(tmpdir(), 'orcrawl-mcp-')));
  try {
    await runMcp({ dataDir: own, allowPrivate, searxng, version: version() });
  } finally {
    if (dataDir === undefined) await rm(own, { recursive: true, force: true });
  }
  process.exitCode = EXIT.done;
  return EXIT.done;
}
