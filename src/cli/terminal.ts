// Where commands write: results and summaries on standard output, progress and errors on standard error.
// Promise: text reaches a terminal only with control characters escaped; pipes and files get it unchanged. Only the
// progress line and the log draw, and they escape their text.
import { stripVTControlCharacters } from 'node:util';
import { CrawlError } from '../errors.js';
import { escapeControls } from '../observe/log-lines.js';
import { hideLogins } from '../request/login.js';

export function say(text = ''): void {
  process.stdout.write(forStandardOutput(`${text}\n`));
}

export function complain(text: string): void {
  const line = `${hideLogins(text)}\n`;
  process.stderr.write(process.stderr.isTTY ? harmless(line) : line);
}

/** A log line, already escaped by its writer. */
export function complainAsLogged(line: string): void {
  process.stderr.write(line);
}

/** Writes a page's bytes to standard output; resolves when the pipe has accepted all. */
export async function print(bytes: Uint8Array): Promise<void> {
  const out = process.stdout.isTTY ? harmless(Buffer.from(bytes).toString('utf8')) : bytes;
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(out, (error) => {
      if (error && (error as NodeJS.ErrnoException).code !== 'EPIPE') reject(error);
      else resolve();
    });
  });
}

/** Text for standard output: escaped on a terminal. */
export function forStandardOutput(text: string): string {
  return process.stdout.isTTY ? harmless(text) : text;
}

/** Escapes control characters, except newlines and tabs. */
export function harmless(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .split(/([\n\t])/)
    .map((part, n) => (n % 2 === 1 ? part : escapeControls(part)))
    .join('');
}

/** Untrusted text for display: no passwords, control characters escaped, on one line, at most `max` characters. */
export function shown(text: string, max = 200): string {
  const safe = escapeControls(hideLogins(text).slice(0, max + 1));
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
