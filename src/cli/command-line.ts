// One command line from its arguments to its exit code.
// Promise: a user error gets one line that says what to do next, without a stack trace.
import { existsSync } from 'node:fs';
import { type Command, CommanderError } from 'commander';
import { EXIT, exitCodeOf } from './exit-codes.js';
import { createProgram } from './program.js';
import { complain, errorLine, isNpmStart, quoted, shown } from './terminal.js';

/** What somebody probably meant who gave no command: a URL or a file alone. */
function meantBy(argument: string, program: Command): string | undefined {
  if (argument.startsWith('-') || argument === 'help') return undefined;
  if (program.commands.some((command) => command.name() === argument)) return undefined;
  const name = quoted(shown(argument, 500));
  const isUrl = /^https?:\/\//i.test(argument);
  if (!isUrl && existsSync(argument)) {
    return `error: no command. To fetch every URL in the file: orcrawl batch ${name}. To crawl from them: orcrawl crawl ${name}`;
  }
  if (
    !isUrl &&
    !/^(?:[\w-]+\.)+[a-z]{2,}(?:[:/?#]|$)|^localhost(?:[:/]|$)|^\d+(?:\.\d+){3}(?:[:/]|$)/i.test(argument)
  ) {
    return undefined;
  }
  return `error: no command. For this page: orcrawl scrape ${name}. For the whole site: orcrawl crawl ${name}`;
}

/** Commander's messages on one line, with the help command to use. */
function usageLine(error: CommanderError, args: readonly string[], commands: readonly Command[]): string {
  const message = error.message
    .replace(/^error: /, '')
    .split('\n')
    .map((line) => line.trim())
    .join(' ');
  const command = args.find((argument) => commands.some((one) => one.name() === argument));
  const group = commands.find((one) => one.name() === command);
  const inner = group?.commands.find((one) => args.includes(one.name()))?.name();
  const named = [command, inner].filter((one) => one !== undefined).map((one) => `${one} `);
  return `error: ${message}${/[.?)]$/.test(message) ? '' : '.'} See orcrawl ${named.join('')}--help`;
}

async function run(args: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.done;
  const program = createProgram((code) => {
    exitCode = code;
  });
  const [first, named] = args;
  if (first === 'help' && named !== undefined && !program.commands.some((command) => command.name() === named)) {
    complain(`error: unknown command '${shown(named)}'. See orcrawl --help`);
    return EXIT.misuse;
  }
  const meant = args.length === 1 ? meantBy(first!, program) : undefined;
  if (meant !== undefined) {
    complain(meant);
    return EXIT.misuse;
  }
  try {
    if (args.length === 0 && !isNpmStart()) program.outputHelp();
    else await program.parseAsync(args.length === 0 ? ['demo'] : args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version also end here.
    if (error.exitCode === 0) return EXIT.done;
    // A command group without a subcommand: its help was shown.
    if (error.code === 'commander.help') return EXIT.misuse;
    complain(usageLine(error, args, program.commands));
    return EXIT.misuse;
  }
}

/** Never rejects: an error is told on standard error, and is the exit code. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  try {
    return await run(args);
  } catch (error) {
    complain(errorLine(error));
    return exitCodeOf(error);
  }
}
