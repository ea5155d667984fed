#!/usr/bin/env node
// The command line's entry: reads the arguments, runs one command, and ends with its exit status.
// Promise: a mistake gets one line that says what to do next; no stack is shown for it.
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
  $ orcrawl get example.com -d ./data            print a page that a crawl on pods stored
  $ orcrawl scrape example.com                   one page as markdown
  $ cat urls.txt | orcrawl batch - --stream      a list of URLs, one JSON line each
  $ orcrawl map example.com --search pricing     the URLs of a site, the best match first
  $ orcrawl serve                                Firecrawl's API and MCP on 127.0.0.1:3002
  $ orcrawl run --config crawl.yaml              crawl the web on pods
  $ orcrawl scrape example.com --wait-for css:main --screenshot page.png   in a browser
  $ orcrawl simweb --port 8080                   serve a synthetic web to try things on
  $ orcrawl config check crawl.yaml              what a crawl on pods would be
  $ orcrawl crawl --help                         everything a crawl can be told
`;

function createProgram(onExit: (code: number) => void): Command {
  const program = new Command('orcrawl')
    .description('A web crawler that goes from one page to a billion with the same handler code.')
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

/** Commander's own messages on one line, with the help to turn to. */
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
    complain(`error: there is no command '${shown(named)}'. See orcrawl --help`);
    return EXIT.misuse;
  }
  try {
    await program.parseAsync(args.length === 0 ? ['demo'] : args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version end this way too.
    if (error.exitCode === 0) return EXIT.done;
    const commands = program.commands.map((command) => command.name());
    // A command of commands without one of them: its help was shown.
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
