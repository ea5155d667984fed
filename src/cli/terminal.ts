// Where commands write: results and summaries on standard output, progress and errors on standard error.
// Promise: no text reaches a terminal with control characters in it, whatever page it came from; pipes and files get it
// as it is. Only the progress line and the log draw, and escape what they show.
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

/** A line of the log, whose writer has escaped what it says. */
export function complainAsLogged(line: string): void {
  process.stderr.write(line);
}

/** Bytes of a page to standard output; resolves when a pipe has taken all of them. */
export async function print(bytes: Uint8Array): Promise<void> {
  const out = process.stdout.isTTY ? harmless(Buffer.from(bytes).toString('utf8')) : bytes;
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(out, (error) => {
      if (error && (error as NodeJS.ErrnoException).code !== 'EPIPE') reject(error);
      else resolve();
    });
  });
}

/** Text as standard output may have it. */
export function forStandardOutput(text: string): string {
  return process.stdout.isTTY ? harmless(text) : text;
}

/** Lines and tabs stay, every other control character is escaped. */
export function harmless(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .split(/([\n\t])/)
    .map((part, n) => (n % 2 === 1 ? part : escapeControls(part)))
    .join('');
}

/** Foreign text as it may be shown: no passwords, control characters escaped, on one line, at most `max` characters. */
export function shown(text: string, max = 200): string {
  const safe = escapeControls(hideLogins(text).slice(0, max + 1));
  return safe.length > max ? `${safe.slice(0, max - 1)}…` : safe;
}

/** Without the colours that other programs put into their messages. */
export function plain(text: string): string {
  return stripVTControlCharacters(text);
}

/** One line for what went wrong: ours with its code, others with their message. */
export function errorLine(error: unknown): string {
  if (error instanceof CrawlError) return `error: ${shown(plain(error.message), 1000)} (${error.code})`;
  return `error: ${shown(plain(error instanceof Error ? error.message : String(error)), 1000)}`;
}

/** A reader that leaves early (`| head`) is no failure of the crawl. */
export function tolerateClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

/** How this program is called here, for the commands it recommends. */
export function programName(): string {
  return process.env.npm_lifecycle_event === 'start' ? 'npm start --' : 'npx orcrawl';
}

/** An argument as a shell takes it. */
export function quoted(argument: string): string {
  return /^[\w@%+=:,./~-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
}
