// Where commands write: results and summaries on standard output, progress and errors on standard error.
// Promise: text reaches a terminal only with control characters escaped; pipes and files get it unchanged. Only the
// progress line and the log draw, and they escape their text.
import { stripVTControlCharacters } from 'node:util';
import { CrawlError } from '../errors.js';
import { escapeControls } from '../observe/log-lines.js';
import { hideLogins } from '../request/login.js';
import { EXIT } from './exit-codes.js';

export function say(text = ''): void {
  process.stdout.write(forStandardOutput(`${text}\n`));
}

/** How lines of a summary begin, and their colours: of what happened, of failures, of what to do next, of names. */
const PAINTS: readonly (readonly [beginning: RegExp, sgr: string])[] = [
  [/^Finished(?=:)/, '32'],
  [/^[A-Z][^:]*(?=: )/, '33'],
  [/^ {2}Failed\b/, '31'],
  [/^ {2}Next\b/, '36'],
  [/^ {2}#+ .+$/m, '1'],
  [/^ {2}[A-Z]\w*(?: \w+)?(?= )/, '2'],
];

/** A line of a summary, in colours where the terminal has them. */
export function saySummary(line: string): void {
  process.stdout.write(painted(forStandardOutput(`${line}\n`), hasColours()));
}

/** Colours are added after the text was made harmless. */
export function painted(text: string, isPainted: boolean): string {
  const found = isPainted ? PAINTS.find(([beginning]) => beginning.test(text)) : undefined;
  return found ? text.replace(found[0], (part) => `\x1b[${found[1]}m${part}\x1b[0m`) : text;
}

function hasColours(): boolean {
  const { NO_COLOR, TERM } = process.env;
  return process.stdout.isTTY === true && !NO_COLOR && TERM !== 'dumb';
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

/** A reader that exits early (`| head`) is not an error; an output that takes nothing more ends the program with a line. */
export function tolerateClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return;
      if (stream === process.stdout) complain(`error: cannot write to standard output (${error.code})`);
      process.exit(FULL.has(error.code ?? '') ? EXIT.paused : EXIT.misuse);
    });
  }
}

const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Whether this is `npm start` in orcrawl's own repository. */
export function isNpmStart(): boolean {
  return process.env.npm_lifecycle_event === 'start' && process.env.npm_package_name === 'orcrawl';
}

/** How the user runs this program, for suggested commands. */
export function programName(): string {
  return isNpmStart() ? 'npm start --' : 'npx orcrawl';
}

/** An argument quoted for the shell. */
export function quoted(argument: string): string {
  return /^[\w@%+=:,./~-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}
