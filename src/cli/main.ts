#!/usr/bin/env node
// The command line's entry: runs one command in this process, and exits with its exit code.
import { runCommandLine } from './command-line.js';
import { hideArguments } from './process-title.js';
import { tolerateClosedPipes } from './terminal.js';

const args = process.argv.slice(2);
hideArguments(args);
tolerateClosedPipes();
void runCommandLine(args).then((code) => {
  process.exitCode = code;
});
