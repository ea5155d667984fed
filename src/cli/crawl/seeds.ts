// The start URLs of a command-line crawl: its arguments, and the lines of standard input for `-`.
// Promise: a list of any length is read only as fast as it is queued; an invalid line is reported and skipped; an
// endless list does not block the end of a crawl.
import { createInterface } from 'node:readline';
import { seedUrl } from '../arguments.js';
import { shown } from '../terminal.js';

/** Line by line; blank lines and those that begin with `#` are skipped. */
export async function* seedUrls(
  urls: readonly string[],
  input: NodeJS.ReadableStream,
  over: AbortSignal,
  onBadLine: (message: string) => void,
): AsyncGenerator<string> {
  for (const url of urls) {
    if (url === '-') yield* urlLines(input, over, onBadLine);
    else yield url;
  }
}

async function* urlLines(
  input: NodeJS.ReadableStream,
  over: AbortSignal,
  onBadLine: (message: string) => void,
): AsyncGenerator<string> {
  let number = 0;
  for await (const line of createInterface({ input, crlfDelay: Infinity, signal: over })) {
    number++;
    const text = line.trim();
    if (text === '' || text.startsWith('#')) continue;
    let url: string;
    try {
      url = seedUrl(text);
    } catch (error) {
      onBadLine(`line ${number} is left out: ${shown((error as Error).message)}`);
      continue;
    }
    yield url;
  }
}
