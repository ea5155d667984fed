// The named character references of the HTML standard, read from the file beside this module.
import { readFileSync } from 'node:fs';

/** A line per name, with its semicolon unless it also works without, and its code points. */
export function readEntityFile(): string {
  return readFileSync(new URL('./entities.txt', import.meta.url), 'latin1');
}
