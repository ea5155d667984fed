// The program of the command line: every command, in the order and the groups of the help.
// Promise: building it loads no crawler and starts nothing.
import { Command } from 'commander';
import { addArchiveCommand, addCompactCommand } from './commands/archive.js';
import { addAuditCommand } from './commands/audit.js';
import { addComposeCommand } from './commands/pods/compose.js';
import { addConfigCommand } from './commands/pods/config.js';
import { addCrawlCommand } from './commands/crawl.js';
import { addDemoCommand } from './commands/demo.js';
import { addExportCommand } from './commands/export.js';
import { addGetCommand } from './commands/get.js';
import { addK8sCommand } from './commands/pods/k8s.js';
import { addInitCommand } from './commands/init.js';
import { addBatchCommand } from './commands/batch.js';
import { addCacheCommand } from './commands/cache.js';
import { addMapCommand } from './commands/map.js';
import { addMigrateCommand } from './commands/migrate.js';
import { addMcpCommand } from './commands/mcp.js';
import { addServeCommand } from './commands/serve.js';
import { addRunCommand } from './commands/pods/run.js';
import { addBenchCommand, addPlanCommand } from './commands/pods/plan.js';
import { addPodsCommand } from './commands/pods/pods.js';
import { addProfileCommand } from './commands/profile.js';
import { addRetryFailedCommand } from './commands/pods/retry-failed.js';
import { addScrapeCommand } from './commands/scrape.js';
import { addSimwebCommand } from './commands/simweb.js';
import { addWatchCommand } from './commands/watch.js';
import { addStatusCommand } from './commands/pods/status.js';
import { addStopCommand } from './commands/pods/stop.js';
import { addWhyCommand } from './commands/pods/why.js';
import { version } from './version.js';

const EXAMPLES = `
Examples:
  $ orcrawl demo                                 crawl a built-in synthetic web
  $ orcrawl scrape example.com                   one page as markdown
  $ orcrawl batch urls.txt --stream              a list of URLs, one JSON line each
  $ orcrawl crawl example.com --max-pages 100    crawl a site into ./orcrawl-out/example.com
  $ orcrawl watch example.com --budget 500/h     visit it again and again: what changed
  $ orcrawl map example.com --search pricing     the URLs of a site, the best match first
  $ orcrawl serve                                Firecrawl's API and MCP on 127.0.0.1:3002
  $ orcrawl run --config crawl.yaml              crawl the web on pods
  $ orcrawl crawl --help                         all options of a command
`;

/** `onExit` gets the exit code of the command that ran. */
export function createProgram(onExit: (code: number) => void): Command {
  const program = new Command('orcrawl')
    .description('A web crawler that scales from one page to a billion with the same handler code.')
    .version(version(), '-V, --version')
    .addHelpText('after', EXAMPLES)
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ outputError: () => undefined });
  program.commandsGroup('Pages:');
  addScrapeCommand(program, onExit);
  addBatchCommand(program, onExit);
  addCrawlCommand(program, onExit);
  addWatchCommand(program, onExit);
  addMapCommand(program, onExit);
  addExportCommand(program, onExit);
  addAuditCommand(program, onExit);
  addCacheCommand(program, onExit);
  addProfileCommand(program, onExit);
  program.commandsGroup('Services:');
  addServeCommand(program, onExit);
  addMcpCommand(program, onExit);
  program.commandsGroup('Pods:');
  addRunCommand(program, onExit);
  addStatusCommand(program, onExit);
  addStopCommand(program, onExit);
  addPodsCommand(program, onExit);
  addConfigCommand(program, onExit);
  addComposeCommand(program, onExit);
  addK8sCommand(program, onExit);
  addGetCommand(program, onExit);
  addWhyCommand(program, onExit);
  addArchiveCommand(program, onExit);
  addCompactCommand(program, onExit);
  addRetryFailedCommand(program, onExit);
  addPlanCommand(program, onExit);
  addBenchCommand(program, onExit);
  program.commandsGroup('To try it out:');
  addDemoCommand(program, onExit);
  addInitCommand(program, onExit);
  addMigrateCommand(program, onExit);
  addSimwebCommand(program, onExit);
  for (const command of program.commands) {
    command.copyInheritedSettings(program);
    for (const inner of command.commands) inner.copyInheritedSettings(program);
  }
  return program;
}
