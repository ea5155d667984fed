// A log in a file of its own, rotated by size: NAME, then NAME.1 (newer) to NAME.4 (older).
// Promise: a line is in the file when `write` returns, so nothing is lost when the process dies; trouble with the disk
// never stops the crawl.
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import path from 'node:path';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../base/private-files.js';
import type { LineOutput } from './log-lines.js';

export interface LogFile {
  readonly output: LineOutput;
  close(): void;
}

export interface LogFileOptions {
  readonly maxBytes?: number;
  /** Files in all, the one being written included. */
  readonly maxFiles?: number;
}

const MAX_BYTES = 100 * 1024 * 1024;
const MAX_FILES = 5;

export function openLogFile(file: string, options: LogFileOptions = {}): LogFile {
  const { maxBytes = MAX_BYTES, maxFiles = MAX_FILES } = options;
  mkdirSync(path.dirname(file), PRIVATE_FOLDER);
  let descriptor = openSync(file, 'a', PRIVATE_FILE.mode);
  let bytes = fstatSync(descriptor).size;

  function rotate(): void {
    closeSync(descriptor);
    for (let age = maxFiles - 1; age > 0; age--) {
      try {
        renameSync(age === 1 ? file : `${file}.${age - 1}`, `${file}.${age}`);
      } catch {
        // There is none of that age yet.
      }
    }
    descriptor = openSync(file, 'a', PRIVATE_FILE.mode);
    bytes = fstatSync(descriptor).size;
  }

  return {
    output(line) {
      try {
        if (bytes > 0 && bytes + line.length > maxBytes) rotate();
        bytes += writeSync(descriptor, line);
      } catch {
        // A full disk is reported by whoever stores pages; a log has nowhere else to go.
      }
    },
    close: () => closeSync(descriptor),
  };
}
