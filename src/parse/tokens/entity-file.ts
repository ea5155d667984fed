// The named character references of the HTML standard, read from the file beside this module.
import { readFileSync } from 'node:fs';

/** ASCII: a line per name, with its semicolon unless it also works without, and its code points in lower-case hex. */
export function readEntityFile(): Uint8Array {
  return readFileSync(new URL('./entities.txt', import.meta.url));
}
