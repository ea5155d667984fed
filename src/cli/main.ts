#!/usr/bin/env node
// The command line's entry: reads the arguments, runs one command, and exits with its exit code.
// Promise: a user error gets one line that says what to do next, without a stack trace.
import { Command, CommanderError } from 'commander';
import { addAuditCommand } from './commands/audit.js';
import { addComposeCommand } from './commands/compose.js';
import { addConfigCommand } from './commands/config.js';
import { addCrawlCommand } from './commands/crawl.js';
import { addDemoCommand } from './commands/demo.js';
import { EXIT, exitCodeOf } from './exit-codes.js';
import { addGetCommand } from './commands/get.js';
import { addBatchCommand } from './commands/batch.js';
import { addCacheCommand } from './commands/cache.js';
import { addMapCommand } from './commands/map.js';
import { addMcpCommand } from './commands/mcp.js';
import { addServeCommand } from './commands/serve.js';
import { addRunCommand } from './commands/run.js';
import { addBenchCommand, addPlanCommand } from './commands/plan.js';
import { addPodsCommand } from './commands/pods.js';
import { addProfileCommand } from './commands/profile.js';
import { addScrapeCommand } from './commands/scrape.js';
import { addSimwebCommand } from './commands/simweb.js';
import { hideArguments } from './process-title.js';
import { complain, errorLine, shown, tolerateClosedPipes } from './terminal.js';
import { version } from './version.js';

const EXAMPLES = `
Examples:
  $ orcrawl demo                                 crawl a built-in synthetic web
  $ orcrawl crawl example.com --max-pages 100    crawl a site into ./orcrawl-out/example.com
  $ orcrawl audit orcrawl-out/example.com        check how polite it was
  $ orcrawl get example.com -d ./data            print a page stored by a crawl on pods
  $ orcrawl scrape example.com                   one page as markdown
  $ cat urls.txt | orcrawl batch - --stream      a list of URLs, one JSON line each
  $ orcrawl map example.com --search pricing     the URLs of a site, the best match first
  $ orcrawl serve                                Firecrawl's API and MCP on 127.0.0.1:3002
  $ orcrawl run --config crawl.yaml              crawl the web on pods
  $ orcrawl scrape example.com --wait-for css:main --screenshot page.png   in a browser
  $ orcrawl simweb --port 8080                   serve a synthetic web to try things out
  $ orcrawl config check crawl.yaml              validate a pods configuration
  $ orcrawl crawl --help                         all crawl options
`;

function createProgram(onExit: (code: number) => void): Command {
  const program = new Command('orcrawl')
    .description('A web crawler that scales from one page to a billion with the same handler code.')
    .version(version(), '-V, --version')
    .addHelpText('after', EXAMPLES)
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ outputError: () => undefined });
  addCrawlCommand(program, onExit);
  addAuditCommand(program, onExit);
  addRunCommand(program, onExit);
  addPodsCommand(program, onExit);
  addScrapeCommand(program, onExit);
  addBatchCommand(program, onExit);
  addMapCommand(program, onExit);
  addServeCommand(program, onExit);
  addMcpCommand(program, onExit);
  addCacheCommand(program, onExit);
  addDemoCommand(program, onExit);
  addGetCommand(program, onExit);
  addSimwebCommand(program, onExit);
  addConfigCommand(program, onExit);
  addComposeCommand(program, onExit);
  addPlanCommand(program, onExit);
  addBenchCommand(program, onExit);
  addProfileCommand(program, onExit);
  for (const command of program.commands) {
    command.copyInheritedSettings(program);
    for (const inner of command.commands) inner.copyInheritedSettings(program);
  }
  return program;
}

/** Commander's messages on one line, with the help command to use. */
function usageLine(error: CommanderError, args: readonly string[], commands: readonly string[]): string {
  const message = error.message
    .replace(/^error: /, '')
    .split('\n')
    .map((line) => line.trim())
    .join(' ');
  const command = args.find((argument) => commands.includes(argument));
  return `error: ${message}${/[.?)]$/.test(message) ? '' : '.'} See orcrawl ${command ? `${command} ` : ''}--help`;
}

async function main(args: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.done;
  const program = createProgram((code) => {
    exitCode = code;
  });
  const [first, named] = args;
  if (first === 'help' && named !== undefined && !program.commands.some((command) => command.name() === named)) {
    complain(`error: unknown command '${shown(named)}'. See orcrawl --help`);
    return EXIT.misuse;
  }
  try {
    await program.parseAsync(args.length === 0 ? ['demo'] : args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version also end here.
    if (error.exitCode === 0) return EXIT.done;
    const commands = program.commands.map((command) => command.name());
    // A command group without a subcommand: its help was shown.
    if (error.code === 'commander.help') return EXIT.misuse;
    complain(usageLine(error, args, commands));
    return EXIT.misuse;
  }
}

hideArguments(process.argv.slice(2));
tolerateClosedPipes();
main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    complain(errorLine(error));
    process.exitCode = exitCodeOf(error);
  },
);
