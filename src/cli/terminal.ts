// Where commands write: results and summaries on standard output, progress and errors on standard error.
// Promise: text from a page reaches the terminal only through `shown`, which escapes it.
import { stripVTControlCharacters } from 'node:util';
import { CrawlError } from '../errors.js';
import { escapeControls } from '../observe/log-lines.js';

export function say(text = ''): void {
  process.stdout.write(`${text}\n`);
}

export function complain(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Untrusted text for display: control characters escaped, on one line, at most `max` characters. */
export function shown(text: string, max = 200): string {
  const safe = escapeControls(text.slice(0, max + 1));
  return safe.length > max ? `${safe.slice(0, max - 1)}…` : safe;
}

/** Strips the colours that other programs put into messages. */
export function plain(text: string): string {
  return stripVTControlCharacters(text);
}

/** One line per error: the message, and for ours the code. */
export function errorLine(error: unknown): string {
  if (error instanceof CrawlError) return `error: ${shown(plain(error.message), 1000)} (${error.code})`;
  return `error: ${shown(plain(error instanceof Error ? error.message : String(error)), 1000)}`;
}

/** A reader that exits early (`| head`) is not an error. */
export function tolerateClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

/** How the user runs this program, for suggested commands. */
export function programName(): string {
  return process.env.npm_lifecycle_event === 'start' ? 'npm start --' : 'npx orcrawl';
}

/** An argument quoted for the shell. */
export function quoted(argument: string): string {
  return /^[\w@%+=:,./~-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}
