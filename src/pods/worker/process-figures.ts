// Resource use of this process: memory, open files, CPU time.
import { readdirSync } from 'node:fs';

export interface ProcessFigures {
  readonly rssBytes: number;
  readonly openFiles: number;
  readonly cpuMs: number;
}

/** Counting open files reads a folder: not on every beat. */
const COUNT_FILES_MS = 10_000;

/** `browserBytes`: memory of the browsers that the process started. */
export function openProcessFigures(): { read(browserBytes?: number): ProcessFigures } {
  let openFiles = 0;
  let countedMs = -Infinity;
  return {
    read(browserBytes = 0) {
      if (performance.now() - countedMs > COUNT_FILES_MS) {
        countedMs = performance.now();
        openFiles = countOpenFiles();
      }
      const { user, system } = process.cpuUsage();
      const rssBytes = process.memoryUsage.rss() + browserBytes;
      return { rssBytes, openFiles, cpuMs: Math.round((user + system) / 1_000) };
    },
  };
}

function countOpenFiles(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return 0;
  }
}
