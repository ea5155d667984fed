// A folder per test, and the program run in it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { orcrawlHere } from '../support/cli-here.js';
import { type Ended, MAIN, startNode } from './cli-process.js';

/** Makes a folder before each test and removes it afterwards. */
export function inFolder(): () => string {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'orcrawl-pods-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  return () => folder;
}

/** Commands that have had a process of their own. */
const apart = new Set<string>();

/**
 * `orcrawl …args` in `cwd`. Crawls run in a process of their own, and so does each other command when a file first uses
 * it: it must end by itself, with its connections closed. After that it runs in this process.
 */
export function run(cwd: string, args: readonly string[]): Promise<Ended> {
  const [first = '', second = ''] = args;
  const command = /^(?:config|pods)$/.test(first) ? `${first} ${second}` : first;
  if (command !== 'run' && apart.has(command)) return orcrawlHere(args, { cwd });
  apart.add(command);
  return startNode([MAIN, ...args], { cwd }).ended;
}
